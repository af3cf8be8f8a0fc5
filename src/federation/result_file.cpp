#include "federation/result_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "config/client_pattern.hpp"
#include "config/error.hpp"
#include "io/atomic_file.hpp"
#include "io/guarded_read.hpp"
#include "io/parse_json.hpp"
#include "io/suffix.hpp"
#include "io/text_file.hpp"
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

/// The curves of predict: those in the result of a training have what predict does not know beside them.
void require_prediction(const io::File& file) {
  const auto groups = file.children();  // none where no client has a curve
  if (!file.has_attribute("state") || !file.has_attribute("scored_round") ||
      !(groups.empty() || groups == std::vector<std::string>{"curves"}))
    throw io::Error(file.file() + ": holds other things");
}

bool is_prediction(const std::string& path) {
  try {
    io::open_guarded(path, require_prediction, "");  // forks: before a device is in use
    return true;
  } catch (const io::Error&) {
    return false;
  }
}

/// The result of a training has the same keys, and rounds.
bool is_evaluation(const std::string& path) {
  const auto json = io::parse_json(io::read_text(path).value_or(""));
  const auto holds = [&](const char* key) { return json.contains(key); };
  return holds("scores") && holds("test_data") && holds("calibration") && holds("config") && !holds("rounds");
}

/// Next events, futures, or their numbers.
bool is_forecast(const std::string& path) {
  std::ifstream file(path);
  std::string header;
  std::getline(file, header);
  const auto holds = [&](const char* columns) { return header.find(columns) != std::string::npos; };
  return holds(",last_time,") || holds(",future,time") || holds(",futures,mean,");
}

/// What is there can be told from what evaluate or predict write; a file without a byte holds nothing to lose.
void refuse_other_kinds(const std::string& path, const std::string& suffix) {
  std::error_code failed;
  if (!std::filesystem::exists(path, failed) || std::filesystem::file_size(path, failed) == 0) return;
  const bool json = suffix == ".json";
  if (std::filesystem::is_regular_file(path, failed) && (json              ? is_evaluation(path)
                                                         : suffix == ".h5" ? is_prediction(path)
                                                                           : is_forecast(path)))
    return;
  throw UserError(
      fmt::format("{}: no result of 'fedpp {}' as this version writes it, and it would be replaced: name another file "
                  "with --out, or delete it",
                  path, json ? "evaluate" : "predict"));
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
  mpi::on_root(world, [&] {
    check_result_file(path, suffix, data_files_of(config));
    refuse_other_kinds(path, suffix);
  });
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
