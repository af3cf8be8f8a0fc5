#include "commands/run_status.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "config/counted.hpp"
#include "config/error.hpp"
#include "io/checkpoint_file.hpp"
#include "io/directory_lock.hpp"
#include "io/json_lines.hpp"
#include "io/parse_json.hpp"
#include "io/shown.hpp"
#include "io/text_file.hpp"

namespace fedpp::commands {
namespace {

using config::counted;
using nlohmann::json;

/// Values of the type asked for; anything else counts as not there.
std::optional<double> number(const json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number() ? std::optional(at->get<double>()) : std::nullopt;
}
std::int64_t whole(const json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number_integer() ? at->get<std::int64_t>() : 0;
}
std::string text(const json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? io::visible(at->get<std::string>()) : "";
}

double mean(const std::vector<double>& values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n == 0 ? 0 : n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/// The last ten values of `key` over the rounds.
std::vector<double> latest(const std::map<std::int64_t, json>& rounds, const char* key) {
  std::vector<double> values;
  for (auto round = rounds.rbegin(); round != rounds.rend() && values.size() < 10; ++round)
    if (const auto value = number(round->second, key)) values.push_back(*value);
  return values;
}

/// "fedpp 4.081, histogram 4.055 nats per test event", of the honest clients where some are hostile: nothing where
/// result.json is not there or not whole.
std::string headline(const std::string& directory) {
  const auto result = io::parse_json(io::read_text(directory + "/result.json").value_or(""));
  if (!result.is_object() || !result.contains("scores") || !result["scores"].is_object()) return "";
  const bool attacked =
      result.contains("honest") && result["honest"].is_object() && result["honest"].contains("models");
  const auto& scores = attacked ? result["honest"] : result["scores"];
  std::string line;
  if (scores.contains("models") && scores["models"].is_array())
    for (const auto& model : scores["models"])
      if (model.is_object())
        if (const auto score = number(model, "headline"))
          line += fmt::format("{}{} {:.4f}", line.empty() ? "" : ", ", text(model, "name"), *score);
  if (line.empty()) return "";
  line += " nats per test event, time in " + text(scores, "unit");
  if (attacked && scores.contains("hostile_clients"))
    line += fmt::format(" (without the {} of [attack])",
                        counted(static_cast<std::int64_t>(scores["hostile_clients"].size()), "hostile client"));
  return line;
}

std::string duration(double seconds) {
  if (seconds < 90) return fmt::format("{:.3g} s", seconds);
  if (seconds < 5400) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 172800) return fmt::format("{:.1f} h", seconds / 3600);
  return fmt::format("{:.1f} days", seconds / 86400);
}

void read_records(const std::string& directory, RunStatus& status) {
  const auto lines = io::read_json_lines(directory + "/status.jsonl");
  status.unreadable = lines.unreadable;
  std::map<std::int64_t, json> rounds;  // a resumed run repeats the rounds after its checkpoint
  std::string last_event;
  for (const auto& line : lines.objects) {
    const auto event = text(line, "event");
    last_event = event;
    status.last_time = text(line, "time");
    if (event == "start") {
      ++status.starts;
      status.where = text(line, "where");
      status.version = text(line, "version");
      status.time_unit = text(line, "time_unit");
      status.ranks = whole(line, "ranks");
      status.clients = whole(line, "clients");
      status.rounds = whole(line, "rounds");
      rounds.erase(rounds.upper_bound(whole(line, "done")), rounds.end());
    } else if (event == "round" && whole(line, "round") > 0) {
      rounds[whole(line, "round")] = line;
    }
  }
  status.done = rounds.empty() ? 0 : rounds.rbegin()->first;
  status.seconds_a_round = mean(latest(rounds, "seconds"));
  if (const auto values = latest(rounds, "imbalance"); !values.empty()) status.imbalance = median(values);
  if (const auto values = latest(rounds, "elbo_gain"); !values.empty()) status.gain = values.front();
  if (const auto values = latest(rounds, "validation"); !values.empty()) status.validation = values.front();
  for (const auto& [round, line] : rounds) status.left_out += whole(line, "left_out");
  if (!rounds.empty()) {
    status.best_round = whole(rounds.rbegin()->second, "best_round");
    if (status.best_round > 0) status.best_validation = number(rounds.rbegin()->second, "best_validation");
  }
  if (last_event == "finished") status.state = RunStatus::State::kFinished;
  if (last_event == "stopped") status.state = RunStatus::State::kStopped;
}

}  // namespace

RunStatus read_status(const std::string& directory) {
  if (!std::filesystem::is_directory(directory))
    throw UserError(fmt::format("{} is no folder: name one that 'fedpp train' writes to", directory));
  RunStatus status;
  read_records(directory, status);
  const auto newest = io::newest_checkpoint(directory);
  const auto holder = io::lock_holder(directory);
  if (!newest && !holder && status.starts == 0)
    throw UserError(fmt::format("{} holds no run of 'fedpp train'", directory));
  if (holder) {
    status.state = RunStatus::State::kRunning;
    status.where = *holder;
  }
  struct stat file{};
  if (newest && ::stat(newest->path.c_str(), &file) == 0) {
    status.checkpoint = std::filesystem::path(newest->path).filename().string();
    status.checkpoint_bytes = file.st_size;
    status.checkpoint_age = std::max(0.0, std::difftime(std::time(nullptr), file.st_mtime));
  }
  if (status.state == RunStatus::State::kFinished) status.scores = headline(directory);
  return status;
}

std::string to_text(const std::string& directory, const RunStatus& s) {
  using State = RunStatus::State;
  std::string out = directory + ": ";
  if (s.state == State::kRunning) out += fmt::format("running ({})", s.where);
  if (s.state == State::kFinished) out += fmt::format("finished at {}", s.last_time);
  if (s.state == State::kStopped)
    out += fmt::format("stopped by a signal at {}; go on with 'fedpp train ... --auto-resume'", s.last_time);
  if (s.state == State::kDied)
    out += fmt::format(
        "not running, and no end was recorded ({}; last sign {}); go on with 'fedpp train ... --auto-resume'",
        s.where.empty() ? "no start was recorded either" : s.where, s.last_time.empty() ? "unknown" : s.last_time);
  const auto line = [&](const char* name, const std::string& value) { out += fmt::format("\n{:<12}{}", name, value); };
  if (s.starts > 0)
    line("program", fmt::format("fedpp {}, {}, {}, started {}", s.version, counted(s.ranks, "rank"),
                                counted(s.clients, "client"), counted(s.starts, "time")));
  std::string progress = fmt::format("{} of {}", s.done, s.rounds);
  if (s.seconds_a_round > 0) progress += fmt::format(", {} each", duration(s.seconds_a_round));
  if (s.state == State::kRunning && s.seconds_a_round > 0)
    progress += fmt::format(", about {} left", duration(s.seconds_a_round * static_cast<double>(s.rounds - s.done)));
  if (s.starts > 0) line("rounds", progress);
  if (s.gain) line("ELBO", fmt::format("{:.4f} nats per training event above a constant rate", *s.gain));
  if (s.validation) {
    std::string value = fmt::format("{:.4f} nats per event, time in {}", *s.validation, s.time_unit);
    if (s.best_validation) value += fmt::format(" (best {:.4f} after round {})", *s.best_validation, s.best_round);
    line("validation", value + "; ranks rounds, does not compare with test scores");
  }
  if (s.imbalance && s.ranks > 1)
    line("imbalance", fmt::format("{:.2f}: the slowest rank's local update over the ranks' mean", *s.imbalance));
  if (s.left_out > 0) line("left out", fmt::format("{}; train.log says why", counted(s.left_out, "upload")));
  line("checkpoint", s.checkpoint.empty()
                         ? "none yet"
                         : fmt::format("{}, {} ago, {:.3g} MB", s.checkpoint, duration(s.checkpoint_age),
                                       static_cast<double>(s.checkpoint_bytes) / 1e6));
  if (!s.scores.empty()) line("scores", s.scores);
  if (s.unreadable > 0)
    line("note", fmt::format("{} of status.jsonl cannot be read (half-written by a killed run)",
                             counted(s.unreadable, "line")));
  return out + "\n";
}

}  // namespace fedpp::commands
