#include "federation/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "config/dump.hpp"
#include "config/version.hpp"
#include "federation/curves.hpp"
#include "federation/selected_state.hpp"
#include "federation/state_scores.hpp"
#include "gpu/runtime.hpp"
#include "io/atomic_file.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {

namespace {

nlohmann::json phases_of_all_ranks(Session& session, const Phases& phases) {
  nlohmann::json json;
  for (const auto& [name, seconds] : phases.seconds()) json[name] = session.world().max(seconds, "metrics");
  return json;
}

/// The names of clients and types in the data files, each by its number; empty where these have none.
nlohmann::ordered_json names_of(const data::Plan& plan) {
  nlohmann::ordered_json names;
  if (plan.clients_of_files()) names["clients"] = plan.client_names;
  if (!plan.type_names.empty()) names["types"] = plan.type_names;
  return names;
}

/// Collective. The graph of the uploads that count after the last round; none where clients share one prior.
Communities last_graph(Session& session, const RunState& state) {
  if (session.config().aggregation.scope == config::Scope::kGlobal) return {};
  const auto uploads =
      session.world().allreduce(static_cast<std::int64_t>(state.uploads.size()), mpi::Op::sum, "metrics");
  return uploads > 0 ? ClientGraph(session).update(state.uploads) : Communities{};
}

}  // namespace

void report(Session& session, RunState& state, Progress& progress, Phases& phases) {
  auto& world = session.world();
  const auto& config = session.config();
  const auto& directory = config.output.directory;
  auto scores = phases.time("evaluate", [&] { return score_states(session, state, KeptState::kBest, progress); });
  std::vector<std::int64_t> clients;
  for (std::int64_t c = 0; c < std::min(config.evaluation.curve_clients, session.clients()); ++c)
    if (!std::binary_search(scores.unscored.begin(), scores.unscored.end(), c)) clients.push_back(c);
  Communities graph;
  phases.time("curves", [&] {
    graph = last_graph(session, state);
    const SelectedState selected(session, state, KeptState::kBest);
    const auto left_out = write_curves(session, selected, clients, Unpredictable::kLeftOut, scores.uniforms, graph,
                                       directory + "/result.h5", progress);
    if (!left_out.empty())
      progress.line(fmt::format("no curves of clients {}: their predictions fail", fmt::join(left_out, ", ")));
  });

  nlohmann::ordered_json json;
  json["version"] = version();
  json["git"] = revision();
  json["ranks"] = world.size();
  json["backend"] = gpu::backend_description();
  json["config"] = config::to_json(config);
  if (const auto names = names_of(session.plan()); !names.empty()) json["names"] = names;
  json["phases"] = phases_of_all_ranks(session, phases);
  json["rounds"] = state.rounds.entries();
  json["best_round"] = state.stopping.best_round + 1;
  if (!state.prior_from.empty()) json["prior_from"] = state.prior_from;
  json["theta"] = {{"mean", state.theta.common.mean}, {"sd", state.theta.common.sd}};
  for (const auto& [key, value] : scores.json.items()) json[key] = value;
  const auto ledger = world.ledger_of_all_ranks();
  json["communication"] = nlohmann::ordered_json::array();
  for (const auto& [kind, sent] : ledger)
    json["communication"].push_back({{"kind", kind}, {"calls", sent.calls}, {"bytes", sent.bytes}});
  mpi::on_root(world, [&] { io::write_json(directory + "/result.json", json); });
  progress.line(scores.table);
  if (const auto doubt = world.is_root() ? doubt_about(graph) : ""; !doubt.empty()) progress.line(doubt);
  progress.line(world.size() == 1 ? "One rank: nothing left it."
                                  : "What left the ranks:\n" + mpi::Ledger::table(ledger));
  progress.line(
      fmt::format("Results: {0}/result.json, {0}/result.h5; a page with figures: fedpp report {0}", directory));
}

}  // namespace fedpp::federation
