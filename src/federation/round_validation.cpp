#include "federation/round_validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "federation/schedule.hpp"
#include "federation/scoring.hpp"
#include "model/local_report.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {

double RoundValidation::score(const std::vector<std::int64_t>& participants, std::int64_t round) {
  if (!is_validated(session_.config().federation, round)) {
    for (const auto c : participants) state_.validation.erase(c);  // out of date; a checkpoint tells it, too
    return std::nan("");
  }
  const auto clients = due(participants, round);
  std::vector<double> headline, events;
  std::int64_t failed = 0, missing = 0;
  auto& world = session_.world();
  mpi::together(world, [&] {
    const auto scores = validation_scores(session_, windows_, clients, state_.theta);
    for (std::size_t k = 0; k < clients.size(); ++k) state_.validation[clients[k]] = scores[k];
    for (const auto& [client, score] : state_.validation) {
      // -inf, a rate of 0 at an event, is a score, though not one to add.
      const bool scored = std::abs(score.headline) < model::kMostNats;
      failed += !scored && !std::isinf(score.headline);
      missing += !scored && !session_.hostile(client);
      // One without an event counts, too, as in test scores: with its integral.
      if (!scored || session_.hostile(client)) continue;
      headline.push_back(score.headline);
      events.push_back(score.events);
    }
  });
  const double nats = session_.exact_total(headline, "validation scores");
  const double of_events = session_.exact_total(events, "validation scores"), score = nats / of_events;
  if (const auto all = world.allreduce(failed, mpi::Op::sum, "validation scores"); all > 0)
    progress_.line(fmt::format(
        "round {}: {} client{} without a validation score: no score from {} weights is a number that sums hold",
        round + 1, all, all == 1 ? "" : "s", all == 1 ? "its" : "their"));
  missing = world.allreduce(missing, mpi::Op::sum, "validation scores");
  const auto scored = world.allreduce(static_cast<std::int64_t>(headline.size()), mpi::Op::sum, "validation scores");
  if (scored > 0 && of_events == 0 && nats == 0) return score;  // no window: no round is better than another
  // Where all windows are without an event, their integrals tell the rounds apart.
  if (state_.stopping.enter(round, scored > 0 && of_events == 0 ? nats : score, missing)) {
    state_.best_theta = state_.theta;
    for (const auto& client : session_.owned()) state_.best_clients[client.data.id] = client.model.state;
  }
  return score;
}

/// This rank's clients whose score is out of date, or has its turn.
std::vector<std::int64_t> RoundValidation::due(const std::vector<std::int64_t>& participants,
                                               std::int64_t round) const {
  const auto& federation = session_.config().federation;
  std::vector<std::int64_t> clients;
  for (const auto& client : session_.owned()) {
    const auto c = client.data.id;
    const bool took_part = std::ranges::binary_search(participants, c);
    const bool in_turn = !client.model.state.started && has_its_turn(federation, session_.clients(), c, round);
    if (took_part || in_turn || all_change_ || !state_.validation.contains(c)) clients.push_back(c);
  }
  return clients;
}

}  // namespace fedpp::federation
