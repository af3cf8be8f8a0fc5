// The ragged batch (client x realisation x Monte Carlo sample): extents and offsets of every array of the inference.
//
//   problem   one (realisation, sample): its own V
//   set       neighbouring realisations of a client with the same inducing points, mostly one alone
//   factor    one (set, sample): h(z), K(z,z) = L L', L^-1
//   tile      up to `tile_columns` columns (events and nodes) of one realisation: the unit of work and of partial sums,
//             the same for any batch that a realisation is part of
//   task      one (tile, sample)
//   piece     what an encoder embeds at a time: a tile's columns, or up to `tile_columns` inducing points
//   stream    a sequence whose events, its tokens, are the history of some points of a realisation
//   slot      a position in a stream: a stream of n tokens has n + 1, slot j comes after j tokens; a realisation's
//             slots are numbered through its streams
//   chunk     consecutive realisations of a batch, for steps that know no others: all arrays are the batch's own
//
// Extents may differ from client to client and from realisation to realisation in every dimension.
#pragma once

#include <vector>

#include "gpu/extents.hpp"
#include "gpu/kokkos.hpp"

namespace fedpp::gpu {

/// Device-side extents and offsets; copied into kernels by value.
struct Batch {
  int clients = 0, realisations = 0, problems = 0, factors = 0, tiles = 0, tasks = 0;
  int pieces = 0, piece_tasks = 0, streams = 0;
  /// Where a chunk's realisations, problems, factors, tiles, tasks and tasks of pieces begin; it counts its own alone.
  /// The factors are those of its realisations, although a set may have begun in an earlier chunk.
  struct First {
    int realisation = 0, problem = 0, factor = 0, tile = 0, task = 0, piece_task = 0;
  } first;
  int most_inducing = 0, most_width = 0, most_tile = 0, most_piece = 0, most_inputs = 0;  ///< for sizes of scratch
  int most_realisations = 0, most_tiles = 0;                    ///< of a client, of a realisation
  int most_samples = 0, most_weights = 0, most_parameters = 0;  ///< for sizes of leagues

  Precision precision = Precision::kDouble;
  bool by_chunks = true;  ///< whether all its encoders go by chunks

  // [clients]
  Array<int> samples, parameters;
  Array<Encoder> encoder;
  Array<Index> weights;            ///< offset of w[S][P], also of its gradient and its noise
  Array<Index> posterior;          ///< offset of r[P], delta[P]
  Array<int> client_tiles;         ///< [clients + 1] first tile
  Array<int> client_realisations;  ///< [clients + 1] first realisation
  Array<int> client_pieces;        ///< [clients + 1] first piece

  // [realisations]
  Array<int> client, inducing, columns, problem, tile_begin;  ///< problem: first one; tile_begin: [realisations + 1]
  Array<int> set_end;                                         ///< the realisation behind its set's last
  Array<Index> column;                                        ///< offset of per-column arrays [N+Q]
  Array<Index> vector;                                        ///< offset of M-vectors (z, mu_v)
  Array<Index> square;                                        ///< offset of M x M matrices (F)
  Array<Index> input, inducing_input;                         ///< offsets of the inputs [I x (N+Q)], [I x M]
  Array<Index> slot;                                          ///< offset of per-slot arrays
  Array<int> stream_begin;                                    ///< [realisations + 1] first stream

  // [problems]
  Array<int> problem_realisation, problem_sample;
  Array<int> factor_of;
  Array<Index> matrix;          ///< offset of V, K: [M x (N+Q)]
  Array<Index> embedding;       ///< offset of h at columns: [D x (N+Q)]
  Array<Index> problem_square;  ///< offset of a problem's own [M x M]
  Array<Index> problem_vector;  ///< offset of M-vectors of a problem
  Array<Index> problem_column;  ///< offset of per-(sample, column) arrays
  Array<Index> problem_point;   ///< offset of per-(sample, point) arrays [N+Q+M]
  Array<Index> problem_slot;    ///< offset of per-(sample, slot) arrays
  Array<Index> problem_tail;    ///< offset of sums by the tail's parameters

  // [factors]
  Array<int> factor_problem;        ///< the first of those that it serves
  Array<Index> inducing_embedding;  ///< offset of h at z: [D x M]
  Array<Index> factor_square;       ///< offset of K(z,z), L, L^-1: [M x M]

  // [tiles]
  Array<int> tile_realisation, tile_first, tile_columns,
      tile_task;                          ///< first column within the realisation; first task
  Array<Index> tile_square, tile_vector;  ///< offsets of partial sums [M x M], [M]

  // [tasks]
  Array<int> task_tile, task_sample;
  Array<Index> task_square, task_vector, task_embedding;  ///< offsets of partial sums [M x M], [M], [D x M]
  Array<Index> task_tail;                                 ///< and by the tail's parameters

  // [pieces]
  Array<int> piece_realisation, piece_tile, piece_first, piece_points;  ///< tile: -1 for inducing points
  Array<int> piece_task;                                                ///< its first task
  // [piece_tasks]
  Array<int> piece_of_task, piece_sample;
  Array<Index> piece_gradient;  ///< offset of partial sums [weights]

  // [streams]
  Array<int> stream_realisation, stream_tokens;
  Array<int> stream_slot;     ///< first slot within the realisation
  Array<Index> stream_token;  ///< offset of per-token arrays
  Array<Index> stream_input;  ///< offset of the tokens' inputs [I x tokens]

  /// Total lengths of the arrays that the offsets point into.
  struct Lengths {
    Index weights = 0, posterior = 0, column = 0, vector = 0, square = 0, matrix = 0, embedding = 0,
          inducing_embedding = 0, factor_square = 0, problem_square = 0, problem_vector = 0, problem_column = 0,
          problem_point = 0, problem_slot = 0, problem_tail = 0, tile_square = 0, tile_vector = 0, task_square = 0,
          task_vector = 0, task_embedding = 0, task_tail = 0, input = 0, inducing_input = 0, slot = 0, token = 0,
          token_input = 0, piece_gradient = 0;
  } lengths;
};

/// Columns in a tile: long enough for the vendor's BLAS on a host, short enough for many teams on a device.
int tile_columns();

/// Lays a batch out. Realisations must be ordered by client.
Batch make_batch(const std::vector<ClientExtent>& clients, const std::vector<RealisationExtent>& realisations);

/// Its sizes alone, without arrays and without a device.
Batch batch_sizes(const std::vector<ClientExtent>& clients, const std::vector<RealisationExtent>& realisations);

/// Bytes of k, V, h and dJ/dh of a realisation with n columns, by which chunks are cut.
inline double chunk_bytes(int samples, int columns, int inducing, int dimension) {
  return 16.0 * samples * columns * (inducing + dimension);
}
/// Whether a chunk of so many bytes takes one more realisation: always on a device.
bool chunk_takes_more(double bytes, double thread_bytes = 1e6);

/// The batch in chunks, in order: on a host of about so many bytes of k, V, h and dJ/dh a thread that what a step
/// writes is in a cache when the next one reads it (bench/history.md); on a device the whole batch, one launch a step.
std::vector<Batch> chunks_of(const Batch& batch, double thread_bytes = 1e6);

}  // namespace fedpp::gpu
