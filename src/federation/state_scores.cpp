#include "federation/state_scores.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "federation/data_checksum.hpp"
#include "federation/describe.hpp"
#include "federation/next_events.hpp"
#include "federation/scoring.hpp"
#include "federation/selected_state.hpp"

namespace fedpp::federation {

namespace {

/// The sums over the clients whose score counts.
evaluation::Score total_of(const Session& session, const TestResult& result) {
  evaluation::Score total;
  for (std::int64_t c = 0; c < session.clients(); ++c)
    if (!session.hostile(c)) total += result.scores[c];
  return total;
}

/// What tables call the model of this run.
std::string name_of_model(const Session& session, const RunState& state) {
  const auto mode = session.config().federation.mode;
  if (mode == config::Mode::kFederated) return "fedpp";
  if (mode != config::Mode::kLocal) return std::string(config::word(mode));
  return state.prior_from.empty() ? "local only" : "adapted";
}

/// The scores of all models; under an attack those of the honest clients first.
void add_table(Scores& scores, const Session& session, const evaluation::ScoreTable& table) {
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
}

void tell_what_is_not_scored(Scores& scores, const Session& session, const TestResult& result) {
  if (!result.unscored.empty()) {
    scores.json["unscored_clients"] = result.unscored;
    scores.table += fmt::format(
        "\nNot scored, as no prediction from their weights is a number: client{} {}. Nothing above counts them. A smaller "
        "training.learning_rate or model.prior_sd keeps weights from growing so large.",
        result.unscored.size() == 1 ? "" : "s", fmt::join(result.unscored, ", "));
  }
  if (result.unscored.empty() && !(total_of(session, result).events > 0))
    scores.table += "\nNo test window holds an event: the data end before, or see what was left out.";
}

/// Kolmogorov-Smirnov distances: of all increments from their counts in bins (of hostile clients none), and of each
/// client.
nlohmann::json calibration_of(const TestResult& result) {
  nlohmann::json clients = nlohmann::json::array();
  for (std::size_t c = 0; c < result.calibration.size(); ++c)
    clients.push_back({{"client", c},
                       {"ks", result.calibration[c].ks},
                       {"increments", static_cast<std::int64_t>(result.calibration[c].increments)}});
  std::int64_t increments = 0, below = 0;
  for (const auto count : result.uniforms) increments += count;
  double ks = increments > 0 ? 0 : std::nan("");
  for (int b = 0; b < kCalibrationBins && increments > 0; ++b) {
    below += result.uniforms[b];
    ks = std::max(
        ks, std::abs(static_cast<double>(below) / static_cast<double>(increments) - (b + 1.0) / kCalibrationBins));
  }
  return {{"ks", ks}, {"increments", increments}, {"clients", clients}};
}

/// Collective. All of `score_states` but what it says about the other state.
Scores score_state(Session& session, const RunState& state, KeptState wanted, Progress& progress) {
  const SelectedState selected(session, state, wanted);
  const TestResult result = test_scores(session, selected.theta(), "scores", progress);
  const std::string ours = name_of_model(session, state);
  evaluation::ScoreTable table{session.protocol(), session.config().data.time_unit, {model_scores(ours, result)}};
  table.shared = session.plan().shared();
  if (session.config().evaluation.trivial_models)
    for (auto& model : trivial_models(session, progress)) table.models.push_back(std::move(model));

  evaluation::leave_out(table, result.unscored);

  Scores scores;
  add_table(scores, session, table);
  scores.json["test_data"] = test_data(session);
  scores.unscored = result.unscored;
  tell_what_is_not_scored(scores, session, result);
  scores.json["state"] = config::word(selected.which());
  scores.json["scored_round"] = selected.rounds();
  scores.uniforms = result.uniforms;
  scores.json["calibration"] = calibration_of(result);

  if (session.config().evaluation.next_event) {
    const auto gaps = next_event_errors(session, selected.theta(), ours, progress);
    scores.table += (scores.table.ends_with('\n') ? "\n" : "\n\n") + evaluation::to_text(gaps);
    scores.json["next_event"] = evaluation::to_json(gaps);
  }
  return scores;
}

}  // namespace

Scores score_states(Session& session, const RunState& state, KeptState wanted, Progress& progress) {
  Scores scores = score_state(session, state, wanted, progress);
  // The other state's total, so that the choice by validation can be judged.
  if (wanted == KeptState::kBest && state.stopping.best_round >= 0 &&
      state.stopping.best_round + 1 != state.next_round) {
    const auto total = total_of(session, test_scores(session, state.theta, "scores after the last round", progress));
    scores.json["last_round"] = {{"headline", total.headline_per_event()}, {"plug_in", total.plug_in_per_event()}};
    scores.table += fmt::format(
        "\nBest round by validation: {} of {}; after the last round: headline {:.4f}, plug-in {:.4f}.",
        state.stopping.best_round + 1, state.next_round, total.headline_per_event(), total.plug_in_per_event());
  }
  return scores;
}

}  // namespace fedpp::federation
