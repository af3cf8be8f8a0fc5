// The one exception for a user's mistake: its text names the file, line or key, the value, and the remedy.
#pragma once
#include <stdexcept>
namespace fedpp {
struct UserError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
}  // namespace fedpp
