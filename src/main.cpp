// fedpp: read the command line, do what it says, and let no failure leave with exit code 0.
#include <cstdio>
#include <exception>

#include "commands/command_line.hpp"
#include "config/error.hpp"
#include "io/error.hpp"
#include "mpi/error.hpp"

namespace {

int fail(const char* text, int exit_code) {
  std::fprintf(stderr, "fedpp: error: %s\n", text);
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace fedpp;
  try {
    // 1. What is asked for. Neither MPI nor Kokkos is running yet, so help and checks work on login nodes.
    const commands::Action action = commands::read_command_line(argc, argv);

    // 2. Do it. Commands that compute start MPI and Kokkos themselves (commands/parallel.hpp).
    const int exit_code = action();

    // 3. Results that did not reach the terminal or the pipe are a failure.
    if (std::fflush(stdout) != 0) return fail("cannot write to standard output", commands::kRuntimeFailure);
    return exit_code;
  } catch (const UserError& error) {
    return fail(error.what(), commands::kUserMistake);
  } catch (const io::Error& error) {
    return fail(error.what(), commands::kUserMistake);
  } catch (const std::exception& error) {
    return fail(mpi::text_of(error).c_str(), commands::kRuntimeFailure);
  } catch (...) {
    return fail("an exception of unknown type", commands::kRuntimeFailure);
  }
}
