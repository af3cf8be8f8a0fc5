// Errors and file access in step: a failure on one rank becomes the same exception on all, and nobody hangs.
#pragma once

#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "mpi/communicator.hpp"

namespace fedpp::mpi {

/// Collective. If any rank brings an error's text, all ranks throw AgreedError with the text (and kind) of the lowest
/// such rank; where there are several nodes and not all ranks fail, the text says on which of them it did.
void agree(Communicator& comm, const std::optional<std::string>& error, ErrorKind kind = ErrorKind::kFailure);

/// What went wrong in a function, if anything.
struct Failure {
  std::optional<std::string> text;
  ErrorKind kind = ErrorKind::kFailure;
  bool memory_ran_out = false;
};

/// Runs `f()` and catches its exception.
template <class F>
Failure failure_of(F&& f) {
  try {
    std::forward<F>(f)();
    return {};
  } catch (const std::invalid_argument& error) {
    return {std::string(error.what()), ErrorKind::kMistake};
  } catch (const Interrupted& error) {
    return {std::string(error.what()), ErrorKind::kInterrupted};
  } catch (const std::exception& error) {
    return {text_of(error), ErrorKind::kFailure, memory_ran_out(error)};
  } catch (...) {
    return {std::string("an exception of unknown type")};
  }
}

/// Collective. Every rank runs `f()` at the same time; if it throws on some, all throw AgreedError (lowest rank's
/// text). `f` must not communicate.
template <class F>
void together(Communicator& comm, F&& f) {
  const Failure failure = failure_of(std::forward<F>(f));
  agree(comm, failure.text, failure.kind);
}

/// Collective. Rank 0 runs `f()`; if it throws, all throw AgreedError. `f` must not communicate.
template <class F>
void on_root(Communicator& comm, F&& f) {
  together(comm, [&] {
    if (comm.is_root()) std::forward<F>(f)();
  });
}

/// Collective. The ranks run `f()` one after another, each after its predecessor has returned: so each can append to one
/// file. Rank 0 is the first and a node's ranks follow each other (turns_by_node): a node sees the file when its turn
/// comes and not before, which matters where a node may show its processes a file as it was a second ago (GlusterFS). If `f` throws on a rank, the later ones do not run it, and all throw AgreedError with that
/// rank's text. `f` must not communicate.
template <class F>
void in_turn(Communicator& comm, F&& f) {
  enum : int { go = 0, skip = 1 };
  Failure failure;
  const int token = comm.turn_before() ? comm.receive_token(*comm.turn_before()) : go;
  if (token == go) failure = failure_of(std::forward<F>(f));
  if (comm.turn_after()) comm.send_token(*comm.turn_after(), token == go && !failure.text ? go : skip);
  agree(comm, failure.text, failure.kind);
}

}  // namespace fedpp::mpi
