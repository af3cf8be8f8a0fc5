#include "federation/output_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "config/error.hpp"
#include "federation/machine.hpp"
#include "io/checkpoint_file.hpp"
#include "io/error.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {

OutputFolder::OutputFolder(const config::Config& config, const TrainingRequest& request, mpi::Communicator& world) {
  mpi::together(world, [&] {
    if (world.is_root()) prepare(config.output.directory, request);
  });
}

OutputFolder::~OutputFolder() {
  lock_.reset();
  std::error_code not_empty;
  for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder) std::filesystem::remove(*folder, not_empty);
}

void OutputFolder::prepare(const std::string& directory, const TrainingRequest& request) {
  std::error_code failed;
  const bool resume = request.start == Start::kResume;
  if (resume && request.checkpoint.empty() && !std::filesystem::is_directory(directory, failed))
    throw UserError(fmt::format("{} holds no checkpoint: there is no such folder; train there first", directory));
  std::filesystem::path part;
  std::vector<std::filesystem::path> made;
  for (const auto& name : std::filesystem::path(directory)) {
    part /= name;
    if (!name.empty() && !std::filesystem::exists(part, failed)) made.push_back(part);
  }
  std::filesystem::create_directories(directory, failed);
  if (failed)
    throw UserError(fmt::format("output.directory = {}: the folder cannot be made ({})", directory, failed.message()));
  made_ = std::move(made);
  if (access(directory.c_str(), W_OK) != 0)
    throw UserError(
        fmt::format("output.directory = {}: the folder cannot be written to ({}): choose another with --out", directory,
                    std::strerror(errno)));
  try {
    lock_ = std::make_unique<io::DirectoryLock>(directory, whereabouts());  // first: a run at work has checkpoints, too
  } catch (const io::Error& error) {
    throw UserError(error.what());
  }
  if (!resume && !request.automatic && io::newest_checkpoint(directory))
    throw UserError(fmt::format("{} holds checkpoints of an earlier run: {}choose another folder with --out", directory,
                                request.start == Start::kInitialPrior ? "go on from them with --resume, or " : ""));
  if (locked()) io::delete_interrupted_checkpoints(directory);
}

}  // namespace fedpp::federation
