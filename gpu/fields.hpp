// The arrays of the inference on one batch, in device memory. Extents as in batch.hpp; the step that writes each is
// named.
#pragma once

#include "gpu/ahead.hpp"
#include "gpu/batch.hpp"

namespace fedpp::gpu {

/// Sums over a tile's columns that the closed-form updates and the ELBO need (augment()).
enum TileSum : int {
  kSumEvents,    ///< sum n
  kSumExposure,  ///< sum omega
  kSumThinned,   ///< sum omega (1 - g)
  kSumAlpha,     ///< sum alpha
  kSumResidual,  ///< sum beta - alpha E_w[a'h + V' mu_v]
  kSumBound,     ///< sum n (Ef/2 - log 2cosh(c/2)) + omega Lambda
  kTileSums
};

struct Fields {
  // data
  Array<double> input;            // [input]   what the encoder sees of the columns
  Array<double> multiplicity;     // [column]  n: 0 at nodes
  Array<double> node_weight;      // [column]  omega: 0 at events
  Array<double> inducing_input;   // [inducing_input] and of z
  Array<int> slot;                // [column]  where its stream stands just before it, within the realisation
  Array<int> inducing_slot;       // [vector]
  Array<double> token_input;      // [token_input] the history: inputs of the streams' tokens
  Array<int> token_type;          // [token]
  Array<std::int64_t> client_id;  // [client]  global number, keys the random numbers
  Array<double> least_events;     // [client]  half an event, tempered: floor of m
  Array<double> base_jitter;      // [client]  relative jitter of K(z,z) that a factorisation starts with
  // weights of the kernel
  Array<double> mean, sd;        // [posterior] r, delta
  Array<double> noise, weights;  // [weights]   eps, w = r + delta eps          (draw_weights)
  // variational posterior of the latent function, rate bound, prior mean
  Array<double> v_mean;         // [vector]    mu_v                              (update_variational)
  Array<double> v_factor;       // [square]    F lower, Sigma_v = F' F           (update_variational)
  Array<double> v_divergence;   // [realisation] KL[q(v) || N(0, I)]             (elbo)
  Array<double> rate, offset;   // [client]    m, nu                             (update_rate, update_offset)
  Array<double> offset_center;  // [client]    mean of nu's prior, where update_offset() gets one; starts at 0
  // kernel matrices
  Array<double> inducing_embedding;  // [inducing_embedding] h(z)                 (embed)
  Array<double> kzz, inverse;        // [factor_square] K(z,z) with jitter, L^-1        (factorise)
  // of a set's first problem, which stands for all of the set
  Array<double> jitter;     // [problem]   largest relative jitter used since the fields were made (factorise)
  Array<int> info;          // [problem]   0, or 1 + index of the first pivot that failed at the largest jitter
  Array<double> pivot;      // [problem]   smallest pivot L_ii^2 of the last factorisation, or the one that failed
  Array<double> embedding;  // [embedding] h at columns                      (embed)
  Array<double> k, v;       // [matrix]    kappa(z, t), V = L^-1 k           (features)
  Array<float> k_single, v_single;  // [matrix] instead of them in mixed precision
  // moments
  Array<double> unexplained;                 // [problem_column] kappa_nn - V'V >= 0          (features)
  Array<double> trend;                       // [problem_column] a'h, 0 without slopes        (features)
  Array<double> projection;                  // [problem_column] a'h + V' mu_v: mean of f less nu   (moments)
  Array<double> variance;                    // [problem_column] s                            (moments)
  Array<double> c, xi, alpha, beta, lambda;  // [column]                          (augment)
  Array<double> tile_sums;                   // [tile][kTileSums]                             (augment)
  Array<double> elbo;                        // [client]    without the weights' divergence   (elbo)
  Array<double> surrogate;                   // [problem]   J                                 (surrogate)
  Array<double> tile_scale;                  // [tile]  scale of a mini-batch's data, 0: not in it  (select_batch)
  // partial sums
  Array<double> tile_square, tile_vector;  // system of q(v)                      (update_variational)
  // adjoint
  Array<double> realisation_scale;   // [realisation] of a mini-batch's realisations, 0: not in it   (select_batch)
  Array<int> step_taken;             // [client]    1 where a client has a mini-batch in this step
  Array<double> explained;           // [square]    E = I - Sigma_v
  Array<double> b_square, b_vector;  // [problem_square], [problem_vector]  L^-T E, L^-T mu_v
  Array<double> task_square;         // [task_square]    S = V alpha V', then -Psi(E S + mu_v y'), Psi = Phi + Phi'
  Array<double> task_vector;         // [task_vector]    y = V rho
  Array<double> task_rowsum;         // [task_vector]    sum_n G_mn
  Array<double> task_embedding;      // [task_embedding] sum_n G_mn h_n
  Array<double> task_tail;           // [task_tail]      by a, log r, log l
  Array<double> problem_tail;        // [problem_tail]
  Array<double> set_square;          // [factor_square]  sum of task_square over a set
  Array<double> set_rowsum;          // [problem_vector] sum of task_rowsum over a set, in its first problem's place
  Array<double> embedding_adjoint, inducing_embedding_adjoint;  // dJ/dh, as the embeddings
  Array<double> piece_gradient;                                 // [piece_gradient] by w~, of a piece
  Array<double> gradient;  // [weights]   dJ/dw per sample, summed over realisations
};

/// w [P] of a client's sample.
KOKKOS_INLINE_FUNCTION const double* weights_of(const Batch& b, const Fields& f, int client, int sample) {
  return f.weights.data() + b.weights(client) + static_cast<Index>(sample) * b.parameters(client);
}

/// k or V [M x T] at a tile's columns for one sample, in the precision that the batch has it in: Real is float in mixed
/// precision, double else.
template <class Real>
KOKKOS_INLINE_FUNCTION Matrix<Real> tile_block(const Batch& b, int tile, int sample, const Array<double>& whole,
                                               const Array<float>& single) {
  const int i = b.tile_realisation(tile), m = b.inducing(i);
  const Index first = b.matrix(b.problem(i) + sample) + static_cast<Index>(b.tile_first(tile)) * m;
  if constexpr (std::is_same_v<Real, double>) {
    return Matrix(whole.data() + first, m, b.tile_columns(tile));
  } else {
    return Matrix(single.data() + first, m, b.tile_columns(tile));
  }
}
template <class Real>
KOKKOS_INLINE_FUNCTION Matrix<Real> k_of(const Batch& b, const Fields& f, int tile, int sample) {
  return tile_block<Real>(b, tile, sample, f.k, f.k_single);
}
template <class Real>
KOKKOS_INLINE_FUNCTION Matrix<Real> v_of(const Batch& b, const Fields& f, int tile, int sample) {
  return tile_block<Real>(b, tile, sample, f.v, f.v_single);
}

/// h or dJ/dh [D x T] at a tile's columns for one sample.
KOKKOS_INLINE_FUNCTION Matrix<double> h_of(const Batch& b, const Array<double>& h, int tile, int sample) {
  const int i = b.tile_realisation(tile), d = b.encoder(b.client(i)).dimension;
  const Index first = b.embedding(b.problem(i) + sample) + static_cast<Index>(b.tile_first(tile)) * d;
  return Matrix(h.data() + first, d, b.tile_columns(tile));
}

/// h(z) or dJ/dh(z) [D x M] of a factor, or what has its place.
KOKKOS_INLINE_FUNCTION Matrix<double> hz_of(const Batch& b, const Array<double>& h, int factor) {
  const int i = b.problem_realisation(b.factor_problem(factor));
  return Matrix(h.data() + b.inducing_embedding(factor), b.encoder(b.client(i)).dimension, b.inducing(i));
}

/// Calls f.template operator()<Real>() for a batch's precision.
template <class F>
void with_precision(const Batch& batch, const F& f) {
  if (batch.precision == Precision::kMixed)
    f.template operator()<float>();
  else
    f.template operator()<double>();
}

/// Allocates what prediction and E-steps need; with_gradient adds the adjoint's arrays. q(v) = N(0, I), tile_scale = 1.
/// Where the adjoint will go by `chunks` (of the batch, in order), arrays that only a chunk's own adjoint reads have
/// the length of the largest: adjoint_fields(). Without chunks all have the batch's.
Fields make_fields(const Batch& batch, bool with_gradient, const std::vector<Batch>& chunks = {});

/// The fields of a batch that has been advanced as make_fields() left them, but for what is uploaded: points, weights,
/// q(v), m, nu and the settings of clients.
void restart(const Fields& fields);

/// The arrays as the adjoint of a chunk has them: on a host those that nobody reads after it begin where the first
/// chunk's do, so that one chunk after another writes what is in a cache. `with_columns`: dJ/dh at columns, too.
Fields adjoint_fields(const Fields& fields, const Batch& chunk, bool with_columns);

/// Doubles of a batch's extents, its fields and its encoder's work space for a realisation with M inducing points and n
/// columns of a client with S samples, embedding size D and P weights (an upper bound), without what only a chunk's own
/// adjoint reads.
Index field_doubles(const ClientExtent& client, const RealisationExtent& realisation, bool with_gradient);

/// And for a client whose realisations have so many streams together, with its optimiser where there is a gradient.
Index client_doubles(const ClientExtent& client, Index streams, bool with_gradient);

/// And what only a chunk's own adjoint reads: a batch has the sum over the realisations of its largest chunk.
Index chunk_doubles(const ClientExtent& client, const RealisationExtent& realisation);

}  // namespace fedpp::gpu
