// The one exception of the io layer.
#pragma once

#include <stdexcept>

namespace fedpp::io {

/// A file that cannot be read or written as asked. The text names the file (and line or object), the value and the
/// remedy.
class Error : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

}  // namespace fedpp::io
