#include "federation/output_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <utility>

#include "config/dump.hpp"
#include "config/error.hpp"
#include "federation/machine.hpp"
#include "federation/stop_signal.hpp"
#include "io/checkpoint_file.hpp"
#include "io/error.hpp"
#include "io/parse_json.hpp"
#include "io/text_file.hpp"
#include "io/utf8.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {

namespace {

constexpr std::chrono::minutes kLongestLease{5};
constexpr std::chrono::seconds kBetweenAttempts{2};
constexpr std::chrono::seconds kLatestNews{10};

/// Whether this job, started again by SLURM, has the lock of its own life before.
bool left_by_this_job(const std::string& directory) {
  const char* restarts = std::getenv("SLURM_RESTART_COUNT");
  if (restarts == nullptr || std::atoi(restarts) < 1) return false;
  const std::string mark = ", SLURM job ", here = whereabouts();
  const auto job = here.find(mark);
  const auto holder = io::lock_holder(directory);
  return job != std::string::npos && (!holder || holder->ends_with(here.substr(job)));  // none: it has just gone
}

/// A file server gives a dead node's lock up only when its lease is over: a job that was started again waits for that.
std::unique_ptr<io::DirectoryLock> lock(const std::string& directory) {
  const auto deadline = std::chrono::steady_clock::now() + kLongestLease;
  while (true) {
    try {
      return std::make_unique<io::DirectoryLock>(directory, whereabouts());
    } catch (const io::DirectoryInUse& in_use) {
      if (!left_by_this_job(directory)) throw;
      if (stop_signal() != 0 || std::chrono::steady_clock::now() > deadline)
        throw std::runtime_error(in_use.what());  // nobody's mistake: a job script may try again
    }
    std::this_thread::sleep_for(kBetweenAttempts);
  }
}

/// A run replaces the configuration and the numbers of runs before it in its folder, and nobody else's.
void refuse_files_of_others(const config::Config& config) {
  const std::filesystem::path directory = config.output.directory;
  const auto refuse_if = [&](bool of_others, const char* name) {
    if (of_others)
      throw UserError(
          fmt::format("{}: no run of fedpp has written it, and this one would replace it: choose another folder with "
                      "--out, or move the file",
                      (directory / name).string()));
  };
  if (const auto text = io::read_text((directory / "config.toml").string()))
    refuse_if(!config::dump(config).starts_with(text->substr(0, text->find('\n')) + "\n"), "config.toml");
  if (const auto text = io::read_text((directory / "result.json").string())) {
    const auto json = io::parse_json(*text);
    refuse_if(!json.contains("config") || !json.contains("rounds"), "result.json");
  }
}

/// Rank 0 has the folder's lock; a node may hear of that late.
void wait_for(const std::string& directory, const std::string& rank_0) {
  const auto deadline = std::chrono::steady_clock::now() + kLatestNews;
  while (!io::shows_lock_of(rank_0, directory)) {
    if (std::chrono::steady_clock::now() > deadline)
      throw UserError(
          fmt::format("output.directory = {}: this rank does not see the folder that rank 0 writes to: choose "
                      "one on a file system that all nodes share (--out)",
                      directory));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace

OutputFolder::OutputFolder(const config::Config& config, const TrainingRequest& request, mpi::Communicator& world)
    : OutputFolder() {
  mpi::on_root(world, [&] {
    prepare(config.output.directory, request);
    refuse_files_of_others(config);
  });
  std::string holder = whereabouts();
  world.broadcast(holder, 0, "placement");
  mpi::together(world, [&] {
    // Not on rank 0: a process that opens and closes the file gives its lock up.
    if (!world.is_root()) wait_for(config.output.directory, holder);
  });
}

OutputFolder::~OutputFolder() {
  lock_.reset();
  std::error_code not_empty;
  for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder) std::filesystem::remove(*folder, not_empty);
}

void OutputFolder::prepare(const std::string& directory, const TrainingRequest& request) {
  if (!io::is_utf8(directory))
    throw UserError(
        fmt::format("output.directory = {}: not UTF-8, as results are that name it: take another name", directory));
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
    lock_ = lock(directory);  // first: a run at work has checkpoints, too
  } catch (const io::Error& error) {
    throw UserError(error.what());
  }
  if (!resume && !request.automatic && io::newest_checkpoint(directory))
    throw UserError(fmt::format("{} holds checkpoints of an earlier run: {}choose another folder with --out", directory,
                                request.start == Start::kInitialPrior ? "go on from them with --resume, or " : ""));
  if (locked()) io::delete_interrupted_checkpoints(directory);
}

}  // namespace fedpp::federation
