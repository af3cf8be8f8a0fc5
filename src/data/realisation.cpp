#include "data/realisation.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "data/dataset.hpp"
#include "data/exposure.hpp"
#include "data/intervals.hpp"

namespace fedpp::data {
namespace {

constexpr std::int64_t kFewestNodes = 8;
constexpr std::int64_t kNodesPerPeriod = 10;

/// Streams laid over each other, on the model's clock.
struct Superposition {
  std::vector<double> times;
  std::vector<Interval> windows;

  void add(const ClientSequence& sequence, const Clock& clock, std::span<const Split> splits) {
    std::vector<Interval> own;
    for (Split split : splits) {
      for (double time : sequence.events[split]) times.push_back(to_model(clock, sequence, time));
      own.insert(own.end(), sequence.windows[split].begin(), sequence.windows[split].end());
    }
    // Windows that touch become one, or an event between them would count its own stream twice.
    for (const Interval& window : join(own)) {
      const Interval mapped{to_model(clock, sequence, window.start), to_model(clock, sequence, window.end)};
      if (mapped.start < mapped.end) windows.push_back(mapped);
    }
  }
};

/// Cells of two inducing points' spacing (pooled) or four (per sequence), and no longer than a period.
std::int64_t chosen_nodes(const StepFunction& weight, const RealisationRules& rules) {
  std::int64_t nodes = std::max(kFewestNodes, (rules.pooled ? 4 : 2) * rules.inducing);
  if (rules.period > 0 && !weight.edges.empty()) {
    const double periods = (weight.edges.back() - weight.edges.front()) / rules.period;
    nodes = std::max(nodes, kNodesPerPeriod * static_cast<std::int64_t>(std::ceil(periods)));
  }
  return nodes;
}

Realisation realise(Superposition streams, const RealisationRules& rules, double tempering) {
  Realisation result;
  std::sort(streams.times.begin(), streams.times.end());
  for (double time : streams.times) {
    if (!result.events.empty() && result.events.back() == time) {
      result.multiplicities.back() += tempering;
    } else {
      result.events.push_back(time);
      result.multiplicities.push_back(tempering);
    }
  }
  StepFunction weight = exposure(streams.windows);
  std::vector<double> covered = cover_counts(streams.windows, result.events);
  if (rules.unit_exposure)
    for (double& level : weight.levels) level = level > 0 ? 1 : 0;
  for (double count : covered) {
    assert(count > 0 && "an event outside the windows of its own stream");
    result.log_offsets.push_back((rules.superposed ? std::log(count) : 0) + std::log(rules.clock.scale));
  }
  Quadrature rule = quadrature(weight, rules.nodes > 0 ? rules.nodes : chosen_nodes(weight, rules));
  result.nodes = std::move(rule.nodes);
  result.node_weights = std::move(rule.weights);
  for (double& w : result.node_weights) w *= tempering;
  if (!weight.edges.empty()) result.span = {weight.edges.front(), weight.edges.back()};
  return result;
}

}  // namespace

RealisationRules realisation_rules(const Plan& plan, const config::Model& model) {
  assert(plan.finished);
  RealisationRules rules;
  rules.pooled = plan.options.realisation == "pooled";
  rules.unit_exposure = plan.options.protocol == "published-code";
  rules.superposed = plan.options.protocol == "population";
  rules.clock = plan.clock;
  rules.nodes = model.quadrature_nodes;
  rules.inducing = model.inducing;
  rules.history = config::reads_history(model);
  if (!model.periods.empty())
    rules.period = *std::min_element(model.periods.begin(), model.periods.end()) * plan.clock.scale;
  return rules;
}

std::vector<Realisation> make_realisations(const ClientData& client, const RealisationRules& rules,
                                           std::span<const Split> splits, double tempering) {
  if (rules.history) return history_realisations(client, rules, splits, tempering);
  std::vector<Realisation> realisations;
  if (rules.pooled) {
    Superposition streams;
    for (const ClientSequence& sequence : client.sequences) streams.add(sequence, rules.clock, splits);
    realisations.push_back(realise(std::move(streams), rules, tempering));
    return realisations;
  }
  realisations.reserve(client.sequences.size());
  for (const ClientSequence& sequence : client.sequences) {
    Superposition stream;
    stream.add(sequence, rules.clock, splits);
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
  return make_realisations(client, rules, std::array{split}, 1.0);
}

}  // namespace fedpp::data
