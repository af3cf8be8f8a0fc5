#include "commands/parallel.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "commands/action.hpp"
#include "config/dump.hpp"
#include "config/error.hpp"
#include "config/version.hpp"
#include "io/error.hpp"
#include "mpi/environment.hpp"
#include "mpi/launcher.hpp"
#include "mpi/turns.hpp"

namespace fedpp::commands {
namespace {

/// A mistake that rank 0 found while the others waited for its word.
struct AgreedMistake : UserError {
  using UserError::UserError;
};

/// What srun started without the interface that this MPI starts with comes up as so many programs of one rank.
void warn_of_ranks_apart(int together, const mpi::Communicator& world) {
  const char* task = std::getenv("SLURM_PROCID");
  if (together > 1 && world.size() == 1 && (task == nullptr || std::atoi(task) == 0))
    fmt::print(stderr,
               "fedpp: {} tasks were started together, but MPI sees one rank in each: they are {} runs. If they are "
               "meant as one, tell srun what this MPI starts with, as --mpi=pmix ('srun --mpi=list' shows all)\n",
               together, together);
}

/// Collective. Ranks of other builds would not understand each other, or train together on other bits. Throws AgreedError.
void refuse_other_builds(mpi::Communicator& world) {
  const std::string own = fmt::format("fedpp {} ({})", version(), revision());
  std::string first = own;
  world.broadcast(first, 0, "configuration");
  mpi::together(world, [&] {
    if (own != first)
      throw UserError(fmt::format("this rank runs {}, rank 0 {}: start the same build on all nodes", own, first));
  });
}

}  // namespace

int run_parallel(const std::function<int(mpi::Communicator& world)>& body) {
  int no_arguments = 0;
  char** none = nullptr;
  const int together = mpi::started_together();
  mpi::Environment environment(no_arguments, none);
  return environment.guard([&] {
    mpi::Communicator world =
        mpi::Communicator::world();  // outlives the handlers: freeing it would wait for the other ranks
    warn_of_ranks_apart(together, world);
    try {
      refuse_other_builds(world);
      return body(world);
    } catch (const SharedFailure& failure) {
      return failure.exit_code;
    } catch (const AgreedMistake& mistake) {
      fmt::print(stderr, "fedpp: error: {}\n", mistake.what());
      return kUserMistake;
    } catch (const UserError& mistake) {
      mpi::Environment::abort(mistake.what(), kUserMistake);
    } catch (const io::Error& mistake) {
      mpi::Environment::abort(mistake.what(), kUserMistake);
    } catch (const mpi::AgreedError&) {
      throw;  // on every rank
    } catch (const std::exception& error) {
      mpi::Environment::abort(mpi::text_of(error), kRuntimeFailure);
    }
  });
}

config::Config read_on_rank_0(mpi::Communicator& world, const std::function<config::Config()>& read) {
  std::string text, mistake;
  config::Config config;
  if (world.is_root()) {
    try {
      config = read();
      text = config::dump(config);
    } catch (const std::invalid_argument& error) {  // a UserError or an io::Error
      mistake = error.what();
    }
  }
  world.broadcast(text, 0, "configuration");
  if (text.empty()) {
    if (world.is_root()) throw AgreedMistake(mistake);
    throw SharedFailure{kUserMistake};
  }
  return world.is_root() ? config
                         : config::read_text(text, "configuration", {}, {}, config::Written::kByTheProgram).config;
}

}  // namespace fedpp::commands
