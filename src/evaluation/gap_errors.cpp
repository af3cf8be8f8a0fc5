#include "evaluation/gap_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/intervals.hpp"
#include "evaluation/hawkes.hpp"
#include "evaluation/number_text.hpp"

namespace fedpp::evaluation {
namespace {

double rmse(const GapErrors& errors, double events) { return std::sqrt(errors.squares / events); }
double mae(const GapErrors& errors, double events) { return errors.absolute / events; }

/// Whether all of [from, to] lies in one of the disjoint, increasing intervals.
bool observed(const std::vector<data::Interval>& intervals, double from, double to) {
  return std::any_of(intervals.begin(), intervals.end(),
                     [&](const data::Interval& interval) { return interval.start <= from && to <= interval.end; });
}

/// When a sequence was observed, whatever the split.
std::vector<data::Interval> observation(const data::ClientSequence& sequence) {
  std::vector<data::Interval> windows;
  for (const auto& of_split : sequence.windows) windows.insert(windows.end(), of_split.begin(), of_split.end());
  return data::join(std::move(windows));
}

}  // namespace

std::vector<GapStep> gap_steps(const data::ClientData& client, data::Split split) {
  std::vector<GapStep> steps;
  for (std::size_t s = 0; s < client.sequences.size(); ++s) {
    const auto& sequence = client.sequences[s];
    const auto windows = observation(sequence);
    double last = -std::numeric_limits<double>::infinity();
    for (const double time : sequence.events[split]) {
      if (time == last) continue;
      last = time;
      const auto here = std::lower_bound(sequence.times.begin(), sequence.times.end(), time);
      if (here == sequence.times.begin()) continue;
      const double previous = *std::prev(here);
      if (observed(windows, previous, time))
        steps.push_back({s, previous, time - previous, static_cast<std::size_t>(here - sequence.times.begin())});
    }
  }
  return steps;
}

bool cuts_gaps(const data::ClientData& client) {
  return std::ranges::any_of(client.sequences, [](const data::ClientSequence& sequence) {
    const auto windows = observation(sequence);
    return windows.size() > 1 ||
           (!windows.empty() && (sequence.times.empty() || windows.back().end > sequence.times.back()));
  });
}

void GapErrors::add(double predicted, double actual) {
  const double error = predicted - actual;
  squares += error * error;
  absolute += std::abs(error);
}

std::vector<double> hawkes_gaps(const data::ClientData& client, const std::vector<GapStep>& steps,
                                const GapGrid& grid) {
  const HawkesParameters p = fit_hawkes(client);
  std::vector<double> gaps, intensity(grid.nodes.size());
  std::size_t sequence = client.sequences.size(), known = 0;
  double excited = 0, at = 0;  // sum_j exp(-beta (at - t_j)) over the times known
  for (const GapStep& step : steps) {
    const auto& times = client.sequences[step.sequence].times;
    if (step.sequence != sequence) sequence = step.sequence, known = 0, excited = 0, at = times.front();
    for (; known < step.before; ++known) {
      excited = excited * std::exp(-p.decay * (times[known] - at)) + 1;
      at = times[known];
    }
    for (std::size_t k = 0; k < intensity.size(); ++k)
      intensity[k] = p.base + p.branching * p.decay * excited * std::exp(-p.decay * grid.nodes[k]);
    gaps.push_back(NextEvent(grid, intensity).expectation());
  }
  return gaps;
}

TypicalGap typical_gap(const data::ClientData& client) {
  std::vector<double> gaps;
  for (const GapStep& step : gap_steps(client, data::kTrain)) gaps.push_back(step.gap);
  if (gaps.empty()) return {std::nan(""), std::nan(""), 0};
  double sum = 0;
  for (const double gap : gaps) sum += gap;
  std::sort(gaps.begin(), gaps.end());
  const std::size_t n = gaps.size();
  const auto count = static_cast<double>(n);
  return {sum / count, 0.5 * (gaps[(n - 1) / 2] + gaps[n / 2]), count};
}

std::string to_text(const GapTable& table) {
  std::size_t width = 9;
  for (const auto& row : table.rows) width = std::max(width, row.name.size());
  std::string text =
      fmt::format("Time of the next event, one step ahead, unit of time: {} ({:.0f} and {:.0f} events)\n", table.unit,
                  table.events[0], table.events[1]);
  const std::string rule = fmt::format("  {:-<{}}\n", "", width + 54);
  text += rule +
          fmt::format("  {:<{}}  {:>25}  {:>25}\n  {:<{}}  {:>12} {:>12}  {:>12} {:>12}\n", "", width, "validation",
                      "test", "predictor", width, "RMSE", "MAE", "RMSE", "MAE") +
          rule;
  for (const auto& row : table.rows) {
    text += fmt::format("  {:<{}}", row.name, width);
    for (int split = 0; split < 2; ++split)
      text += fmt::format("  {:>12} {:>12}", number_text(rmse(row.errors[split], table.events[split]), "{:.6g}"),
                          number_text(mae(row.errors[split], table.events[split]), "{:.6g}"));
    text += "\n";
  }
  text += rule;
  if (table.cut)
    text +=
        "  Only gaps that were observed whole are scored. Where windows are not much longer than gaps,\n"
        "  long ones are missing, and even the true expectation is too long for those that are left.\n";
  return text;
}

nlohmann::json to_json(const GapTable& table) {
  const auto number = [](double x) { return std::isfinite(x) ? nlohmann::json(x) : nlohmann::json(nullptr); };
  nlohmann::json json{{"unit", table.unit}, {"horizon", number(table.horizon)}, {"cut", table.cut}};
  const std::array<const char*, 2> names{"validation", "test"};
  for (std::size_t split = 0; split < names.size(); ++split) {
    const double events = table.events[split];
    nlohmann::json predictors = nlohmann::json::array();
    for (const auto& row : table.rows)
      predictors.push_back({{"name", row.name},
                            {"rmse", number(rmse(row.errors[split], events))},
                            {"mae", number(mae(row.errors[split], events))}});
    json[names[split]] = {{"events", events}, {"predictors", std::move(predictors)}};
  }
  return json;
}

}  // namespace fedpp::evaluation
