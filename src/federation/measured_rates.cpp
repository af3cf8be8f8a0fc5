#include "federation/measured_rates.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "federation/curve.hpp"
#include "federation/next_events.hpp"
#include "federation/scoring.hpp"
#include "gpu/runtime.hpp"
#include "model/client_points.hpp"
#include "model/kept_block.hpp"
#include "model/local_update.hpp"

namespace fedpp::federation {

namespace {

constexpr std::size_t kFew = 3;

template <class F>
double seconds_of(const F& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Spread over the rank's clients: a few on a host; a GPU, which is as fast as it is full, gets as many as a rank has in
/// a round.
std::vector<std::int64_t> some_clients(const Session& session) {
  const auto& owned = session.owned();
  const auto& f = session.config().federation;
  const auto participants = f.participants > 0 ? f.participants : session.clients();
  const std::size_t most =
      gpu::on_host() ? kFew : static_cast<std::size_t>(1 + (participants - 1) / session.world().size());
  const std::size_t count = std::min(most, owned.size());
  std::vector<std::int64_t> ids;
  for (std::size_t k = 0; k < count; ++k) ids.push_back(owned[k * owned.size() / count].data.id);
  return ids;
}

/// Of the local update of copies of these clients.
double update_seconds(const Session& session, const std::vector<std::int64_t>& ids) {
  std::vector<model::Client> copies;
  std::vector<model::Client*> clients;
  copies.reserve(ids.size());
  for (const auto id : ids) clients.push_back(&copies.emplace_back(session.owned(id).model));
  const model::Priors theta = session.initial_prior();
  model::KeptBlock kept;
  LocalWork work{theta, session.initial_prior(), model::local_options(session.config()), session.seed(), 0, &kept};
  const auto& strategy = session.strategy();
  if (strategy.downloads_uploads()) {
    const auto all = static_cast<std::size_t>(session.clients());
    work.sent.assign(all, session.initial_prior());
    work.event_shares.assign(all, 1.0 / static_cast<double>(all));
  }
  const auto update = [&] { strategy.train(clients, work); };
  update();  // not counted: first use of the allocator and of scratch
  if (session.config().federation.mode == config::Mode::kFedala)
    update();  // nor where it learns its mixing for the first time
  return seconds_of(update);
}

void score(const Session& session, const std::vector<std::int64_t>& ids) {
  std::vector<model::Client> scored;
  std::vector<std::vector<data::Realisation>> held_out;
  std::vector<model::ClientPointSets> requests;
  for (const auto id : ids) {
    const auto& client = session.owned(id);
    scored.push_back(scoring_client(session, client, data::kTest));
    held_out.push_back(data::held_out_realisations(client.data, session.rules(), data::kTest));
  }
  for (std::size_t k = 0; k < ids.size(); ++k) requests.push_back({&scored[k], {&held_out[k]}});
  model::predict(requests, session.initial_prior(), scoring_options(session.config()));
}

}  // namespace

Rates measured_rates(Session& session, ValidationWindows& windows, const evaluation::GapGrid* gaps) {
  const auto ids = some_clients(session);
  const auto& config = session.config();
  const auto& evaluation = config.evaluation;
  const model::Priors theta = session.initial_prior();
  double flops = 0, flops_of_a_sample = 0;
  for (const auto id : ids) {
    flops += model::epoch_cost(session.owned(id).model, config.training.samples).flops;
    flops_of_a_sample += model::epoch_cost(session.owned(id).model, 1).flops;
  }
  if (!(flops > 0)) return {};
  const auto one_by_one = [&](const auto& f) {  // seconds an operation, of as few clients on a GPU as on a host
    double seconds = 0, operations = 0;
    for (std::size_t k = 0; k < std::min(ids.size(), kFew); ++k) {
      const auto& client = session.owned(ids[k * ids.size() / std::min(ids.size(), kFew)]);
      seconds += seconds_of([&] { f(client); });
      operations += model::epoch_cost(client.model, 1).flops;
    }
    return seconds / operations;
  };
  Rates rates;
  rates.update = update_seconds(session, ids) / flops;
  rates.validate = seconds_of([&] { validation_scores(session, windows, ids, theta); }) / flops_of_a_sample;
  rates.score = seconds_of([&] { score(session, ids); }) / flops_of_a_sample;
  if (evaluation.trivial_models)
    rates.trivial_models = one_by_one([&](const auto& client) { trivial_scores(session, client); });
  if (gaps != nullptr)
    rates.next_events =
        one_by_one([&](const auto& client) { next_event_error_sums(session, client, theta, *gaps, 1.0); });
  if (evaluation.curve_clients > 0)
    rates.curve = seconds_of([&] { intensity_curve(session, session.owned(ids.front()), theta); });
  return rates;
}

}  // namespace fedpp::federation
