#include "federation/estimated_memory.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "federation/communities.hpp"
#include "federation/curve.hpp"
#include "federation/memory.hpp"
#include "federation/next_events.hpp"
#include "federation/scoring.hpp"
#include "federation/similarity.hpp"
#include "gpu/runtime.hpp"
#include "model/batch_memory.hpp"
#include "model/device_room.hpp"
#include "model/embeddings.hpp"
#include "model/local_update.hpp"

namespace fedpp::federation {

namespace {

/// What the states of this rank's clients take once all have taken part: their own after the last round; weights kept of
/// the best round, the last ones put aside while the best are scored, and those that a failed update would be put back
/// to; latent functions also put aside while a mode trains.
double state_bytes(const Session& session) {
  double doubles = 0;
  for (const auto& client : session.owned()) {
    // q_phi, raw, Adam's moments; a core model of its own where clients send one.
    const double vectors = session.strategy().downloads_uploads() ? 9 : 7;
    doubles += 4 * vectors * client.model.embedding.encoder.parameters;
    for (const auto& z : client.model.inducing) {
      const auto m = static_cast<double>(z.times.size());
      doubles += 2 * m * (m + 1);
    }
  }
  return sizeof(double) * doubles;
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
  return sizeof(double) * (1.1 * signatures + 4 * own * encoder.parameters);
}

/// All clients' uploads, once, where every rank gets them.
double downloaded_bytes(const Session& session) {
  if (!session.strategy().downloads_uploads()) return 0;
  return 2.0 * sizeof(double) * static_cast<double>(session.clients()) * static_cast<double>(session.parameters());
}

/// Largest sum of arrays that are on the device at a time, and the scratch of the kernels' teams, which Kokkos keeps once
/// it was wanted.
struct DeviceBytes {
  double arrays = 0, scratch = 0;
};

/// Of a block of clients that are scored.
DeviceBytes bytes_of_predictions(const Session& session, data::Split split, const model::PredictionOptions& options) {
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

/// Of a client's curve or of its next events, which are predicted client by client once the scores are there.
double bytes_of_results(const Session& session, const evaluation::GapGrid* gaps) {
  double most = 0;
  for (const auto& client : session.owned()) {
    if (client.data.id < session.config().evaluation.curve_clients) most = std::max(most, curve_bytes(session, client));
    if (gaps != nullptr) most = std::max(most, next_event_bytes(session, client, *gaps));
  }
  return most;
}

/// What the process holds of a curve that was read back (model::RealisationPrediction).
double read_back_bytes(const Session& session) {
  const auto& evaluation = session.config().evaluation;
  if (evaluation.curve_clients == 0) return 0;
  return static_cast<double>(sizeof(double)) * static_cast<double>(evaluation.curve_points) *
         static_cast<double>(3 * evaluation.samples + 2);
}

/// Of a block of the local update, with the kept block while uploads are compared and the participants validated, or of
/// what follows the rounds: a block of clients that are scored, or a client's curve or next events.
DeviceBytes most_bytes(const Session& session, const evaluation::GapGrid* gaps) {
  const auto& config = session.config();
  std::vector<model::ClientPoints> training;
  for (const auto& client : session.owned()) training.push_back({&client.model, &client.model.training});
  const auto options = model::batch_options(model::local_options(config));
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
  const double updated = trained.arrays + downloaded_bytes(session);
  const double in_rounds = kept ? updated + beside : std::max(updated, beside);
  return {std::max({in_rounds, scored.arrays, bytes_of_results(session, gaps)}),
          std::max({trained.scratch, compared.scratch, validated.scratch, scored.scratch})};
}

}  // namespace

EstimatedMemory estimated_memory(const Session& session, const evaluation::GapGrid* gaps) {
  const auto [held, scratch] = most_bytes(session, gaps);
  // On a host all lie in the same memory. A device keeps what was handed back (gpu::Reserve):
  // usually less than what is held, as lengths differ by halves.
  const double libraries = 28e6;                            // at work: files, MPI
  const double downloaded = 5 * downloaded_bytes(session);  // as they come, one by one, and on their way to the device
  return {.arrays = (gpu::on_host() ? 1 : 2) * held + scratch,
          .process = resident_bytes() + (gpu::on_host() ? 1.1 * held + scratch : 0.1 * held) + state_bytes(session) +
                     graph_bytes(session) + read_back_bytes(session) + downloaded + libraries};
}

}  // namespace fedpp::federation
