#include "federation/finished_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

#include "config/dump.hpp"
#include "config/error.hpp"
#include "io/parse_json.hpp"
#include "io/shown.hpp"
#include "io/text_file.hpp"

namespace fedpp::federation {
namespace {

using nlohmann::ordered_json;

/// Numbers that are not finite are null in JSON.
double number(const ordered_json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

config::Protocol protocol_of(const ordered_json& scores) {
  const auto name = scores.at("protocol").get<std::string>();
  if (const auto protocol = config::from_word<config::Protocol>(name)) return *protocol;
  throw UserError("there is no protocol '" + name + "'");
}

std::vector<evaluation::ClientScore> clients_of(const ordered_json& model) {
  std::vector<evaluation::ClientScore> clients;
  for (const auto& client : model.at("per_client")) {
    const auto number_of = client.at("client").get<std::int64_t>();
    if (number_of != static_cast<std::int64_t>(clients.size()))
      throw UserError(fmt::format("client {} stands where client {} should", number_of, clients.size()));
    const auto events = client.at("events").get<double>();
    const auto& nats = client.at("log_likelihood");
    const bool nothing = events == 0 && nats.is_null();  // was scored
    clients.push_back({number_of, {nothing ? 0 : number(nats), 0, events}});
  }
  return clients;
}

void append(std::vector<std::int64_t>& list, const ordered_json& clients) {
  for (const auto& client : clients) list.push_back(client.get<std::int64_t>());
}

/// Nothing where it cannot be read. A pipe of the shell's is as good as a file; what is in a folder, others put there.
std::optional<std::string> text_of(const std::string& name, bool in_folder) {
  if (in_folder) return io::read_text(name);
  std::ifstream file(name);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

FinishedRun parse(const std::string& name, const ordered_json& json) {
  FinishedRun run;
  run.name = name;
  const auto& scores = json.at("scores");
  run.protocol = protocol_of(scores);
  run.unit = io::visible(scores.at("unit").get<std::string>());
  run.test_data = json.at("test_data").get<std::string>();
  run.clients = clients_of(scores.at("models").at(0));
  run.shared = scores.value("shared", false);
  if (json.contains("unscored_clients")) append(run.left_out, json.at("unscored_clients"));
  if (json.contains("honest")) append(run.left_out, json.at("honest").at("hostile_clients"));
  if (const auto& ks = json.at("calibration").at("ks"); !ks.is_null()) run.ks = ks.get<double>();
  run.config = json.at("config");
  if (!run.config.is_object()) throw UserError("its config has no sections");
  if (json.contains("scored_round")) run.scored_round = json.at("scored_round").get<std::int64_t>();
  if (!json.contains("rounds")) return run;
  run.seconds = 0;
  for (const auto& round : json.at("rounds")) *run.seconds += round.at("seconds").get<double>();
  run.rounds = static_cast<std::int64_t>(json.at("rounds").size());
  const auto best = json.at("best_round").get<std::int64_t>();
  if (!run.scored_round) run.scored_round = best > 0 ? best : *run.rounds;  // of an earlier version
  return run;
}

}  // namespace

FinishedRun read_finished_run(const std::string& path) {
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path, ignored);
  const std::string name = folder ? (std::filesystem::path(path) / "result.json").string() : path;
  const auto text = text_of(name, folder);
  if (!text)
    throw UserError(
        fmt::format("{}: cannot be read: name a folder that 'fedpp train' has finished in, or a file of "
                    "'fedpp evaluate'",
                    name));
  const auto json = io::parse_json<ordered_json>(*text);
  if (!json.is_object() || !json.contains("scores"))
    throw UserError(fmt::format("{}: is no result of 'fedpp train' or 'fedpp evaluate'", name));
  if (!json.contains("test_data"))
    throw UserError(
        fmt::format("{}: was written by a version of fedpp that did not say which test data the scores are "
                    "of: run 'fedpp evaluate' on its folder and compare the evaluation.json there",
                    name));
  try {
    return parse(path, json);
  } catch (const std::exception& error) {  // a key that is missing or of another type
    throw UserError(fmt::format("{}: is no whole result: {}", name, error.what()));
  }
}

bool holds_results_of(const config::Config& config, std::int64_t rounds, const std::string& test_data) {
  const std::filesystem::path directory = config.output.directory, numbers = directory / "result.json";
  const auto json = io::parse_json<ordered_json>(io::read_text(numbers.string()).value_or(""));
  if (!json.is_object() || !json.contains("config") || !json.contains("rounds")) return false;
  // The numbers are written last: older than the arrays, they are of another start of the run.
  std::error_code missing;
  const auto arrays = std::filesystem::last_write_time(directory / "result.h5", missing);
  if (missing || std::filesystem::last_write_time(numbers, missing) < arrays) return false;
  const auto learned = [](const ordered_json& round) {
    return round.is_object() &&
           round.value("left_out", ordered_json()).size() < round.value("participants", ordered_json()).size();
  };
  const auto& done = json.at("rounds");
  // As text, which both went through.
  constexpr auto replace = ordered_json::error_handler_t::replace;
  return json.at("config").dump(-1, ' ', false, replace) == config::to_json(config).dump(-1, ' ', false, replace) &&
         json.value("test_data", ordered_json()) == test_data && static_cast<std::int64_t>(done.size()) == rounds &&
         std::any_of(done.begin(), done.end(), learned);
}

}  // namespace fedpp::federation
