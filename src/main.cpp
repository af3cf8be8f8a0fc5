// fedpp: read the command line, do what it says, and let no failure leave with exit code 0.
#include <csignal>
#include <cstdio>
#include <exception>

#include "commands/command_line.hpp"
#include "config/error.hpp"
#include "io/error.hpp"
#include "io/unfinished.hpp"
#include "mpi/environment.hpp"
#include "mpi/launcher.hpp"

namespace {

constexpr const char* kMemoryRemedy =
    "'fedpp train CONFIG --estimate' says what a run takes; take more nodes, fewer clients or points, or a smaller "
    "backend.workspace_mb";

int fail(const char* text, int exit_code) {
  std::fprintf(stderr, "fedpp: error: %s\n", text);
  return exit_code;
}

/// A mistake that all ranks share: the first tells it. The others wait for it, by starting MPI, since mpirun ends all
/// ranks when the first of them fails.
int fail_together(const char* text, int argc, char** argv) {
  using namespace fedpp;
  const mpi::Launch launch = mpi::launch();
  if (launch.rank == 0) fail(text, commands::kUserMistake);
  if (launch.ranks > 1) const mpi::Environment environment(argc, argv);
  return commands::kUserMistake;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace fedpp;
  mpi::set_memory_remedy(kMemoryRemedy);
  io::delete_unfinished_when_killed();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error with a name
  try {
    // 1. What is asked for. Neither MPI nor Kokkos is running yet, so help and checks work on login nodes.
    const commands::Action action = commands::read_command_line(argc, argv);

    // 2. Do it. Commands that compute start MPI and Kokkos themselves (commands/parallel.hpp).
    const int exit_code = action();

    // 3. Results that did not reach the terminal or the pipe are a failure, also of lines that were flushed on the way.
    //    An exit code that says more (a training that is to go on) stays.
    const bool lost = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
    if (lost) fail("cannot write to standard output", commands::kRuntimeFailure);
    return lost && exit_code == commands::kSuccess ? commands::kRuntimeFailure : exit_code;
  } catch (const commands::UsageError& error) {
    return fail_together(error.what(), argc, argv);
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
