#include "federation/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "config/counted.hpp"
#include "config/dump.hpp"
#include "config/error.hpp"
#include "config/version.hpp"
#include "data/summary.hpp"
#include "federation/data_checksum.hpp"
#include "federation/futures.hpp"
#include "federation/machines_fault.hpp"
#include "federation/next_events.hpp"
#include "federation/result_file.hpp"
#include "federation/run.hpp"
#include "federation/scoring.hpp"
#include "gpu/runtime.hpp"
#include "io/atomic_file.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {

using config::counted;

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

/// Collective, before the work whose result goes there.
void check_result(mpi::Communicator& world, const config::Config& config, const std::string& path, const char* suffix) {
  mpi::together(world, [&] {
    if (world.is_root()) check_result_file(path, suffix, data_files_of(config));
  });
}

}  // namespace

namespace {

bool scores_training_data(const config::Data& data) {
  return std::any_of(data.test.begin(), data.test.end(), [&](const std::string& file) {
    return file == data.client_files || std::find(data.train.begin(), data.train.end(), file) != data.train.end();
  });
}

std::string describe_attack(const Session& session) {
  const auto hostile = static_cast<std::int64_t>(session.hostile().size());
  return fmt::format("[attack] {}: {} of {} hostile; scores are of the others",
                     config::word(session.config().attack.kind), hostile,
                     counted(session.clients(), "client") + (hostile == 1 ? " is" : " are"));
}

/// The sums over the clients whose score counts.
evaluation::Score total_of(const Session& session, const TestResult& result) {
  evaluation::Score total;
  for (std::int64_t c = 0; c < session.clients(); ++c)
    if (!session.hostile(c)) total += {result.headline[c], result.plug_in[c], result.events[c]};
  return total;
}

}  // namespace

std::string describe(Session& session) {
  auto& world = session.world();
  std::int64_t sequences = 0, events = 0, columns = 0;
  for (const auto& client : session.owned()) {
    const auto summary = data::summarise(client.data);
    for (int split = 0; split < 3; ++split) events += summary.events[split];
    sequences += static_cast<std::int64_t>(client.data.sequences.size());
    for (const auto& r : client.model.training) columns += static_cast<std::int64_t>(r.events.size() + r.nodes.size());
  }
  sequences = world.allreduce(sequences, mpi::Op::sum, "metrics");
  events = world.allreduce(events, mpi::Op::sum, "metrics");
  columns = world.allreduce(columns, mpi::Op::sum, "metrics");
  const auto& c = session.config();
  const auto barycentre = c.aggregation.divergence;
  std::string text = fmt::format(
      "fedpp {} ({}{}), {}, {}\n{}, {}, {}; {} {} realisations, {} for training\n"
      "model {} (P = {}), M = {}; prior term: {}, barycentre: {}",
      version(), git_revision(), git_dirty() ? ", changed" : "", counted(world.size(), "rank"),
      gpu::backend_description(), counted(session.clients(), "client"), counted(sequences, "sequence"),
      counted(events, "event"), config::word(c.data.protocol), config::word(c.data.realisation),
      counted(columns, "point"), config::word(c.model.encoder), session.parameters(), c.model.inducing,
      // Averaging has no divergence of its own.
      config::word(barycentre == config::Divergence::kFedavg ? config::Divergence::kKl : barycentre),
      c.federation.mode == config::Mode::kLocal ? "none (local only)" : config::word(barycentre));
  if (!session.hostile().empty()) text += "\n" + describe_attack(session);
  const auto& out = session.left_out();
  const auto left_out = [](std::int64_t count, const std::string& noun, const std::string& which) {
    return count == 0 ? "" : fmt::format("\n{} {} {} left out", counted(count, noun), which, count == 1 ? "is" : "are");
  };
  text += left_out(out.sequences - out.timeless, "sequence", "with fewer than five training events");
  text += left_out(out.timeless, "sequence", "in which no time passes");
  text += left_out(out.sequence_events, "event", "of these sequences");
  text += left_out(out.unseen, "event",
                   fmt::format("of types that the client does not see (data.types_per_client = {}, data.partition)",
                               c.data.types_per_client));
  text += left_out(out.outside, "event",
                   c.data.drop ? "before data.drop_before or outside the windows" : "outside the windows");
  if (const auto unseen = data::to_text(data::unseen_types(session.plan())); !unseen.empty()) text += "\n" + unseen;
  if (const auto unused = data::unused_clients(session.plan()); !unused.empty()) text += "\n" + unused;
  if (scores_training_data(c.data)) text += "\ndata.test names training files: the scores are not of held-out events";
  return text;
}

namespace {

/// Collective. All of `score_states` but what it says about the other state.
Scores score_state(Session& session, const RunState& state, KeptState wanted) {
  const SelectedState selected(session, state, wanted);
  const TestResult result = test_scores(session, selected.theta());
  const auto mode = session.config().federation.mode;
  const bool local = mode == config::Mode::kLocal;
  const std::string ours = mode == config::Mode::kFederated ? "fedpp"
                           : !local                         ? std::string(config::word(mode))
                           : state.prior_from.empty()       ? "local only"
                                                            : "adapted";
  evaluation::ScoreTable table{session.protocol(), session.config().data.time_unit, {model_scores(ours, result)}};
  table.shared = session.plan().shared();
  if (session.config().evaluation.trivial_models)
    for (auto& model : trivial_models(session)) table.models.push_back(std::move(model));

  evaluation::leave_out(table, result.unscored);

  Scores scores;
  if (session.hostile().empty()) {
    scores.table = evaluation::to_text(table);
  } else {
    const auto honest = evaluation::without(table, session.hostile());
    const auto all = evaluation::total(table.models[0].clients), those = evaluation::total(honest.models[0].clients);
    scores.table = fmt::format("{}\n{}All clients, hostile ones among them: headline {:.4f}, plug-in {:.4f}.",
                               describe_attack(session), evaluation::to_text(honest), all.headline_per_event(),
                               all.plug_in_per_event());
    scores.json["honest"] = evaluation::to_json(honest);
    scores.json["honest"]["headline"] = those.headline_per_event();
    scores.json["honest"]["plug_in"] = those.plug_in_per_event();
    scores.json["honest"]["hostile_clients"] = session.hostile();
  }
  scores.json["scores"] = evaluation::to_json(table);
  scores.json["test_data"] = test_data(session);
  scores.unscored = result.unscored;
  if (!result.unscored.empty()) {
    scores.json["unscored_clients"] = result.unscored;
    scores.table += fmt::format(
        "\nNot scored, as no prediction from their weights is a number: client{} {}. Nothing above counts them.",
        result.unscored.size() == 1 ? "" : "s", fmt::join(result.unscored, ", "));
  }
  if (result.unscored.empty() && !(total_of(session, result).events > 0))
    scores.table +=
        "\nNo test window holds an event, so there is nothing to score: the data end before, or see what was left out.";
  scores.json["state"] = config::word(selected.which());
  scores.json["scored_round"] = selected.which() == KeptState::kBest ? state.stopping.best_round + 1 : state.next_round;
  scores.uniforms = result.uniforms;
  nlohmann::json clients = nlohmann::json::array();
  for (std::size_t c = 0; c < result.ks.size(); ++c)
    clients.push_back({{"client", c}, {"ks", result.ks[c]}, {"increments", result.increments[c]}});
  std::int64_t increments = 0, below = 0;
  for (const auto count : result.uniforms) increments += count;
  double ks = increments > 0 ? 0 : std::nan("");
  for (int b = 0; b < kCalibrationBins && increments > 0; ++b) {
    below += result.uniforms[b];
    ks = std::max(
        ks, std::abs(static_cast<double>(below) / static_cast<double>(increments) - (b + 1.0) / kCalibrationBins));
  }
  scores.json["calibration"] = {{"ks", ks}, {"increments", increments}, {"clients", clients}};

  if (session.config().evaluation.next_event) {
    const auto gaps = next_event_errors(session, selected.theta(), ours);
    scores.table += "\n" + evaluation::to_text(gaps);
    scores.json["next_event"] = evaluation::to_json(gaps);
  }
  return scores;
}

}  // namespace

Scores score_states(Session& session, const RunState& state, KeptState wanted) {
  Scores scores = score_state(session, state, wanted);
  // The other state's total, so that the choice by validation can be judged.
  if (wanted == KeptState::kBest && state.stopping.best_round >= 0 &&
      state.stopping.best_round + 1 != state.next_round) {
    const auto total = total_of(session, test_scores(session, state.theta));
    scores.json["last_round"] = {{"headline", total.headline_per_event()}, {"plug_in", total.plug_in_per_event()}};
    scores.table += fmt::format(
        "\nBest round by validation: {} of {}; after the last round: headline {:.4f}, plug-in {:.4f}.",
        state.stopping.best_round + 1, state.next_round, total.headline_per_event(), total.plug_in_per_event());
  }
  return scores;
}

void report(Session& session, RunState& state, Progress& progress, Phases& phases) {
  auto& world = session.world();
  const auto& config = session.config();
  const auto& directory = config.output.directory;
  auto scores = phases.time("evaluate", [&] { return score_states(session, state, KeptState::kBest); });
  std::vector<std::int64_t> clients;
  for (std::int64_t c = 0; c < std::min(config.evaluation.curve_clients, session.clients()); ++c)
    if (!std::binary_search(scores.unscored.begin(), scores.unscored.end(), c)) clients.push_back(c);
  Communities graph;
  phases.time("curves", [&] {
    graph = last_graph(session, state);
    const SelectedState selected(session, state, KeptState::kBest);
    write_curves(session, selected.theta(), clients, scores.uniforms, graph, directory + "/result.h5");
  });

  nlohmann::ordered_json json;
  json["version"] = version();
  json["git"] = git_revision() + std::string(git_dirty() ? "-dirty" : "");
  json["ranks"] = world.size();
  json["backend"] = gpu::backend_description();
  json["config"] = config::to_json(config);
  if (const auto names = names_of(session.plan()); !names.empty()) json["names"] = names;
  json["phases"] = phases_of_all_ranks(session, phases);
  json["rounds"] = state.rounds;
  json["best_round"] = state.stopping.best_round + 1;
  if (!state.prior_from.empty()) json["prior_from"] = state.prior_from;
  json["theta"] = {{"mean", state.theta.common.mean}, {"sd", state.theta.common.sd}};
  for (const auto& [key, value] : scores.json.items()) json[key] = value;
  const auto ledger = world.ledger_of_all_ranks();
  json["communication"] = nlohmann::ordered_json::array();
  for (const auto& [kind, sent] : ledger)
    json["communication"].push_back({{"kind", kind}, {"calls", sent.calls}, {"bytes", sent.bytes}});
  mpi::together(world, [&] {
    if (world.is_root()) io::write_json(directory + "/result.json", json);
  });
  progress.line(scores.table);
  if (const auto doubt = world.is_root() ? doubt_about(graph) : ""; !doubt.empty()) progress.line(doubt);
  progress.line(world.size() == 1 ? "One rank: nothing left it."
                                  : "What left the ranks:\n" + mpi::Ledger::table(ledger));
  progress.line(
      fmt::format("Results: {0}/result.json, {0}/result.h5; a page with figures: fedpp report {0}", directory));
}

int run_evaluation(const config::Config& config, const EvaluationRequest& request, mpi::Communicator& world) {
  const std::string path = request.file.empty() ? config.output.directory + "/evaluation.json" : request.file;
  check_result(world, config, path, ".json");
  const gpu::Runtime runtime(world.node_rank(), config::word(config.backend.dense));
  const auto header = read_header(newest_checkpoint_of(config, world), ReadFor::kResults, world);
  Session session(config, world, header.inputs);
  const RunState state = read_checkpoint(session, header, ReadFor::kResults);
  const auto scores = score_states(session, state, request.state);
  as_the_machines_fault([&] {
    mpi::together(world, [&] {
      if (!world.is_root()) return;
      nlohmann::json json = scores.json;
      json["config"] = config::to_json(config);
      json["version"] = version();
      json["git"] = git_revision() + std::string(git_dirty() ? "-dirty" : "");
      io::write_json(path, json);
      fmt::print("{}\nWritten to {}\n", scores.table, path);
    });
  });
  return 0;
}

namespace {

std::string count_clients(const std::vector<std::int64_t>& clients) {
  return counted(static_cast<std::int64_t>(clients.size()), "client");
}

}  // namespace

int run_prediction(const config::Config& config, const PredictionRequest& request, mpi::Communicator& world) {
  if (!request.file.empty()) check_result(world, config, request.file, ".h5");
  for (const auto& file : {request.forecast.next_events, request.forecast.futures, request.forecast.futures_summary})
    if (!file.empty()) check_result(world, config, file, ".csv");
  const gpu::Runtime runtime(world.node_rank(), config::word(config.backend.dense));
  const auto header = read_header(newest_checkpoint_of(config, world), ReadFor::kResults, world);
  Session session(config, world, header.inputs);
  std::vector<std::int64_t> clients = request.clients;
  std::sort(clients.begin(), clients.end());
  clients.erase(std::unique(clients.begin(), clients.end()), clients.end());
  const bool forecast = !request.forecast.next_events.empty() || !request.forecast.futures.empty();
  std::vector<std::int64_t> forecast_clients = clients;
  for (std::int64_t c = 0; request.clients.empty() && c < session.clients(); ++c) {
    if (c < config.evaluation.curve_clients) clients.push_back(c);
    forecast_clients.push_back(c);
  }
  mpi::together(world, [&] {
    if (forecast) check_forecast(session, request.forecast);
  });
  const auto past = sequences_past(session, forecast_clients, request.forecast);
  const RunState state = read_checkpoint(session, header, ReadFor::kResults);
  const SelectedState selected(session, state, request.state);
  if (!request.file.empty()) {
    as_the_machines_fault([&] { write_curves(session, selected.theta(), clients, {}, {}, request.file); });
    if (world.is_root()) fmt::print("Intensities of {} written to {}\n", count_clients(clients), request.file);
  }
  if (!forecast) return 0;
  std::int64_t cut = 0;
  as_the_machines_fault([&] { cut = write_forecast(session, selected.theta(), forecast_clients, request.forecast); });
  if (!world.is_root()) return 0;
  for (const auto& [what, file] :
       {std::pair{"Next events", request.forecast.next_events}, std::pair{"Futures", request.forecast.futures},
        std::pair{"Numbers of events in the futures", request.forecast.futures_summary}})
    if (!file.empty()) fmt::print("{} of {} written to {}\n", what, count_clients(forecast_clients), file);
  if (past > 0)
    fmt::print("{} sequence{} observed until --until {} or longer: no futures\n", past, past == 1 ? " is" : "s are",
               *request.forecast.until);
  if (cut > 0) fmt::print("stopped at {} events, before their end: {}\n", kMostDrawn, counted(cut, "future"));
  return 0;
}

}  // namespace fedpp::federation
