#include "gpu/batch.hpp"

#include <algorithm>
#include <cassert>

#include "gpu/arrays.hpp"

namespace fedpp::gpu {

int tile_columns() { return kHostBackend ? 256 : 64; }

namespace {

/// Splits `columns` evenly into tiles of at most tile_columns().
std::vector<int> tile_sizes(int columns) {
  const int count = (columns + tile_columns() - 1) / tile_columns();
  std::vector<int> sizes;
  for (int k = 0; k < count; ++k)
    sizes.push_back(
        static_cast<int>(static_cast<Index>(columns) * (k + 1) / count - static_cast<Index>(columns) * k / count));
  return sizes;
}

/// Returns the running total before adding.
Index advance(Index& total, Index by) {
  const Index before = total;
  total += by;
  return before;
}

}  // namespace

Batch make_batch(const std::vector<ClientExtent>& clients, const std::vector<RealisationExtent>& realisations) {
  using Ints = std::vector<int>;
  using Offsets = std::vector<Index>;
  Batch batch;
  auto& total = batch.lengths;

  Ints samples, parameters, client_tiles{0}, client_realisations{0};
  std::vector<Encoder> encoders;
  Offsets weights, posterior;
  if (!clients.empty()) batch.precision = clients.front().precision;
  for (const auto& c : clients) {
    assert(c.precision == batch.precision);
    const int p = c.encoder.parameters();
    samples.push_back(c.samples);
    parameters.push_back(p);
    encoders.push_back(c.encoder);
    weights.push_back(advance(total.weights, static_cast<Index>(c.samples) * p));
    posterior.push_back(advance(total.posterior, p));
    batch.by_chunks = batch.by_chunks && encoder_family(c.encoder.kind).by_chunks();
    batch.most_width = std::max(batch.most_width, c.encoder.dimension);
    batch.most_inputs = std::max(batch.most_inputs, c.encoder.inputs);
    batch.most_samples = std::max(batch.most_samples, c.samples);
    batch.most_weights = std::max(batch.most_weights, c.encoder.weights());
    batch.most_parameters = std::max(batch.most_parameters, p);
  }

  Ints client, inducing, columns, first_problem, tile_begin{0};
  Offsets column, vector, square;
  Ints problem_realisation, problem_sample, factor_of, factor_problem;
  Offsets matrix, embedding, inducing_embedding, factor_square, problem_square, problem_vector, problem_column,
      problem_point, problem_slot, problem_tail;
  Offsets input, inducing_input, slot;
  Ints stream_begin{0}, stream_realisation, stream_tokens, stream_slot, client_pieces{0};
  Offsets stream_token, stream_input;
  Ints piece_realisation, piece_tile, piece_first, piece_points, piece_task, piece_of_task, piece_sample;
  Offsets piece_gradient;
  Ints tile_realisation, tile_first, tile_size, tile_task;
  Offsets tile_square, tile_vector;
  Ints task_tile, task_sample;
  Offsets task_square, task_vector, task_embedding, task_tail;
  for (int i = 0; i < static_cast<int>(realisations.size()); ++i) {
    const auto& r = realisations[i];
    const auto& c = clients.at(r.client);
    assert(r.inducing >= 1 && (i == 0 || realisations[i - 1].client <= r.client));
    const Index m = r.inducing, d = c.encoder.dimension, n = r.columns, inputs = c.encoder.inputs;
    while (static_cast<int>(client_tiles.size()) <= r.client) {  // clients without realisations in between
      client_tiles.push_back(static_cast<int>(tile_realisation.size()));
      client_realisations.push_back(i);
      client_pieces.push_back(static_cast<int>(piece_realisation.size()));
    }
    client.push_back(r.client);
    inducing.push_back(r.inducing);
    columns.push_back(static_cast<int>(n));
    column.push_back(advance(total.column, n));
    vector.push_back(advance(total.vector, m));
    square.push_back(advance(total.square, m * m));
    input.push_back(advance(total.input, inputs * n));
    inducing_input.push_back(advance(total.inducing_input, inputs * m));
    Index passed = 0;
    for (const int length : r.streams) {
      stream_realisation.push_back(i);
      stream_tokens.push_back(length);
      stream_slot.push_back(static_cast<int>(passed));
      stream_token.push_back(advance(total.token, length));
      stream_input.push_back(advance(total.token_input, inputs * length));
      passed += length + 1;
    }
    stream_begin.push_back(static_cast<int>(stream_tokens.size()));
    slot.push_back(advance(total.slot, passed));
    first_problem.push_back(static_cast<int>(problem_realisation.size()));
    for (int s = 0; s < c.samples; ++s) {
      problem_realisation.push_back(i);
      problem_sample.push_back(s);
      matrix.push_back(advance(total.matrix, m * n));
      embedding.push_back(advance(total.embedding, d * n));
      if (r.shares_inducing) {
        assert(i > 0 && realisations[i - 1].client == r.client && realisations[i - 1].inducing == r.inducing);
        factor_of.push_back(factor_of[factor_of.size() - c.samples]);
      } else {
        factor_of.push_back(static_cast<int>(factor_problem.size()));
        factor_problem.push_back(static_cast<int>(problem_realisation.size()) - 1);
        inducing_embedding.push_back(advance(total.inducing_embedding, d * m));
        factor_square.push_back(advance(total.factor_square, m * m));
      }
      problem_square.push_back(advance(total.problem_square, m * m));
      problem_vector.push_back(advance(total.problem_vector, m));
      problem_column.push_back(advance(total.problem_column, n));
      problem_point.push_back(advance(total.problem_point, n + m));
      problem_slot.push_back(advance(total.problem_slot, passed));
      problem_tail.push_back(advance(total.problem_tail, c.encoder.tail()));
    }
    const auto add_piece = [&](int tile, int first_point, int points) {
      piece_realisation.push_back(i);
      piece_tile.push_back(tile);
      piece_first.push_back(first_point);
      piece_points.push_back(points);
      batch.most_piece = std::max(batch.most_piece, points);
      piece_task.push_back(static_cast<int>(piece_of_task.size()));
      for (int s = 0; s < c.samples; ++s) {
        piece_of_task.push_back(static_cast<int>(piece_realisation.size()) - 1);
        piece_sample.push_back(s);
        piece_gradient.push_back(advance(total.piece_gradient, c.encoder.weights()));
      }
    };
    int first = 0;
    for (const int size : tile_sizes(static_cast<int>(n))) {
      const int tile = static_cast<int>(tile_realisation.size());
      tile_realisation.push_back(i);
      tile_first.push_back(first);
      tile_size.push_back(size);
      tile_task.push_back(static_cast<int>(task_tile.size()));
      tile_square.push_back(advance(total.tile_square, m * m));
      tile_vector.push_back(advance(total.tile_vector, m));
      for (int s = 0; s < c.samples; ++s) {
        task_tile.push_back(tile);
        task_sample.push_back(s);
        task_square.push_back(advance(total.task_square, m * m));
        task_vector.push_back(advance(total.task_vector, m));
        task_embedding.push_back(advance(total.task_embedding, d * m));
        task_tail.push_back(advance(total.task_tail, c.encoder.tail()));
      }
      add_piece(tile, first, size);
      first += size;
      batch.most_tile = std::max(batch.most_tile, size);
    }
    first = 0;
    if (!r.shares_inducing)
      for (const int size : tile_sizes(r.inducing)) {
        add_piece(-1, first, size);
        first += size;
      }
    tile_begin.push_back(static_cast<int>(tile_realisation.size()));
    batch.most_inducing = std::max(batch.most_inducing, r.inducing);
  }
  Ints set_end(realisations.size());
  for (int i = static_cast<int>(realisations.size()) - 1; i >= 0; --i) {
    const bool goes_on = i + 1 < static_cast<int>(realisations.size()) && realisations[i + 1].shares_inducing;
    set_end[i] = goes_on ? set_end[i + 1] : i + 1;
  }
  while (client_tiles.size() <= clients.size()) {
    client_tiles.push_back(static_cast<int>(tile_realisation.size()));
    client_realisations.push_back(static_cast<int>(realisations.size()));
    client_pieces.push_back(static_cast<int>(piece_realisation.size()));
  }

  batch.clients = static_cast<int>(clients.size());
  batch.realisations = static_cast<int>(realisations.size());
  batch.problems = static_cast<int>(problem_realisation.size());
  batch.factors = static_cast<int>(factor_problem.size());
  batch.tiles = static_cast<int>(tile_realisation.size());
  batch.tasks = static_cast<int>(task_tile.size());
  batch.pieces = static_cast<int>(piece_realisation.size());
  batch.piece_tasks = static_cast<int>(piece_of_task.size());
  batch.streams = static_cast<int>(stream_tokens.size());

  ArraySet<Encoder> of_clients;
  of_clients.upload("encoder", batch.encoder, encoders);
  of_clients.make("encoders");
  ArraySet<int> ints;
  ArraySet<Index> offsets;
  ints.upload("samples", batch.samples, samples);
  ints.upload("parameters", batch.parameters, parameters);
  offsets.upload("weights", batch.weights, weights);
  offsets.upload("posterior", batch.posterior, posterior);
  ints.upload("client_tiles", batch.client_tiles, client_tiles);
  ints.upload("client_realisations", batch.client_realisations, client_realisations);
  ints.upload("client", batch.client, client);
  ints.upload("inducing", batch.inducing, inducing);
  ints.upload("columns", batch.columns, columns);
  ints.upload("problem", batch.problem, first_problem);
  ints.upload("set_end", batch.set_end, set_end);
  ints.upload("tile_begin", batch.tile_begin, tile_begin);
  offsets.upload("column", batch.column, column);
  offsets.upload("vector", batch.vector, vector);
  offsets.upload("square", batch.square, square);
  ints.upload("problem_realisation", batch.problem_realisation, problem_realisation);
  ints.upload("problem_sample", batch.problem_sample, problem_sample);
  offsets.upload("matrix", batch.matrix, matrix);
  offsets.upload("embedding", batch.embedding, embedding);
  ints.upload("factor_of", batch.factor_of, factor_of);
  ints.upload("factor_problem", batch.factor_problem, factor_problem);
  offsets.upload("inducing_embedding", batch.inducing_embedding, inducing_embedding);
  offsets.upload("factor_square", batch.factor_square, factor_square);
  offsets.upload("problem_square", batch.problem_square, problem_square);
  offsets.upload("problem_vector", batch.problem_vector, problem_vector);
  offsets.upload("problem_column", batch.problem_column, problem_column);
  offsets.upload("problem_point", batch.problem_point, problem_point);
  offsets.upload("problem_slot", batch.problem_slot, problem_slot);
  offsets.upload("problem_tail", batch.problem_tail, problem_tail);
  ints.upload("tile_realisation", batch.tile_realisation, tile_realisation);
  ints.upload("tile_first", batch.tile_first, tile_first);
  ints.upload("tile_columns", batch.tile_columns, tile_size);
  ints.upload("tile_task", batch.tile_task, tile_task);
  offsets.upload("tile_square", batch.tile_square, tile_square);
  offsets.upload("tile_vector", batch.tile_vector, tile_vector);
  ints.upload("task_tile", batch.task_tile, task_tile);
  ints.upload("task_sample", batch.task_sample, task_sample);
  offsets.upload("task_square", batch.task_square, task_square);
  offsets.upload("task_vector", batch.task_vector, task_vector);
  offsets.upload("task_embedding", batch.task_embedding, task_embedding);
  offsets.upload("task_tail", batch.task_tail, task_tail);
  ints.upload("client_pieces", batch.client_pieces, client_pieces);
  offsets.upload("input", batch.input, input);
  offsets.upload("inducing_input", batch.inducing_input, inducing_input);
  offsets.upload("slot", batch.slot, slot);
  ints.upload("piece_realisation", batch.piece_realisation, piece_realisation);
  ints.upload("piece_tile", batch.piece_tile, piece_tile);
  ints.upload("piece_first", batch.piece_first, piece_first);
  ints.upload("piece_points", batch.piece_points, piece_points);
  ints.upload("piece_task", batch.piece_task, piece_task);
  ints.upload("piece_of_task", batch.piece_of_task, piece_of_task);
  ints.upload("piece_sample", batch.piece_sample, piece_sample);
  offsets.upload("piece_gradient", batch.piece_gradient, piece_gradient);
  ints.upload("stream_begin", batch.stream_begin, stream_begin);
  ints.upload("stream_realisation", batch.stream_realisation, stream_realisation);
  ints.upload("stream_tokens", batch.stream_tokens, stream_tokens);
  ints.upload("stream_slot", batch.stream_slot, stream_slot);
  offsets.upload("stream_token", batch.stream_token, stream_token);
  offsets.upload("stream_input", batch.stream_input, stream_input);
  ints.make("batch_ints");
  offsets.make("batch_offsets");
  return batch;
}

bool chunk_takes_more(double bytes, double thread_bytes) {
  return !kHostBackend || bytes < thread_bytes * Exec().concurrency();
}

std::vector<Batch> chunks_of(const Batch& batch, double thread_bytes) {
  if (!kHostBackend) return {batch};
  std::vector<Batch> chunks;
  Batch::First next;
  int piece = 0;
  while (next.realisation < batch.realisations) {
    Batch chunk = batch;
    chunk.first = next;
    chunk.first.factor = batch.factor_of(next.problem);
    double bytes = 0;
    for (; next.realisation < batch.realisations && chunk_takes_more(bytes, thread_bytes); ++next.realisation) {
      const int i = next.realisation, client = batch.client(i), samples = batch.samples(client);
      const int tiles = batch.tile_begin(i + 1) - batch.tile_begin(i);
      bytes += chunk_bytes(samples, batch.columns(i), batch.inducing(i), batch.encoder(client).dimension);
      next.problem += samples;
      next.tile += tiles;
      next.task += tiles * samples;
      for (; piece < batch.pieces && batch.piece_realisation(piece) == i; ++piece) next.piece_task += samples;
    }
    chunk.realisations = next.realisation - chunk.first.realisation;
    chunk.problems = next.problem - chunk.first.problem;
    chunk.factors = batch.factor_of(next.problem - 1) + 1 - chunk.first.factor;
    chunk.tiles = next.tile - chunk.first.tile;
    chunk.tasks = next.task - chunk.first.task;
    chunk.piece_tasks = next.piece_task - chunk.first.piece_task;
    chunks.push_back(chunk);
  }
  return chunks;
}

}  // namespace fedpp::gpu
