// Where a run writes.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "config/options.hpp"
#include "federation/run.hpp"
#include "io/directory_lock.hpp"
#include "mpi/communicator.hpp"

namespace fedpp::federation {

/// The folder for results: made on rank 0 and locked against other runs until the end of this one; taken away again
/// where the run fails before it has left anything in it.
class OutputFolder {
 public:
  /// Collective. A finished or running job's results are not overwritten by a new one. Throws UserError.
  OutputFolder(const config::Config& config, const TrainingRequest& request, mpi::Communicator& world);
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  ~OutputFolder();

  /// False on rank 0 of a file system without locks.
  bool locked() const { return !lock_ || lock_->effective(); }

 private:
  OutputFolder() = default;  ///< what the public one throws after this leaves no empty folder behind
  void prepare(const std::string& directory, const TrainingRequest& request);

  std::vector<std::filesystem::path> made_;  ///< from the outermost; only empty ones can be removed
  std::unique_ptr<io::DirectoryLock> lock_;  ///< on rank 0
};

}  // namespace fedpp::federation
