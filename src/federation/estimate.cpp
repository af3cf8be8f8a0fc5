// fedpp train --estimate: what a training would take, from sizes and a short calibration.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "federation/communities.hpp"
#include "federation/describe.hpp"
#include "federation/memory.hpp"
#include "federation/participants.hpp"
#include "federation/run.hpp"
#include "federation/schedule.hpp"
#include "federation/scoring.hpp"
#include "federation/session.hpp"
#include "federation/similarity.hpp"
#include "gpu/runtime.hpp"
#include "model/client_batch.hpp"
#include "model/device_room.hpp"
#include "model/embeddings.hpp"
#include "model/local_update.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {

namespace {

template <class F>
double seconds_of(const F& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// What the states of this rank's clients take once all have taken part: their own after the last round, those kept of
/// the best round, and the last ones put aside while the best are scored.
double state_bytes(Session& session) {
  double doubles = 0;
  for (const auto& client : session.owned()) {
    doubles += 7.0 * client.model.embedding.encoder.parameters();  // q_phi, raw, Adam's moments
    for (const auto& z : client.model.inducing) {
      const auto m = static_cast<double>(z.times.size());
      doubles += m * (m + 1);
    }
  }
  return 3 * sizeof(double) * doubles;
}

/// What the clients' graph takes while signatures are sent (ClientGraph), and what clients then have of their own.
double graph_bytes(const Session& session) {
  const auto& aggregation = session.config().aggregation;
  if (aggregation.scope == config::Scope::kGlobal || session.owned().empty()) return 0;
  const auto& encoder = session.owned().front().model.embedding.encoder;
  const auto length =
      static_cast<double>(signature_length(aggregation.similarity, static_cast<std::size_t>(aggregation.probe_points),
                                           static_cast<std::size_t>(encoder.dimension)));
  const auto own = static_cast<double>(session.owned().size()), all = static_cast<double>(session.clients());
  // Embeddings and what is made of them to be sent; on rank 0 what it knew, what comes in one piece, and its parts.
  const double signatures = session.world().is_root() ? (own + 3 * all) * length + 3 * all * all : 2 * own * length;
  // A tenth more, since pieces that were handed back do not fit what is wanted next. Then the last upload, and a prior.
  return sizeof(double) * (1.1 * signatures + 4 * own * encoder.parameters());
}

/// Largest sum of arrays that are on the device at a time, and the scratch of the kernels' teams, which Kokkos keeps once
/// it was wanted.
struct DeviceBytes {
  double arrays = 0, scratch = 0;
};

/// Of a block of clients that are scored.
DeviceBytes bytes_of_predictions(Session& session, data::Split split, const model::PredictionOptions& options) {
  double most = 0, all = 0;
  gpu::ScratchWanted scratch;
  for (const auto& client : session.owned()) {
    const auto held_out = data::held_out_realisations(client.data, session.rules(), split);
    const double bytes = model::prediction_bytes({&client.model, {&held_out}}, options);
    most = std::max(most, bytes);
    all += bytes;
    for (const auto* points : {&client.model.training, &held_out})
      scratch += model::scratch_of({&client.model, points}, {.samples = options.samples});
  }
  const double room = 1e6 * gpu::workspace_mb(options.workspace_mb);
  return {std::max(most, std::min(room, all)), static_cast<double>(scratch.teams)};
}

/// Of a block of uploads whose embeddings the clients' graph compares.
DeviceBytes bytes_of_embeddings(const Session& session) {
  const auto& aggregation = session.config().aggregation;
  if (aggregation.scope == config::Scope::kGlobal || session.owned().empty()) return {};
  const auto room = model::embeddings_room(session.owned().front().model.embedding, session.owned().size(),
                                           similarity_probe(session, aggregation.probe_points),
                                           session.config().backend.workspace_mb);
  return {room.arrays, room.scratch};
}

/// Of a block of the local update, with the kept block while uploads are compared and the participants validated, or of a
/// block of clients that are scored at the end.
DeviceBytes most_bytes(Session& session) {
  const auto& config = session.config();
  std::vector<model::ClientPoints> training;
  for (const auto& client : session.owned()) training.push_back({&client.model, &client.model.training});
  const model::BatchOptions options{.samples = static_cast<int>(config.training.samples),
                                    .with_gradient = true,
                                    .precision = model::precision_of(config.training.precision)};
  const auto blocks = model::blocks_of(training, options, config.backend.workspace_mb);
  DeviceBytes trained;
  for (const auto& [first, last] : blocks) {
    const auto block = std::span(training).subspan(first, last - first);
    trained.arrays = std::max(trained.arrays, model::array_bytes(block, options));
    gpu::ScratchWanted scratch;
    for (const auto& points : block) scratch += model::scratch_of(points, options);
    trained.scratch = std::max(trained.scratch, static_cast<double>(scratch.teams));
  }
  const double room = 1e6 * gpu::workspace_mb(config.backend.workspace_mb);
  const std::size_t most_blocks = trained.arrays <= room ? 1 : blocks.size();  // of a round's participants
  const bool kept = session.strategy().keeps_block() && model::can_keep(most_blocks, config.training);
  const auto validated = bytes_of_predictions(session, data::kValidation, validation_options(config));
  const auto scored = bytes_of_predictions(session, data::kTest, scoring_options(config));
  const auto compared = bytes_of_embeddings(session);
  const double beside = std::max(validated.arrays, compared.arrays);
  const double in_rounds = kept ? trained.arrays + beside : std::max(trained.arrays, beside);
  return {std::max(in_rounds, scored.arrays),
          std::max({trained.scratch, compared.scratch, validated.scratch, scored.scratch})};
}

/// Seconds an operation takes in the local update, and in the scoring of a client (of the operations of an epoch with
/// the samples of an evaluation), measured on some of this rank's clients. They end as they were.
struct Rates {
  double update = 0, validate = 0, score = 0;
};
Rates calibrate(Session& session, ValidationWindows& windows) {
  auto& owned = session.owned();
  const auto& config = session.config();
  // A few on a host; a GPU, which is as fast as it is full, gets as many as a rank has in a round.
  const auto participants = config.federation.participants > 0 ? config.federation.participants : session.clients();
  const auto most = static_cast<std::size_t>(gpu::on_host() ? 3 : 1 + (participants - 1) / session.world().size());
  std::vector<model::Client> copies;
  std::vector<model::Client*> clients;
  std::vector<std::int64_t> ids;
  double flops = 0, scored_flops = 0;
  const std::size_t count = std::min(most, owned.size());
  copies.reserve(count);
  for (std::size_t k = 0; k < count; ++k) {  // spread over the rank's clients
    const auto& client = owned[k * owned.size() / count];
    copies.push_back(client.model);
    clients.push_back(&copies.back());
    ids.push_back(client.data.id);
    flops += model::epoch_cost(client.model, config.training.samples).flops;
    scored_flops += model::epoch_cost(client.model, 1).flops;
  }
  if (!(flops > 0)) return {};
  const model::Priors theta = session.initial_prior();
  model::KeptBlock kept;
  LocalWork work{theta, session.initial_prior(), model::local_options(config), session.seed(), 0, &kept};
  const auto& strategy = session.strategy();
  if (strategy.downloads_uploads()) {
    const auto all = static_cast<std::size_t>(session.clients());
    work.sent.assign(all, session.initial_prior());
    work.event_shares.assign(all, 1.0 / static_cast<double>(all));
  }
  const auto update = [&] { strategy.train(clients, work); };
  update();  // not counted: first use of the allocator and of scratch
  if (config.federation.mode == config::Mode::kFedala) update();  // nor where it learns its mixing for the first time
  Rates rates;
  rates.update = seconds_of(update) / flops;
  const auto validate = [&] { validation_scores(session, windows, ids, session.initial_prior()); };
  rates.validate = seconds_of(validate) / scored_flops;
  rates.score = seconds_of([&] {
                  std::vector<model::Client> scored;
                  std::vector<std::vector<data::Realisation>> held_out;
                  std::vector<model::ClientPointSets> requests;
                  for (const auto id : ids) {
                    const auto& client = session.owned(id);
                    scored.push_back(scoring_client(session, client, data::kTest));
                    held_out.push_back(data::held_out_realisations(client.data, session.rules(), data::kTest));
                  }
                  for (std::size_t k = 0; k < count; ++k) requests.push_back({&scored[k], {&held_out[k]}});
                  model::predict(requests, session.initial_prior(), scoring_options(config));
                }) /
                scored_flops;
  return rates;
}

/// Mean seconds of the local updates of a round, of the slowest rank, on 1, 2, 4, ... ranks that are as fast as these and
/// not more than a round's participants, over the first rounds; without what ranks say to each other. `seconds`: [C] of
/// each client's update.
std::vector<std::pair<int, double>> on_other_ranks(const Session& session, const std::vector<double>& seconds) {
  constexpr std::int64_t kMostRounds = 200;
  const auto& f = session.config().federation;
  const auto rounds = std::min(f.rounds, kMostRounds);
  std::vector<std::vector<std::int64_t>> participants;
  for (std::int64_t round = 0; round < rounds; ++round)
    participants.push_back(
        sample_participants(session.clients(), f.participants, session.seed(), round, f.straggling_period));
  std::vector<std::pair<int, double>> result;
  for (int ranks = 1; ranks <= static_cast<int>(participants.front().size()); ranks *= 2) {
    // Where only an owner may open a client's file, clients are placed before it is known what they cost.
    const mpi::Placement placement(
        session.plan().one_file_a_client() ? std::vector<double>(seconds.size(), 1.0) : seconds, ranks);
    double sum = 0;
    for (const auto& those : participants) {
      std::vector<double> load(static_cast<std::size_t>(ranks), 0.0);
      for (const auto c : those) load[static_cast<std::size_t>(placement.rank_of(c))] += seconds[c];
      sum += *std::max_element(load.begin(), load.end());
    }
    result.emplace_back(ranks, sum / static_cast<double>(rounds));
  }
  return result;
}

}  // namespace

int run_estimate(const config::Config& config, mpi::Communicator& world) {
  const gpu::Runtime runtime(world.node_rank(), config::word(config.backend.dense));
  std::optional<Session> session;
  const double load = world.max(seconds_of([&] { session.emplace(config, world); }), "estimate");
  session->check_device_room();

  // 1. Memory: what is there now, the largest arrays and the states. On a host all lie in the same memory, with what is
  // read back.
  ValidationWindows windows(*session);
  if (config.federation.validate_every > 0)
    for (const auto& client : session->owned()) windows.of(client, data::ValidationHalf::kRounds);
  const auto [held, scratch] = most_bytes(*session);
  // A device keeps what was handed back (gpu::Reserve): usually less than what is held, as lengths differ by halves.
  const double arrays = (gpu::on_host() ? 1 : 2) * held + scratch;
  const double process = resident_bytes() + (gpu::on_host() ? 1.1 * held + scratch : 0.1 * held) +
                         state_bytes(*session) + graph_bytes(*session) + 28e6;  // libraries at work: files, MPI

  // 2. Time: of each round the slowest rank, of all its participants. Measuring may take as much memory as the run.
  const double available = available_bytes(), wanted = world.node_size() * (process - resident_bytes());
  const bool fits = world.max(wanted > available ? 1.0 : 0.0, "estimate") == 0;
  Rates rates;
  if (fits) mpi::together(world, [&] { rates = calibrate(*session, windows); });
  const auto& f = config.federation;
  std::vector<std::int64_t> slowest_update(static_cast<std::size_t>(f.rounds), 0), slowest_validate = slowest_update;
  double own_update = 0;
  for (std::int64_t round = 0; round < f.rounds; ++round) {
    double update = 0, validate = 0;
    for (const auto c :
         sample_participants(session->clients(), f.participants, session->seed(), round, f.straggling_period)) {
      if (!session->owns(c)) continue;
      const auto& client = session->owned(c).model;
      update += rates.update * model::epoch_cost(client, config.training.samples).flops;
      validate += rates.validate * model::epoch_cost(client, 1).flops;
    }
    own_update += update;
    slowest_update[round] = static_cast<std::int64_t>(1e9 * update);
    slowest_validate[round] = is_validated(f, round) ? static_cast<std::int64_t>(1e9 * validate) : 0;
  }
  world.allreduce(std::span<std::int64_t>(slowest_update), mpi::Op::max, "estimate");
  world.allreduce(std::span<std::int64_t>(slowest_validate), mpi::Op::max, "estimate");
  std::vector<double> own_seconds;
  for (const auto& client : session->owned())
    own_seconds.push_back(rates.update * model::epoch_cost(client.model, config.training.samples).flops);
  const auto seconds = session->share(own_seconds, "estimate");
  double own_score = 0;
  for (const auto& client : session->owned()) own_score += rates.score * model::epoch_cost(client.model, 1).flops;
  const double score = world.max(own_score, "estimate");
  const auto total = [](const std::vector<std::int64_t>& nanoseconds) {
    double sum = 0;
    for (const auto x : nanoseconds) sum += 1e-9 * static_cast<double>(x);
    return sum;
  };

  // 3. One line a rank, then the sums.
  const auto rounds = static_cast<double>(f.rounds);
  const auto lines =
      world.gather(fmt::format("{:>4} {:>8} {:>14.1f} {:>16.1f} {:>15}\n", world.rank(), session->owned().size(),
                               1e-6 * arrays, 1e-6 * process, fits ? fmt::format("{:.3f}", own_update / rounds) : "-"),
                   0, "estimate");
  const auto text = describe(*session);
  if (!world.is_root()) return 0;
  fmt::print("{}\n\n{:>4} {:>8} {:>14} {:>16} {:>15}\n", text, "rank", "clients", "arrays MB", "process MB",
             "update s/round");
  for (const auto& line : lines) fmt::print("{}", line);
  if (!fits) {
    fmt::print(
        "\nNot measured, since the ranks' memory is more than is free (rank 0's machine has {:.0f} MB left): take more "
        "nodes or fewer ranks a node, a smaller model.inducing, training.samples or evaluation.samples, or cut long "
        "sequences into pieces (fedpp import --cut-events).\n",
        1e-6 * available);
    return 0;
  }
  const double update = total(slowest_update), validate = total(slowest_validate);
  fmt::print(
      "\nEstimated: {:.3g} s for {} rounds (local updates {:.3g} s, validation {:.3g} s), then {:.3g} s of scores; "
      "loading took {:.3g} s.\n",
      update + validate, f.rounds, update, validate, score, load);
  if (const auto idle = idle_ranks(*session); !idle.empty()) fmt::print("{}\n", idle);
  const auto others = on_other_ranks(*session, seconds);
  if (others.size() > 1) fmt::print("\n{:>5} {:>15} {:>12}\n", "ranks", "update s/round", "times faster");
  for (std::size_t k = 0; k < others.size() && others.size() > 1; ++k)
    fmt::print("{:>5} {:>15.3g} {:>12.1f}\n", others[k].first, others[k].second, others[0].second / others[k].second);
  return 0;
}

}  // namespace fedpp::federation
