#include "config/notes.hpp"

#include <fmt/format.h>

namespace fedpp::config {

std::vector<std::string> notes(const Config& config) {
  const Model& model = config.model;
  if (config.data.protocol != Protocol::kChronological) return {};
  std::vector<std::string> lines;
  // What returns with a period is known beyond the training window, too.
  if (!reads_history(model) && model.periods.empty())
    lines.push_back(
        fmt::format("note: \"{}\" sees time alone, not the history, and falls back to its prior beyond the training "
                    "window, where \"chronological\" scores: take model.encoder = \"decay\" or \"lstm\"",
                    word(model.encoder)));
  if (reads_types(model) && model.time_input)
    lines.push_back(
        fmt::format("note: \"{}\" reads the time itself, and validation and test windows lie beyond the training's "
                    "times: model.time_input = false leaves it the gaps",
                    word(model.encoder)));
  return lines;
}

}  // namespace fedpp::config
