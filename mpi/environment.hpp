// MPI from start to end of the program: initialised once, finalised at the end, and no failure leaves ranks hanging.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "mpi/error.hpp"

namespace fedpp::mpi {

/// One object in main(), before any Communicator and outliving them all. Initialises MPI with thread level FUNNELED
/// (only the main thread communicates) and makes MPI calls return their errors.
class Environment {
 public:
  Environment(int& argc, char**& argv);
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  /// Runs `body() -> int`, the rest of main. An exception is printed with its rank's number and ends all ranks with
  /// exit code 1; one that all ranks agreed on (AgreedError) is printed by rank 0 only, and every rank returns 1 (2 for
  /// a user's mistake) in order.
  template <class Body>
  int guard(Body&& body) {
    try {
      return std::forward<Body>(body)();
    } catch (const AgreedError& error) {
      report_agreed(error);
      return error.kind == ErrorKind::kMistake ? 2 : 1;
    } catch (const std::exception& error) {
      abort(text_of(error), 1);
    } catch (...) {
      abort("an exception of unknown type", 1);
    }
  }

  /// Prints the text with this rank's number and ends all ranks with that exit code.
  [[noreturn]] static void abort(const std::string& text, int exit_code);

 private:
  static void report_agreed(const AgreedError& error);
};

}  // namespace fedpp::mpi
