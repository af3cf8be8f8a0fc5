// The one exception for a user's mistake: its text names the file, line or key, the value, and the remedy. As a
// std::invalid_argument it keeps its kind (exit code 2) where ranks agree on an error (mpi/turns.hpp).
#pragma once
#include <stdexcept>
namespace fedpp {
struct UserError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};
}  // namespace fedpp
