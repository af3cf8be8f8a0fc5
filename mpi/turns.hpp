// Errors and file access in step: a failure on one rank becomes the same exception on all, and nobody hangs.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "mpi/communicator.hpp"

namespace fedpp::mpi {

/// Collective. If any rank brings an error's text, all ranks throw AgreedError with the text of the lowest such rank.
void agree(Communicator& comm, const std::optional<std::string>& error);

/// Runs `f()` and returns its exception's text, if any.
template <class F>
std::optional<std::string> text_of_failure(F&& f) {
  try {
    std::forward<F>(f)();
    return std::nullopt;
  } catch (const std::exception& error) {
    return std::string(error.what());
  } catch (...) {
    return std::string("an exception of unknown type");
  }
}

/// Collective. Every rank runs `f()` at the same time; if it throws on some, all throw AgreedError (lowest rank's
/// text). `f` must not communicate.
template <class F>
void together(Communicator& comm, F&& f) {
  agree(comm, text_of_failure(std::forward<F>(f)));
}

/// Collective. The ranks run `f()` one after another in rank order, each after its predecessor has returned: so each
/// can append to one file. If `f` throws on a rank, the later ones do not run it, and all throw AgreedError with that
/// rank's text. `f` must not communicate.
template <class F>
void in_turn(Communicator& comm, F&& f) {
  enum : int { go = 0, skip = 1 };
  std::optional<std::string> error;
  const int token = comm.rank() == 0 ? go : comm.receive_token(comm.rank() - 1);
  if (token == go) error = text_of_failure(std::forward<F>(f));
  if (comm.rank() + 1 < comm.size()) comm.send_token(comm.rank() + 1, token == go && !error ? go : skip);
  agree(comm, error);
}

}  // namespace fedpp::mpi
