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

/// An error that every rank of a communicator throws together with the same text (see mpi/turns.hpp), so that the ranks
/// can leave in order, without an abort.
struct AgreedError : Error {
  AgreedError(const std::string& text, int origin, bool mistake) : Error(text), rank(origin), users_mistake(mistake) {}
  int rank;            ///< the lowest rank that had an error; the text is its
  bool users_mistake;  ///< it was a std::invalid_argument: what the program was given must change
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
