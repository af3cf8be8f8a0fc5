// What the encoders share: a piece of points as a kernel sees it, and the sum of the pieces' gradients.
#pragma once

#include "gpu/fields.hpp"

namespace fedpp::gpu {

/// Whether a tile of the realisation is in the mini-batch.
KOKKOS_INLINE_FUNCTION bool in_mini_batch(const Batch& b, const Fields& f, int realisation) {
  for (int tile = b.tile_begin(realisation); tile < b.tile_begin(realisation + 1); ++tile)
    if (f.tile_scale(tile) != 0) return true;
  return false;
}

/// Whether a tile of the set that begins with the realisation is in the mini-batch.
KOKKOS_INLINE_FUNCTION bool set_in_mini_batch(const Batch& b, const Fields& f, int realisation) {
  for (int i = realisation; i < b.set_end(realisation); ++i)
    if (in_mini_batch(b, f, i)) return true;
  return false;
}

/// One piece for one sample: n points that lie behind each other in every array.
struct Piece {
  int realisation, client, sample, problem, tile, n;
  const double* weights;  ///< w~
  const double* input;    ///< [I x n]
  const int* slot;        ///< [n]
  double* embedding;      ///< [D x n]
  double* adjoint;        ///< [D x n], nullptr without gradient
  Index point;            ///< first point in per-(sample, point) arrays
  Index gradient;         ///< offset in piece_gradient

  KOKKOS_INLINE_FUNCTION Piece(const Batch& b, const Fields& f, int task) {
    const int piece = b.piece_of_task(task);
    sample = b.piece_sample(task);
    realisation = b.piece_realisation(piece);
    client = b.client(realisation);
    problem = b.problem(realisation) + sample;
    tile = b.piece_tile(piece);
    n = b.piece_points(piece);
    const Index first = b.piece_first(piece);
    const Encoder& e = b.encoder(client);
    const bool inducing = tile < 0;
    weights = weights_of(b, f, client, sample);
    input =
        (inducing ? f.inducing_input.data() + b.inducing_input(realisation) : f.input.data() + b.input(realisation)) +
        first * e.inputs;
    const Index h =
        (inducing ? b.inducing_embedding(b.factor_of(problem)) : b.embedding(problem)) + first * e.dimension;
    embedding = (inducing ? f.inducing_embedding.data() : f.embedding.data()) + h;
    const auto& hbar = inducing ? f.inducing_embedding_adjoint : f.embedding_adjoint;
    adjoint = hbar.extent(0) > 0 ? hbar.data() + h : nullptr;
    const auto& slots = inducing ? f.inducing_slot : f.slot;
    slot = slots.extent(0) > 0 ? slots.data() + (inducing ? b.vector(realisation) : b.column(realisation)) + first
                               : nullptr;
    point = b.problem_point(problem) + (inducing ? b.columns(realisation) : 0) + first;
    gradient = b.piece_gradient(task);
  }

  /// Whether the mini-batch has it: a tile with a scale, or inducing points of a set with such a tile.
  KOKKOS_INLINE_FUNCTION bool selected(const Batch& b, const Fields& f) const {
    return tile >= 0 ? f.tile_scale(tile) != 0 : set_in_mini_batch(b, f, realisation);
  }
};

/// fields.gradient of the clients of one kind, w~ only: the sum over their selected pieces, in order, and over
/// further partial sums: a client's tasks task_begin [clients + 1], sample by sample in turn, each with its offset in
/// `partial`. An encoder without history passes empty arrays.
void sum_gradients(const Exec& exec, const Batch& batch, const Fields& fields, EncoderKind kind,
                   const Array<int>& task_begin, const Array<Index>& task_offset, const Array<double>& partial);

}  // namespace fedpp::gpu
