// The ragged batch (client x realisation x Monte Carlo sample): extents and offsets of every array of the inference.
//
//   problem   one (realisation, sample): its own Cholesky factor of K(z,z) and its own V
//   tile      up to `tile_columns` columns (events and nodes) of one realisation: the unit of work and of partial sums,
//             the same for any batch that a realisation is part of
//   task      one (tile, sample)
//
// Extents may differ from client to client and from realisation to realisation in every dimension.
#pragma once

#include <vector>

#include "gpu/encoder.hpp"
#include "gpu/kokkos.hpp"

namespace fedpp::gpu {

/// Sizes of one client's part of a batch.
struct ClientExtent {
  int samples = 1;  ///< S
  Encoder encoder;  ///< fixes D and P
};

/// Sizes and points of one realisation.
struct RealisationExtent {
  int client = 0;    ///< index into the clients of the batch; realisations are ordered by it
  int inducing = 0;  ///< M >= 1
  int columns = 0;   ///< N + Q: distinct event times and quadrature nodes, in any order
};

/// Device-side extents and offsets; copied into kernels by value.
struct Batch {
  int clients = 0, realisations = 0, problems = 0, tiles = 0, tasks = 0;
  int most_inducing = 0, most_width = 0, most_tile = 0, most_inputs = 0;  ///< for sizes of scratch

  // [clients]
  Array<int> samples, parameters;
  Array<Encoder> encoder;
  Array<Index> weights;            ///< offset of w[S][P], also of its gradient and its noise
  Array<Index> posterior;          ///< offset of r[P], delta[P]
  Array<int> client_tiles;         ///< [clients + 1] first tile
  Array<int> client_realisations;  ///< [clients + 1] first realisation

  // [realisations]
  Array<int> client, inducing, columns, problem, tile_begin;  ///< problem: first one; tile_begin: [realisations + 1]
  Array<Index> column;                                        ///< offset of per-column arrays [N+Q]
  Array<Index> vector;                                        ///< offset of M-vectors (z, mu_v)
  Array<Index> square;                                        ///< offset of M x M matrices (F)

  // [problems]
  Array<int> problem_realisation, problem_sample;
  Array<Index> matrix;              ///< offset of V, K: [M x (N+Q)]
  Array<Index> embedding;           ///< offset of h at columns: [D x (N+Q)]
  Array<Index> inducing_embedding;  ///< offset of h at z: [D x M]
  Array<Index> problem_square;      ///< offset of K(z,z), L: [M x M]
  Array<Index> problem_vector;      ///< offset of M-vectors of a problem
  Array<Index> problem_column;      ///< offset of per-(sample, column) arrays
  Array<Index> problem_gradient;    ///< offset of P-vectors of a problem

  // [tiles]
  Array<int> tile_realisation, tile_first, tile_columns,
      tile_task;                          ///< first column within the realisation; first task
  Array<Index> tile_square, tile_vector;  ///< offsets of partial sums [M x M], [M]

  // [tasks]
  Array<int> task_tile, task_sample;
  Array<Index> task_square, task_vector, task_embedding,
      task_gradient;  ///< offsets of partial sums [M x M], [M], [D x M], [P]

  /// Total lengths of the arrays that the offsets point into.
  struct Lengths {
    Index weights = 0, posterior = 0, column = 0, vector = 0, square = 0, matrix = 0, embedding = 0,
          inducing_embedding = 0, problem_square = 0, problem_vector = 0, problem_column = 0, problem_gradient = 0,
          tile_square = 0, tile_vector = 0, task_square = 0, task_vector = 0, task_embedding = 0, task_gradient = 0;
  } lengths;
};

/// Columns in a tile: long enough for the vendor's BLAS on a host, short enough for many teams on a device.
int tile_columns();

/// Lays a batch out. Realisations must be ordered by client.
Batch make_batch(const std::vector<ClientExtent>& clients, const std::vector<RealisationExtent>& realisations);

}  // namespace fedpp::gpu
