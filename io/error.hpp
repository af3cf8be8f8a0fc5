// The one exception of the io layer, and what helps where a disk takes no more.
#pragma once

#include <cerrno>
#include <stdexcept>

namespace fedpp::io {

/// A file that cannot be read or written as asked. The text names the file (and line or object), the value and the
/// remedy.
class Error : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// For the end of an Error's text, by the system's number of the failure (errno): " (...)" where there is no room, ""
/// for all else.
inline const char* remedy_of(int code) {
  if (code == ENOSPC) return " (free some space, or choose another folder)";
  if (code == EDQUOT) return " (delete files of yours, have the quota raised, or choose another folder)";
  return "";
}

}  // namespace fedpp::io
