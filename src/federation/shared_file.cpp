#include "federation/shared_file.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "mpi/turns.hpp"

namespace fedpp::federation {

io::PartialFile begin_shared_file(mpi::Communicator& world, const std::string& path) {
  std::optional<io::PartialFile> made;
  mpi::on_root(world, [&] { made.emplace(path); });
  // Its number and not its name, so that what leaves a rank is as much in every run.
  std::int64_t number = made ? made->number() : 0;
  world.broadcast(std::span(&number, 1), 0, "tokens");
  return made ? std::move(*made) : io::PartialFile(path, number);
}

}  // namespace fedpp::federation
