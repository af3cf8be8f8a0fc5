#include "data/realisation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>

#include "config/error.hpp"
#include "data/dataset.hpp"
#include "data/exposure.hpp"
#include "data/intervals.hpp"

namespace fedpp::data {
namespace {

constexpr std::int64_t kFewestNodes = 8;
constexpr std::int64_t kNodesPerPeriod = 10;
constexpr double kMostPeriods = 1e5;  // eleven years of hours; more are a period in another unit than the file's
constexpr double kNever = std::numeric_limits<double>::infinity();

/// Streams laid over each other, on the model's clock.
struct Superposition {
  std::vector<MarkedEvent> events;
  std::vector<Interval> windows;
  Interval trained{kNever, -kNever};  ///< from the first training window's start to the last one's end

  void add(const ClientSequence& sequence, const RealisationRules& rules, std::span<const Split> splits) {
    const Clock& clock = rules.clock;
    const auto own_events = marked_events(sequence, rules, splits);
    events.insert(events.end(), own_events.begin(), own_events.end());
    // Windows that touch are one, or an event between them would count its own stream twice.
    const auto own = windows_of(sequence, clock, splits);
    windows.insert(windows.end(), own.begin(), own.end());
    for (const Interval& window : sequence.windows[kTrain])
      trained = {std::min(trained.start, to_model(clock, sequence, window.start)),
                 std::max(trained.end, to_model(clock, sequence, window.end))};
  }
};

/// Cells of two inducing points' spacing (pooled) or four (per sequence), and no longer than a period. The inducing
/// points lie on the training windows: windows held out that are shorter take as many fewer.
std::int64_t chosen_nodes(const StepFunction& weight, const Interval& trained, const RealisationRules& rules) {
  const double span = weight.edges.empty() ? 0 : weight.edges.back() - weight.edges.front();
  const double share = trained.end > trained.start ? std::min(1.0, span / (trained.end - trained.start)) : 1;
  const auto wanted = static_cast<double>((rules.pooled ? 4 : 2) * rules.inducing);
  std::int64_t nodes = std::max(kFewestNodes, static_cast<std::int64_t>(std::ceil(share * wanted)));
  if (rules.period > 0) {
    const double periods = span / rules.period;
    if (periods > kMostPeriods)
      throw UserError(fmt::format(
          "model.periods: the shortest, {:g}, fits {:.3g} times into windows of {:g}, at {} quadrature nodes each: give "
          "periods in the file's unit of time, or set model.quadrature_nodes",
          rules.period / rules.clock.scale, periods, span / rules.clock.scale, kNodesPerPeriod));
    nodes = std::max(nodes, kNodesPerPeriod * static_cast<std::int64_t>(std::ceil(periods)));
  }
  return nodes;
}

Realisation realise(Superposition streams, const RealisationRules& rules, double tempering) {
  Realisation result;
  std::sort(streams.events.begin(), streams.events.end());
  for (const MarkedEvent& event : streams.events)
    add_event(result, event, !result.events.empty() && result.events.back() == event.time, rules, tempering);
  StepFunction weight = exposure(streams.windows);
  const CoverCount covered(streams.windows);
  if (rules.unit_exposure)
    for (double& level : weight.levels) level = level > 0 ? 1 : 0;
  for (const double time : result.events) {
    const double count = covered.at(time);
    assert(count > 0 && "an event outside the windows of its own stream");
    result.log_offsets.push_back((rules.superposed ? std::log(count) : 0) + std::log(rules.clock.scale));
  }
  Quadrature rule = quadrature(weight, rules.nodes > 0 ? rules.nodes : chosen_nodes(weight, streams.trained, rules));
  result.nodes = std::move(rule.nodes);
  result.node_weights = std::move(rule.weights);
  for (double& w : result.node_weights) w *= tempering;
  if (!weight.edges.empty()) result.span = {weight.edges.front(), weight.edges.back()};
  result.exposure = std::move(weight);
  return result;
}

/// Types of the events that a split counts, in order: of tokens at their times. Among ties these are the last ones, as
/// the first token of all may be conditioned on.
std::vector<int> event_types(const ClientSequence& sequence, Split split) {
  const auto& events = sequence.events[split];
  const auto& tokens = sequence.times;
  std::vector<int> types;
  for (std::size_t j = 0; j < events.size();) {
    const auto tied = std::equal_range(events.begin() + static_cast<std::ptrdiff_t>(j), events.end(), events[j]);
    const auto count = tied.second - tied.first,
               end = std::upper_bound(tokens.begin(), tokens.end(), events[j]) - tokens.begin();
    assert(end >= count);
    for (auto token = end - count; token < end; ++token, ++j)
      types.push_back(sequence.history_types.empty() ? 0 : sequence.history_types[static_cast<std::size_t>(token)]);
  }
  return types;
}

}  // namespace

std::vector<MarkedEvent> marked_events(const ClientSequence& sequence, const RealisationRules& rules,
                                       std::span<const Split> splits) {
  std::vector<MarkedEvent> events;
  for (const Split split : splits) {
    const auto types = rules.marked ? event_types(sequence, split) : std::vector<int>(sequence.events[split].size(), 0);
    for (std::size_t j = 0; j < types.size(); ++j)
      events.push_back({to_model(rules.clock, sequence, sequence.events[split][j]), types[j]});
  }
  std::sort(events.begin(), events.end());
  return events;
}

std::vector<Interval> windows_of(const ClientSequence& sequence, const Clock& clock, std::span<const Split> splits) {
  std::vector<Interval> of_file, result;
  for (const Split split : splits)
    of_file.insert(of_file.end(), sequence.windows[split].begin(), sequence.windows[split].end());
  for (const Interval& window : join(of_file)) {
    const Interval mapped{to_model(clock, sequence, window.start), to_model(clock, sequence, window.end)};
    if (mapped.start < mapped.end) result.push_back(mapped);
  }
  return result;
}

void add_event(Realisation& realisation, const MarkedEvent& event, bool tied, const RealisationRules& rules,
               double tempering) {
  if (tied) {
    realisation.multiplicities.back() += tempering;
  } else {
    realisation.events.push_back(event.time);
    realisation.multiplicities.push_back(tempering);
  }
  if (!rules.marked) return;
  auto& marks = realisation.marks;
  if (tied && marks.back().type == event.type)
    marks.back().count += tempering;
  else
    marks.push_back({static_cast<int>(realisation.events.size()) - 1, event.type, tempering});
}

RealisationRules realisation_rules(const Plan& plan, const config::Model& model) {
  assert(plan.finished);
  RealisationRules rules;
  rules.pooled = plan.options.realisation == config::Realisation::kPooled;
  rules.unit_exposure = plan.options.protocol == config::Protocol::kPublishedCode;
  rules.superposed = plan.options.protocol == config::Protocol::kPopulation;
  rules.clock = plan.clock;
  rules.nodes = model.quadrature_nodes;
  rules.inducing = model.inducing;
  rules.history = config::reads_history(model);
  if (!model.periods.empty())
    rules.period = *std::min_element(model.periods.begin(), model.periods.end()) * plan.clock.scale;
  return rules;
}

double events_in(const std::vector<Realisation>& realisations) {
  double events = 0;
  for (const auto& r : realisations)
    for (const double n : r.multiplicities) events += n;
  return events;
}

std::vector<Realisation> make_realisations(const ClientData& client, const RealisationRules& rules,
                                           std::span<const Split> splits, double tempering) {
  if (rules.history) return history_realisations(client, rules, splits, tempering);
  std::vector<Realisation> realisations;
  if (rules.pooled) {
    Superposition streams;
    for (const ClientSequence& sequence : client.sequences) streams.add(sequence, rules, splits);
    realisations.push_back(realise(std::move(streams), rules, tempering));
    return realisations;
  }
  realisations.reserve(client.sequences.size());
  for (const ClientSequence& sequence : client.sequences) {
    Superposition stream;
    stream.add(sequence, rules, splits);
    realisations.push_back(realise(std::move(stream), rules, tempering));
  }
  return realisations;
}

std::vector<Realisation> training_realisations(const ClientData& client, const RealisationRules& rules) {
  return make_realisations(client, rules, std::array{kTrain}, client.tempering);
}

std::vector<Realisation> final_realisations(const ClientData& client, const RealisationRules& rules) {
  return make_realisations(client, rules, std::array{kTrain, kValidation}, 1.0);
}

std::vector<Realisation> held_out_realisations(const ClientData& client, const RealisationRules& rules, Split split) {
  // Amazon's gaps, the worst of seven data sets: 64 pieces are within 0.003 nats an event of the converged score.
  if (rules.history) return history_realisations(client, rules, std::array{split}, 1.0, split == kTest ? 64 : 16);
  return make_realisations(client, rules, std::array{split}, 1.0);
}

}  // namespace fedpp::data
