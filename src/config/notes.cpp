#include "config/notes.hpp"

#include <fmt/format.h>

#include "config/effects.hpp"

namespace fedpp::config {

std::vector<std::string> notes(const Config& config) {
  const Model& model = config.model;
  std::vector<std::string> lines;
  // Where overrides, or another run's configuration, took its effect: who asks for it counts on it.
  if (config.aggregation.estimator != Estimator::kMean && config.federation.mode != Mode::kLocal &&
      !has_effect("aggregation.estimator", config))
    lines.push_back(fmt::format(
        "note: aggregation.estimator = \"{}\" is the mean here and bears no hostile upload: a median takes at "
        "least three uploads a round, a trimmed mean one to take off at each end (aggregation.trim times "
        "federation.participants)",
        word(config.aggregation.estimator)));
  if (config.data.protocol != Protocol::kChronological) return lines;
  // What returns with a period is known beyond the training window, too.
  if (!reads_history(model) && model.periods.empty())
    lines.push_back(fmt::format(
        "note: \"{}\" sees time alone, not the history, and falls back to its prior beyond the training "
        "window, where \"chronological\" scores: take model.encoder = \"decay\" or \"lstm\", or for a daily or weekly "
        "rhythm model.encoder = \"deep-kernel\" with data.clock = \"calendar\" and model.periods",
        word(model.encoder)));
  if (reads_types(model) && model.time_input)
    lines.push_back(
        fmt::format("note: \"{}\" reads the time itself, and validation and test windows lie beyond the training's "
                    "times: model.time_input = false leaves it the gaps",
                    word(model.encoder)));
  return lines;
}

}  // namespace fedpp::config
