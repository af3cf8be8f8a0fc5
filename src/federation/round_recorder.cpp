#include "federation/round_recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "data/realisation.hpp"
#include "federation/personal_priors.hpp"
#include "federation/schedule.hpp"

namespace fedpp::federation {

namespace {

/// The log-likelihood of the constant rate N / sum omega is N log(N / sum omega) - N.
Gain gain_on_constant_rate(const model::Client& client, double elbo) {
  const double events = data::events_in(client.training);
  double exposure = 0;
  for (const auto& r : client.training)
    for (const double omega : r.node_weights) exposure += omega;
  return {elbo - (events > 0 ? events * (std::log(events / exposure) - 1) : 0), events};
}

/// Collective. A line for each client that was left out, on rank 0.
std::vector<std::string> left_out_of(Session& session, const RoundOutcome& outcome) {
  std::vector<ClientLine> mine;
  for (const auto& r : outcome.left_out)
    mine.emplace_back(r.client,
                      fmt::format("client {} left out of round {}: {}{}", r.client, outcome.round + 1, r.reason,
                                  session.hostile(r.client) ? " (a hostile client of [attack])"
                                  : r.remedy.empty()        ? ""
                                                            : ": " + r.remedy));
  return lines_by_client(session.world(), mine);
}

}  // namespace

std::vector<std::string> lines_by_client(mpi::Communicator& world, const std::vector<ClientLine>& mine) {
  // A reason is any text: line breaks are told, and bytes that are no UTF-8 are replaced.
  const auto told = nlohmann::json(mine).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::vector<ClientLine> all;
  for (const auto& of_a_rank : world.gather(told, 0, "metrics"))
    for (auto& line : nlohmann::json::parse(of_a_rank).get<std::vector<ClientLine>>()) all.push_back(std::move(line));
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> lines;
  for (auto& [client, line] : all) lines.push_back(std::move(line));
  return lines;
}

void RoundRecorder::record(const RoundOutcome& outcome) {
  const auto& config = session_.config();
  auto& world = session_.world();
  std::vector<double> elbos, gains, events, alignments;
  double jitter = 0;
  for (const auto& report : outcome.reports) {
    jitter = std::max(jitter, report.jitter);
    if (report.failure) continue;
    elbos.push_back(report.elbo);
    alignments.push_back(report.alignment);
    state_.gains[report.client] = gain_on_constant_rate(session_.owned(report.client).model, report.elbo);
  }
  for (const auto& [client, gain] : state_.gains) {
    gains.push_back(gain.nats);
    events.push_back(gain.events);
  }
  const double elbo = session_.exact_total(elbos, "metrics");
  const double elbo_gain = session_.exact_total(gains, "metrics") / session_.exact_total(events, "metrics");
  jitter = world.max(jitter, "metrics");
  const auto left_out = left_out_of(session_, outcome);
  const auto all_lambdas = lambdas_of(outcome);
  const auto bytes = static_cast<std::int64_t>(world.ledger().end_round());
  const double seconds = world.max(seconds_since_last_round(), "metrics");
  const double imbalance = imbalance_of_local_updates();
  nlohmann::json entry{
      {"round", outcome.round + 1},
      {"elbo", elbo},
      {"elbo_gain", elbo_gain},
      {"validation", outcome.validation},
      {"participants", outcome.participants},
      {"learning_rate", config.training.learning_rate *
                            learning_rate_factor(config.training.schedule, outcome.round, config.federation.rounds)},
      {"jitter", jitter},
      {"left_out", left_out},
      {"bytes_rank_0", bytes},
      {"seconds", seconds},
      {"imbalance", imbalance}};
  if (config.training.alignment > 0) entry["alignment"] = session_.exact_total(alignments, "metrics");
  if (!all_lambdas.empty()) entry["lambda"] = all_lambdas;
  if (outcome.communities) {
    entry["communities"] = community_of_each(*outcome.communities, session_.clients());
    entry["structural_entropy"] = outcome.communities->entropy;
  }
  if (world.is_root()) state_.rounds.append(entry);
  nlohmann::ordered_json line{{"event", "round"}};
  for (const char* key : {"round", "elbo_gain", "validation", "seconds", "imbalance"}) line[key] = entry[key];
  line["left_out"] = left_out.size();
  line["best_round"] = state_.stopping.best_round + 1;
  line["best_validation"] = state_.stopping.best_score;
  progress_.record(std::move(line));
  for (const auto& text : left_out) progress_.line(text);
  progress_.round(outcome.round, config.federation.rounds, elbo_gain, outcome.validation, state_.stopping.best_round);
}

/// Collective. Of every participant; NaN (null) for those that started at their prior. Empty unless starts are mixed.
std::vector<double> RoundRecorder::lambdas_of(const RoundOutcome& outcome) {
  const auto start = session_.config().federation.client_start;
  if (start != config::ClientStart::kMix && start != config::ClientStart::kOptimised) return {};
  std::vector<double> own, result;
  for (const auto& client : session_.owned()) {
    const auto lambda = outcome.lambdas.find(client.data.id);
    own.push_back(lambda == outcome.lambdas.end() ? std::nan("") : lambda->second);
  }
  const auto all = session_.share(own, "metrics");
  for (const auto c : outcome.participants) result.push_back(all[c]);
  return result;
}

double RoundRecorder::seconds_since_last_round() {
  const auto now = std::chrono::steady_clock::now();
  const double seconds = std::chrono::duration<double>(now - last_).count();
  last_ = now;
  return seconds;
}

/// The slowest rank's local update of this round over the ranks' mean (in whole microseconds: a sum that is exact).
double RoundRecorder::imbalance_of_local_updates() {
  auto& world = session_.world();
  const double total = phases_.seconds().at("local update");
  const auto mine = static_cast<std::int64_t>((total - local_seconds_before_) * 1e6);
  local_seconds_before_ = total;
  const auto slowest = world.allreduce(mine, mpi::Op::max, "metrics");
  const auto sum = world.allreduce(mine, mpi::Op::sum, "metrics");
  return sum > 0 ? static_cast<double>(slowest) * world.size() / static_cast<double>(sum) : 1;
}

}  // namespace fedpp::federation
