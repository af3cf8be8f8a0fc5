#include "config/validate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <variant>

#include "config/client_pattern.hpp"
#include "config/date.hpp"
#include "config/error.hpp"
#include "config/keys.hpp"

namespace fedpp::config {
namespace {

/// Whether a result can hold it: JSON and HDF5 texts are UTF-8.
bool is_utf8(const std::string& text) {
  try {
    (void)nlohmann::json(text).dump();
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
  return true;
}

/// Collects mistakes as "where: key = value: reason".
class Checker {
 public:
  Checker(const Config& config, const Origins& origins) : copy_(config), origins_(origins) {
    for (const Section& section : sections(copy_)) {
      for (const Key& key : section.keys) keys_.emplace(key.full_name(), key);
    }
  }

  void allowed_values() {
    for (const auto& [name, key] : keys_) demand(key.fault().empty(), name, key.fault());
  }

  /// File names may not be: those that are read from a configuration, but for the folder that it lies in, always are.
  void encodings() {
    for (const auto& [name, key] : keys_) {
      bool all = true;
      if (const auto* text = std::get_if<std::string*>(&key.target)) all = is_utf8(**text);
      if (const auto* list = std::get_if<std::vector<std::string>*>(&key.target))
        all = std::all_of((*list)->begin(), (*list)->end(), is_utf8);
      demand(all, name, "not UTF-8, as results are that name it: rename the file or folder, or link to it");
    }
  }

  void demand(bool holds, const std::string& name, const std::string& reason) {
    if (holds) return;
    const auto origin = origins_.find(name);
    mistakes.push_back(fmt::format("{}{} = {}: {}", origin == origins_.end() ? "" : origin->second + ": ", name,
                                   keys_.at(name).value_text(), reason));
  }

  void effects(const std::vector<WithoutEffect>& idle) {
    for (const WithoutEffect& key : idle)
      demand(false, key.key, "has no effect unless " + key.unless + ": leave it out");
  }

  std::vector<std::string> mistakes;

 private:
  Config copy_;
  const Origins& origins_;
  std::map<std::string, Key> keys_;
};

/// A day, or a whole second of one, by the clock of the data.
bool is_origin(const std::string& text) {
  const auto date = parse_date(text);
  return date && !date->offset && date->nanoseconds == 0;
}

void check_time_axis(Checker& check, const Data& data) {
  if (data.time_origin.empty()) return;
  check.demand(is_origin(data.time_origin), "data.time_origin",
               "is not a date that exists: write it as 2019-03-01 or 2019-03-01T06:30:00");
  check.demand(seconds_of(data.time_unit).has_value(), "data.time_unit",
               fmt::format("with data.time_origin the unit must be one of {}", kTimeUnits));
}

void check_names(Checker& check, const Data& data) {
  std::map<std::pair<std::string_view, std::string>, std::string_view> named;
  const auto add = [&](std::string_view key, const std::vector<std::string>& files) {
    for (const std::string& file : files) {
      const auto name = std::filesystem::path(file).lexically_normal().string();
      const auto [earlier, is_new] = named.emplace(std::pair(list_group(data, key), name), key);
      check.demand(is_new, std::string(key),
                   fmt::format("\"{}\" is in {} already: name each file once", file, earlier->second));
    }
  };
  if (!data.client_files.empty()) add("data.client_files", {data.client_files});
  add("data.train", data.train);
  add("data.validation", data.validation);
  add("data.test", data.test);
}

void check_data(Checker& check, const Data& data) {
  const bool listed = !data.train.empty(), patterned = !data.client_files.empty();
  const std::size_t files = data.train.size() + patterned + data.validation.size() + data.test.size();
  check.demand(listed || patterned, "data.train",
               "no training data: name files in data.train, or one file a client in data.client_files");
  check.demand(!(listed && patterned), "data.client_files", "give either data.train or data.client_files, not both");
  check.demand(!patterned || is_client_pattern(data.client_files), "data.client_files",
               "must contain {client}, which becomes the client's number, as in \"site{client}/events.csv\"");
  const auto demand_patterns = [&](const char* key, const std::vector<std::string>& names) {
    check.demand(!patterned || std::all_of(names.begin(), names.end(), is_client_pattern), key,
                 "with data.client_files every client has its own files: put {client} into each name");
  };
  demand_patterns("data.validation", data.validation);
  demand_patterns("data.test", data.test);
  demand_patterns("data.windows", data.windows);
  check.demand(
      data.windows.empty() || data.windows.size() == files, "data.windows",
      fmt::format("{} windows tables for {} data files: give one for each training, validation and test file, in "
                  "that order, or none",
                  data.windows.size(), files));
  const double both = data.train_share + data.validation_share;
  check.demand(both < 1, "data.validation_share",
               fmt::format("leaves nothing to test on after data.train_share = {}: their sum must be below 1",
                           data.train_share));
  const bool calendar_protocol = data.protocol != Protocol::kChronological;
  check.demand(!calendar_protocol || data.realisation == Realisation::kPooled, "data.realisation",
               fmt::format("protocol \"{}\" compares users over one common window: set data.realisation = \"pooled\"",
                           word(data.protocol)));
  check.demand(!calendar_protocol || data.clock != Clock::kElapsed, "data.clock",
               fmt::format("protocol \"{}\" runs on the calendar clock: set data.clock = \"calendar\" or \"auto\"",
                           word(data.protocol)));
  check.demand(!calendar_protocol || !data.test.empty(), "data.test",
               fmt::format("protocol \"{}\" scores other users: name their files in data.test", word(data.protocol)));
  check.demand(data.protocol != Protocol::kPublishedCode || !data.deal, "data.deal",
               "protocol \"published-code\" gives clients of equal types the same sequences: set data.deal = false");
}

void check_model(Checker& check, const Data& data, const Model& model) {
  check.demand(model.periods.empty() || data.clock == Clock::kCalendar, "model.periods",
               "a period needs file time: set data.clock = \"calendar\", or leave model.periods empty");
  check.demand(model.periods.empty() || model.encoder != Encoder::kRbf, "model.periods",
               "encoder \"rbf\" takes no periodic inputs: set model.encoder = \"deep-kernel\", or leave model.periods "
               "empty");
  check.demand(model.mean == PriorMean::kConstant || model.encoder != Encoder::kRbf, "model.mean",
               "the slopes are of an embedding, and encoder \"rbf\" has none: set model.encoder = \"deep-kernel\", or "
               "leave it \"constant\"");
  check.demand(
      !reads_history(model) || data.protocol == Protocol::kChronological, "model.encoder",
      fmt::format("\"{}\" reads a sequence's own past, protocol \"{}\" scores streams laid over each other: set "
                  "data.protocol = \"chronological\", or take \"deep-kernel\"",
                  word(model.encoder), word(data.protocol)));
}

void check_federation(Checker& check, const Data& data, const Federation& federation) {
  check.demand(
      federation.participants <= data.clients, "federation.participants",
      fmt::format("more than data.clients = {}: sample at most as many as there are clients, or 0 for all of them",
                  data.clients));
  check.demand(federation.patience == 0 || federation.validate_every > 0, "federation.patience",
               "early stopping needs validation scores: set federation.validate_every to at least 1");
}

void check_alignment(Checker& check, const Model& model, const Training& training, const Federation& federation) {
  const bool aligned = training.alignment > 0;
  check.demand(!aligned || federation.mode == Mode::kFederated, "training.alignment",
               fmt::format("federation.mode = \"{}\" has no such term: set training.alignment = 0, or "
                           "federation.mode = \"federated\"",
                           word(federation.mode)));
  check.demand(!aligned || model.encoder != Encoder::kRbf, "training.alignment",
               "encoder \"rbf\" embeds alike whatever its weights, so there is nothing to align: set "
               "training.alignment = 0, or take another model.encoder");
}

void check_aggregation(Checker& check, const Model& model, const Federation& federation,
                       const Aggregation& aggregation) {
  const bool communities = aggregation.scope != Scope::kGlobal;
  const bool own = federation.mode == Mode::kFederated;
  check.demand(
      !communities || own, "aggregation.scope",
      fmt::format("federation.mode = \"{}\" has no prior for each client: set aggregation.scope = \"global\", or "
                  "federation.mode = \"federated\"",
                  word(federation.mode)));
  check.demand(own || federation.mode == Mode::kLocal || federation.client_start == ClientStart::kContinue,
               "federation.client_start",
               fmt::format("federation.mode = \"{}\" says itself where clients start: set federation.client_start = "
                           "\"continue\"",
                           word(federation.mode)));
  check.demand(!communities || model.encoder != Encoder::kRbf, "aggregation.scope",
               "encoder \"rbf\" embeds alike at every client, so there are no communities to find: set "
               "aggregation.scope = \"global\", or take another model.encoder");
  check.demand(federation.mode != Mode::kLocal ||
                   (federation.client_start != ClientStart::kMix && federation.client_start != ClientStart::kOptimised),
               "federation.client_start",
               "with federation.mode = \"local\" nothing is received that could be mixed in: "
               "set federation.client_start = \"continue\"");
  const bool robust = aggregation.estimator != Estimator::kMean;
  check.demand(!robust || aggregation.divergence != Divergence::kMmd, "aggregation.estimator",
               "the mmd barycentre has no means over clients: set aggregation.estimator = \"mean\", or another "
               "aggregation.divergence");
  check.demand(!robust || aggregation.weights == UploadWeights::kUniform, "aggregation.estimator",
               "knows no weights: set aggregation.weights = \"uniform\", or aggregation.estimator = \"mean\"");
  check.demand(!robust || !communities, "aggregation.estimator",
               "is for one barycentre of all: set aggregation.scope = \"global\", or aggregation.estimator = \"mean\"");
  check.demand(!communities || aggregation.weights == UploadWeights::kUniform, "aggregation.weights",
               "the weights within a community follow from the similarities: set aggregation.weights = \"uniform\", or "
               "aggregation.scope = \"global\"");
}

void check_output(Checker& check, const Output& output) {
  check.demand(!output.directory.empty(), "output.directory",
               "results need a folder: name one, or leave the key out for \"out\"");
}

void check_attack(Checker& check, const Data& data, const Attack& attack) {
  check.demand(attack.kind != AttackKind::kReplacedEvents || attack.strength <= 1, "attack.strength",
               "is a share of the events for attack.kind = \"replaced-events\": at most 1");
  check.demand(
      attack.kind == AttackKind::kNone || attack.share >= 1 || hostile_count(data, attack) < data.clients,
      "attack.share",
      fmt::format("makes all of data.clients = {} hostile: lower it, so that one is left to score", data.clients));
}

void check_evaluation(Checker& check, const Data& data, const Evaluation& evaluation) {
  check.demand(!evaluation.next_event || data.protocol == Protocol::kChronological, "evaluation.next_event",
               fmt::format("protocol \"{}\" scores streams laid over each other, not one sequence's next event: set "
                           "data.protocol = \"chronological\", or leave evaluation.next_event = false",
                           word(data.protocol)));
}

}  // namespace

std::string_view list_group(const Data& data, std::string_view key) {
  return data.protocol == Protocol::kChronological ? "data" : key;
}

void throw_if_any(const std::vector<std::string>& mistakes) {
  if (!mistakes.empty()) throw UserError(fmt::format("{}", fmt::join(mistakes, "\n")));
}

void validate(const Config& config, const Origins& origins, const std::vector<WithoutEffect>& idle) {
  Checker check(config, origins);
  check.allowed_values();
  check.encodings();
  check.effects(idle);
  check_data(check, config.data);
  check_names(check, config.data);
  check_time_axis(check, config.data);
  check_model(check, config.data, config.model);
  check_federation(check, config.data, config.federation);
  check_alignment(check, config.model, config.training, config.federation);
  check_aggregation(check, config.model, config.federation, config.aggregation);
  check_attack(check, config.data, config.attack);
  check_evaluation(check, config.data, config.evaluation);
  check_output(check, config.output);
  throw_if_any(check.mistakes);
}

}  // namespace fedpp::config
