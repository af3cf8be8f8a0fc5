// The steps of the inference, each one launch over the whole batch or a chunk of it (m, nu, the ELBO and what else sums
// over a client want the batch). All take an execution space instance and return at once; the order of a local epoch
// stands in src/model/local_epoch.cpp. Equations: theory 1.2 to 1.6.
#pragma once

#include "gpu/draw_purpose.hpp"
#include "gpu/encoder_operator.hpp"
#include "gpu/fields.hpp"

namespace fedpp::gpu {

/// What keys the random numbers of an epoch: the same on whichever rank a client is.
struct DrawKey {
  std::uint64_t seed = 0;
  std::uint32_t round = 0;
  std::uint32_t epoch = 0;
  std::uint32_t step = 0;  ///< mini-batch within the epoch
};

/// noise ~ N(0, I), w = r + delta noise, per client and sample (1.6).
void draw_weights(const Exec& exec, const Batch& batch, const Fields& fields, const DrawKey& key,
                  DrawPurpose purpose = DrawPurpose::kWeights);

/// Relative jitter at which a client whose K(z,z) cannot be factorised reports itself failed (1.4).
inline constexpr double kJitterLimit = 1e-2;

/// Embeddings at columns and inducing points: encoder.embed(), in a region of its own (1.7).
void embed(const Exec& exec, const Batch& batch, const Fields& fields, EncoderOperator& encoder,
           bool batch_only = false);

/// K_w = kappa(z,z) + jitter r I = L L' (1.2, 1.4), from the client's base_jitter. A failed factorisation is retried
/// with ten times the jitter (1e-12 after 0), up to `jitter_limit` (0: no retries); then info > 0, which stays until
/// the caller clears it. Realisations without a tile in the mini-batch are skipped where `batch_only`.
void factorise(const Exec& exec, const Batch& batch, const Fields& fields, double jitter_limit = kJitterLimit,
               bool batch_only = false);

/// k and V = L^-1 k at the columns (1.2), from their embeddings, and the moments of f there under q(v) as it stands.
/// Tiles with tile_scale = 0 are skipped where `batch_only`.
void features(const Exec& exec, const Batch& batch, const Fields& fields, bool batch_only = false);

/// Mean (less nu) and variance of f at the columns, per sample (1.2), after a change of q(v).
void moments(const Exec& exec, const Batch& batch, const Fields& fields);

/// c, xi, alpha, beta, Lambda and the tile sums from the moments (1.3); the bound's sum, which costs logarithms, on
/// demand.
void augment(const Exec& exec, const Batch& batch, const Fields& fields, bool with_bound = false);

/// q(v) (1.4).
void update_variational(const Exec& exec, const Batch& batch, const Fields& fields);

/// The same, the tiles' shares of the system being at hand.
void solve_variational(const Exec& exec, const Batch& batch, const Fields& fields);

/// m (1.4), with its floor.
void update_rate(const Exec& exec, const Batch& batch, const Fields& fields);

/// nu (1.4); with a prior N(fields.offset_center, 1 / precision) on it where `precision` > 0. A client without events
/// has minus infinity for a maximum: where `only_with_events` it keeps its nu, and the floor of m says its rate.
void update_offset(const Exec& exec, const Batch& batch, const Fields& fields, double precision = 0,
                   bool only_with_events = false);

/// ELBO per client (1.5), without the weights' divergence, from the last augment(with_bound).
void elbo(const Exec& exec, const Batch& batch, const Fields& fields);

/// J per problem (1.6), at the alpha and beta held.
void surrogate(const Exec& exec, const Batch& batch, const Fields& fields);

struct Alignment;

/// dJ/dw per client and sample (1.6) over the tiles of the mini-batch, data terms scaled by tile_scale; with an
/// alignment the gradient of J less its term (gpu/alignment.hpp). `chunks`: of the batch, in order.
void adjoint(const Exec& exec, const Batch& batch, const std::vector<Batch>& chunks, const Fields& fields,
             EncoderOperator& encoder, const Alignment* alignment = nullptr);

/// dJ/dw -> the derivatives of mean_s J(w_s) with respect to r and delta of w_s = r + delta noise_s. [posterior] each.
void posterior_gradient(const Exec& exec, const Batch& batch, const Fields& fields, const Array<double>& by_mean,
                        const Array<double>& by_sd);

/// Chooses mini-batch `key.step` of the epoch: `realisations` of a client's R (0: all) and a share `points` of the
/// tiles of each; sets tile_scale and step_taken. steps_in_epoch() on the host says how many there are.
void select_batch(const Exec& exec, const Batch& batch, const Fields& fields, const DrawKey& key, int realisations,
                  double points);
Index steps_in_epoch(int client_realisations, int realisations, double points);

}  // namespace fedpp::gpu
