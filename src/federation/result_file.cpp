#include "federation/result_file.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "config/client_pattern.hpp"
#include "config/error.hpp"
#include "io/atomic_file.hpp"
#include "io/suffix.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {

namespace {

/// A checkpoint or the result of a training: what no other command can write again.
bool kept_by_training(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  std::error_code failed;
  return (name == "result.json" || name == "result.h5" || name.starts_with("checkpoint-")) &&
         std::filesystem::exists(path, failed) &&
         std::filesystem::exists(std::filesystem::path(io::folder_of(path)) / "config.toml", failed);
}

}  // namespace

void refuse_what_training_keeps(const std::string& path) {
  if (kept_by_training(path))
    throw UserError(
        fmt::format("{}: 'fedpp train' wrote it, and the result would replace it: name another file", path));
}

void check_result_file(const std::string& path, const std::string& suffix, const std::vector<std::string>& inputs) {
  if (!io::has_suffix(path, suffix))
    throw UserError(fmt::format("{}: the name must end in {}, the kind of file that is written there", path, suffix));
  refuse_what_training_keeps(path);
  io::check_writable(path, inputs);
}

void check_result_file(mpi::Communicator& world, const config::Config& config, const std::string& path,
                       const std::string& suffix) {
  mpi::on_root(world, [&] { check_result_file(path, suffix, data_files_of(config)); });
}

std::vector<std::string> data_files_of(const config::Config& config) {
  const auto& data = config.data;
  std::vector<std::string> named;
  for (const auto* list : {&data.train, &data.validation, &data.test, &data.windows})
    named.insert(named.end(), list->begin(), list->end());
  if (data.client_files.empty()) return named;
  named.push_back(data.client_files);
  std::vector<std::string> files;
  for (std::int64_t c = 0; c < data.clients; ++c)
    for (const auto& pattern : named) files.push_back(config::expand_client(pattern, c));
  return files;
}

}  // namespace fedpp::federation
