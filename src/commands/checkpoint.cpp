#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands/command.hpp"
#include "config/error.hpp"
#include "federation/checkpoint_summary.hpp"
#include "io/checkpoint_file.hpp"

namespace fedpp::commands {
namespace {

constexpr const char* kCheckpointExamples =
    "Examples:\n"
    "  fedpp checkpoint list out                       rounds, sizes, times, whether they are whole\n"
    "  fedpp checkpoint verify out                     exit code 2 where one is damaged\n"
    "  fedpp checkpoint show out/checkpoint-000040.h5\n"
    "  fedpp checkpoint show out                       the newest intact one";

/// The checkpoints of a folder, oldest first.
std::vector<io::CheckpointEntry> checkpoints_of(const std::string& directory) {
  auto checkpoints = io::list_checkpoints(directory);
  if (checkpoints.empty()) throw UserError(fmt::format("{} holds no checkpoint: train there first", directory));
  return checkpoints;
}

/// A file, or the checkpoints of a folder, oldest first.
std::vector<std::string> files_of(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return {path};
  std::vector<std::string> files;
  for (const auto& checkpoint : checkpoints_of(path)) files.push_back(checkpoint.path);
  return files;
}

/// "" where the file is intact.
std::string fault_of(const std::string& path) {
  try {
    io::verify(path, io::kCheckpoint);
    return "";
  } catch (const io::Error& error) {
    return error.what();
  }
}

/// Whether a running job has pruned a checkpoint since it was listed.
bool is_gone(const std::string& path) {
  std::error_code failed;
  return std::filesystem::symlink_status(path, failed).type() == std::filesystem::file_type::not_found;
}

int list(const std::string& directory) {
  if (!std::filesystem::is_directory(directory))
    throw UserError(fmt::format("{} is no folder: name one that 'fedpp train' wrote", directory));
  fmt::print("{:>8}  {:>12}  {:<20}  {}\n", "round", "bytes", "written (UTC)", "file");
  for (const auto& [round, file] : checkpoints_of(directory)) {
    const auto fault = fault_of(file);
    struct stat status{};
    if (::stat(file.c_str(), &status) != 0) continue;  // pruned by a running job
    fmt::print("{:>8}  {:>12}  {:%Y-%m-%d %H:%M:%S}   {}{}\n", round, status.st_size, fmt::gmtime(status.st_mtime),
               std::filesystem::path(file).filename().string(), fault.empty() ? "" : "  DAMAGED: " + fault);
  }
  return kSuccess;
}

int verify(const std::vector<std::string>& paths) {
  int code = kSuccess;
  for (const auto& path : paths)
    for (const auto& file : files_of(path)) {
      const auto fault = fault_of(file);
      const bool pruned = file != path && is_gone(file);
      fmt::print("{}\n", fault.empty() ? file + ": intact" : pruned ? file + ": pruned by a running job" : fault);
      if (!fault.empty() && !pruned) code = kUserMistake;
    }
  return code;
}

int show_file(const std::string& file) {
  fmt::print("{}\n{}", file, federation::to_text(federation::summarise_checkpoint(file)));
  return kSuccess;
}

int show(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return show_file(path);
  while (const auto newest = io::newest_intact_checkpoint(path)) {
    try {
      return show_file(newest->path);
    } catch (const io::Error&) {
      if (!is_gone(newest->path)) throw;
    }
  }
  throw UserError(fmt::format("{} holds no intact checkpoint", path));
}

}  // namespace

void add_checkpoint(CLI::App& app, Action& chosen) {
  auto paths = std::make_shared<std::vector<std::string>>(1);
  CLI::App* command = app.add_subcommand("checkpoint", "List, verify and show checkpoints (without MPI)");
  command->footer(kCheckpointExamples);
  command->require_subcommand(1);
  CLI::App* one = command->add_subcommand("list", "The checkpoints of a folder");
  one->add_option("DIR", paths->front(), "Folder that 'fedpp train' wrote")->required();
  one->callback([paths, &chosen] { chosen = [paths] { return list(paths->front()); }; });
  one = command->add_subcommand("verify", "Whether files are as they were written, by their checksum");
  one->add_option("PATH", *paths, "Checkpoints, or folders of them")->required();
  one->callback([paths, &chosen] { chosen = [paths] { return verify(*paths); }; });
  one = command->add_subcommand("show", "What a checkpoint holds");
  one->add_option("PATH", paths->front(), "A checkpoint, or a folder: its newest intact one")->required();
  one->callback([paths, &chosen] { chosen = [paths] { return show(paths->front()); }; });
}

}  // namespace fedpp::commands
