#include "commands/parallel.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <stdexcept>

#include "commands/action.hpp"
#include "config/dump.hpp"
#include "config/error.hpp"
#include "io/error.hpp"
#include "mpi/environment.hpp"

namespace fedpp::commands {
namespace {

/// A mistake that rank 0 found while the others waited for its word.
struct AgreedMistake : UserError {
  using UserError::UserError;
};

}  // namespace

int run_parallel(const std::function<int(mpi::Communicator& world)>& body) {
  int no_arguments = 0;
  char** none = nullptr;
  mpi::Environment environment(no_arguments, none);
  return environment.guard([&] {
    mpi::Communicator world =
        mpi::Communicator::world();  // outlives the handlers: freeing it would wait for the other ranks
    try {
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
