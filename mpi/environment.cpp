#include "mpi/environment.hpp"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace fedpp::mpi {

namespace {

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/// ": " and what the program had to say; "" before.
std::string& memory_remedy() {
  static std::string words;
  return words;
}

bool active() {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized && !finalized;
}

// An exception that nobody catches, or a second one while the first unwinds.
[[noreturn]] void end_all_ranks() {
  std::string text = "terminated without an exception";
  if (const auto current = std::current_exception()) {
    try {
      std::rethrow_exception(current);
    } catch (const std::exception& error) {
      text = text_of(error);
    } catch (...) {
      text = "an exception of unknown type";
    }
  }
  Environment::abort(text, 1);
}

}  // namespace

bool memory_ran_out(const std::exception& error) {
  return dynamic_cast<const std::bad_alloc*>(&error) || dynamic_cast<const std::length_error*>(&error) ||
         std::strstr(error.what(), "failed to allocate") != nullptr;  // Kokkos makes text of a bad_alloc
}

std::string text_of(const std::exception& error) {
  if (!memory_ran_out(error)) return error.what();
  return std::string("memory ran out (") + error.what() + ")" + memory_remedy();
}

void set_memory_remedy(const std::string& words) { memory_remedy() = ": " + words; }

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) length = 0;
  throw Error(std::string(call) +
              " failed: " + (length > 0 ? std::string(text, length) : "error code " + std::to_string(code)));
}

Environment::Environment(int& argc, char**& argv) {
  int provided = MPI_THREAD_SINGLE;
  check(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  std::set_terminate(end_all_ranks);
  if (provided < MPI_THREAD_FUNNELED) {
    abort(
        "this MPI library offers no thread level FUNNELED, which threads inside a rank need: use a build of MPI with "
        "thread support",
        1);
  }
}

Environment::~Environment() {
  // While an exception unwinds through main, MPI_Finalize would wait for ranks that never come.
  if (std::uncaught_exceptions() > 0) abort("left by an exception", 1);
  if (active()) MPI_Finalize();
}

void Environment::abort(const std::string& text, int exit_code) {
  if (!active()) {
    std::fprintf(stderr, "fedpp: error: %s\n", text.c_str());
    std::fflush(nullptr);
    std::_Exit(exit_code);
  }
  std::fprintf(stderr, "fedpp: error on rank %d: %s\n", world_rank(), text.c_str());
  std::fflush(nullptr);
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

void Environment::report_agreed(const AgreedError& error) {
  if (world_rank() == 0) {
    std::fprintf(stderr, "fedpp: error: %s\n", error.what());
    std::fflush(nullptr);
  }
}

}  // namespace fedpp::mpi
