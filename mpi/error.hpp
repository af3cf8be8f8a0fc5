// The exceptions of the mpi layer.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace fedpp::mpi {

/// An MPI call that failed, or sums that cannot be represented.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Work that was given up because the program was asked to end, not because it failed.
struct Interrupted : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class ErrorKind : char {
  kFailure = 'f',      ///< trying again may help
  kMistake = 'm',      ///< a std::invalid_argument: what the program was given must change
  kInterrupted = 'i',  ///< an Interrupted
};

/// An error that every rank of a communicator throws together with the same text (see mpi/turns.hpp), so that the ranks
/// can leave in order, without an abort.
struct AgreedError : Error {
  AgreedError(const std::string& text, int origin, ErrorKind of) : Error(text), rank(origin), kind(of) {}
  int rank;  ///< the lowest rank that had an error; the text and the kind are its
  ErrorKind kind;
};

/// What an exception says; of memory that ran out, where the library's text says nothing, what can be done.
std::string text_of(const std::exception& error);

/// Whether it says that memory ran out, here or in a library.
bool memory_ran_out(const std::exception& error);

/// What can be done about memory that ran out, in the program's words: it knows its options.
void set_memory_remedy(const std::string& words);

/// Throws Error with MPI's own text unless `code` is MPI_SUCCESS. `call` names the MPI function.
void check(int code, const char* call);

}  // namespace fedpp::mpi
