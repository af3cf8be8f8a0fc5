#include "gpu/batch.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

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

/// The arrays of a Batch as they grow, client after client and realisation after realisation.
class BatchLists {
 public:
  BatchLists(const std::vector<ClientExtent>& clients, const std::vector<RealisationExtent>& realisations)
      : clients_(clients), realisations_(realisations) {
    if (!clients.empty()) batch_.precision = clients.front().precision;
    for (const auto& c : clients) add_client(c);
    for (int i = 0; i < static_cast<int>(realisations.size()); ++i) add_realisation(i);
    begin_clients_until(static_cast<int>(clients.size()));
    find_set_ends();
    batch_.clients = static_cast<int>(clients.size());
    batch_.realisations = static_cast<int>(realisations.size());
    batch_.problems = size(problem_realisation_);
    batch_.factors = size(factor_problem_);
    batch_.tiles = size(tile_realisation_);
    batch_.tasks = size(task_tile_);
    batch_.pieces = size(piece_realisation_);
    batch_.piece_tasks = size(piece_of_task_);
    batch_.streams = size(stream_tokens_);
    batch_.most_realisations = longest(client_realisations_);
    batch_.most_tiles = longest(tile_begin_);
  }

  BatchLists(const BatchLists&) = delete;  // it counts into its own batch

  const Batch& sizes() const { return batch_; }

  Batch uploaded() && {
    ArraySet<Encoder> of_clients;
    of_clients.upload("encoder", batch_.encoder, encoders_);
    of_clients.make("encoders");
    ArraySet<int> ints;
    ArraySet<Index> offsets;
    ints.upload("samples", batch_.samples, samples_);
    ints.upload("parameters", batch_.parameters, parameters_);
    offsets.upload("weights", batch_.weights, weights_);
    offsets.upload("posterior", batch_.posterior, posterior_);
    ints.upload("client_tiles", batch_.client_tiles, client_tiles_);
    ints.upload("client_realisations", batch_.client_realisations, client_realisations_);
    ints.upload("client", batch_.client, client_);
    ints.upload("inducing", batch_.inducing, inducing_);
    ints.upload("columns", batch_.columns, columns_);
    ints.upload("problem", batch_.problem, first_problem_);
    ints.upload("set_end", batch_.set_end, set_end_);
    ints.upload("tile_begin", batch_.tile_begin, tile_begin_);
    offsets.upload("column", batch_.column, column_);
    offsets.upload("vector", batch_.vector, vector_);
    offsets.upload("square", batch_.square, square_);
    ints.upload("problem_realisation", batch_.problem_realisation, problem_realisation_);
    ints.upload("problem_sample", batch_.problem_sample, problem_sample_);
    offsets.upload("matrix", batch_.matrix, matrix_);
    offsets.upload("embedding", batch_.embedding, embedding_);
    ints.upload("factor_of", batch_.factor_of, factor_of_);
    ints.upload("factor_problem", batch_.factor_problem, factor_problem_);
    offsets.upload("inducing_embedding", batch_.inducing_embedding, inducing_embedding_);
    offsets.upload("factor_square", batch_.factor_square, factor_square_);
    offsets.upload("problem_square", batch_.problem_square, problem_square_);
    offsets.upload("problem_vector", batch_.problem_vector, problem_vector_);
    offsets.upload("problem_column", batch_.problem_column, problem_column_);
    offsets.upload("problem_point", batch_.problem_point, problem_point_);
    offsets.upload("problem_slot", batch_.problem_slot, problem_slot_);
    offsets.upload("problem_tail", batch_.problem_tail, problem_tail_);
    ints.upload("tile_realisation", batch_.tile_realisation, tile_realisation_);
    ints.upload("tile_first", batch_.tile_first, tile_first_);
    ints.upload("tile_columns", batch_.tile_columns, tile_columns_);
    ints.upload("tile_task", batch_.tile_task, tile_task_);
    offsets.upload("tile_square", batch_.tile_square, tile_square_);
    offsets.upload("tile_vector", batch_.tile_vector, tile_vector_);
    ints.upload("task_tile", batch_.task_tile, task_tile_);
    ints.upload("task_sample", batch_.task_sample, task_sample_);
    offsets.upload("task_square", batch_.task_square, task_square_);
    offsets.upload("task_vector", batch_.task_vector, task_vector_);
    offsets.upload("task_embedding", batch_.task_embedding, task_embedding_);
    offsets.upload("task_tail", batch_.task_tail, task_tail_);
    ints.upload("client_pieces", batch_.client_pieces, client_pieces_);
    offsets.upload("input", batch_.input, input_);
    offsets.upload("inducing_input", batch_.inducing_input, inducing_input_);
    offsets.upload("slot", batch_.slot, slot_);
    ints.upload("piece_realisation", batch_.piece_realisation, piece_realisation_);
    ints.upload("piece_tile", batch_.piece_tile, piece_tile_);
    ints.upload("piece_first", batch_.piece_first, piece_first_);
    ints.upload("piece_points", batch_.piece_points, piece_points_);
    ints.upload("piece_task", batch_.piece_task, piece_task_);
    ints.upload("piece_of_task", batch_.piece_of_task, piece_of_task_);
    ints.upload("piece_sample", batch_.piece_sample, piece_sample_);
    offsets.upload("piece_gradient", batch_.piece_gradient, piece_gradient_);
    ints.upload("stream_begin", batch_.stream_begin, stream_begin_);
    ints.upload("stream_realisation", batch_.stream_realisation, stream_realisation_);
    ints.upload("stream_tokens", batch_.stream_tokens, stream_tokens_);
    ints.upload("stream_slot", batch_.stream_slot, stream_slot_);
    offsets.upload("stream_token", batch_.stream_token, stream_token_);
    offsets.upload("stream_input", batch_.stream_input, stream_input_);
    ints.make("batch_ints");
    offsets.make("batch_offsets");
    return std::move(batch_);
  }

 private:
  using Ints = std::vector<int>;
  using Offsets = std::vector<Index>;

  /// The most that lie between neighbouring beginnings.
  static int longest(const Ints& begins) {
    int most = 0;
    for (std::size_t k = 1; k < begins.size(); ++k) most = std::max(most, begins[k] - begins[k - 1]);
    return most;
  }

  static int size(const Ints& list) { return static_cast<int>(list.size()); }

  void add_client(const ClientExtent& c) {
    assert(c.precision == batch_.precision);
    const int p = c.encoder.parameters;
    samples_.push_back(c.samples);
    parameters_.push_back(p);
    encoders_.push_back(c.encoder);
    weights_.push_back(advance(total_.weights, static_cast<Index>(c.samples) * p));
    posterior_.push_back(advance(total_.posterior, p));
    batch_.by_chunks = batch_.by_chunks && encoder_family(c.encoder.kind).by_chunks();
    batch_.most_width = std::max(batch_.most_width, c.encoder.dimension);
    batch_.most_inputs = std::max(batch_.most_inputs, c.encoder.inputs);
    batch_.most_samples = std::max(batch_.most_samples, c.samples);
    batch_.most_weights = std::max(batch_.most_weights, c.encoder.weights);
    batch_.most_parameters = std::max(batch_.most_parameters, p);
  }

  /// Clients up to this one that have no beginning yet begin here: those passed over have no realisations.
  void begin_clients_until(int client) {
    while (size(client_tiles_) <= client) {
      client_tiles_.push_back(size(tile_realisation_));
      client_realisations_.push_back(size(client_));
      client_pieces_.push_back(size(piece_realisation_));
    }
  }

  void add_realisation(int i) {
    const auto& r = realisations_[i];
    const auto& c = clients_.at(r.client);
    assert(r.inducing >= 1 && (i == 0 || realisations_[i - 1].client <= r.client));
    const Index m = r.inducing, n = r.columns, inputs = c.encoder.inputs;
    begin_clients_until(r.client);
    client_.push_back(r.client);
    inducing_.push_back(r.inducing);
    columns_.push_back(static_cast<int>(n));
    column_.push_back(advance(total_.column, n));
    vector_.push_back(advance(total_.vector, m));
    square_.push_back(advance(total_.square, m * m));
    input_.push_back(advance(total_.input, inputs * n));
    inducing_input_.push_back(advance(total_.inducing_input, inputs * m));
    batch_.most_inducing = std::max(batch_.most_inducing, r.inducing);
    const Index slots = add_streams(i);
    slot_.push_back(advance(total_.slot, slots));
    first_problem_.push_back(size(problem_realisation_));
    for (int s = 0; s < c.samples; ++s) add_problem(i, s, slots);
    add_tiles(i);
    if (!r.shares_inducing) add_inducing_pieces(i);
  }

  /// Returns the slots of all streams: a state before each token, and one after the last.
  Index add_streams(int i) {
    const auto& r = realisations_[i];
    const Index inputs = clients_[r.client].encoder.inputs;
    Index passed = 0;
    for (const int length : r.streams) {
      stream_realisation_.push_back(i);
      stream_tokens_.push_back(length);
      stream_slot_.push_back(static_cast<int>(passed));
      stream_token_.push_back(advance(total_.token, length));
      stream_input_.push_back(advance(total_.token_input, inputs * length));
      passed += length + 1;
    }
    stream_begin_.push_back(size(stream_tokens_));
    return passed;
  }

  void add_problem(int i, int sample, Index slots) {
    const auto& r = realisations_[i];
    const auto& c = clients_[r.client];
    const Index m = r.inducing, d = c.encoder.dimension, n = r.columns;
    problem_realisation_.push_back(i);
    problem_sample_.push_back(sample);
    matrix_.push_back(advance(total_.matrix, m * n));
    embedding_.push_back(advance(total_.embedding, d * n));
    if (r.shares_inducing) {
      assert(i > 0 && realisations_[i - 1].client == r.client && realisations_[i - 1].inducing == r.inducing);
      factor_of_.push_back(factor_of_[factor_of_.size() - c.samples]);
    } else {
      factor_of_.push_back(size(factor_problem_));
      factor_problem_.push_back(size(problem_realisation_) - 1);
      inducing_embedding_.push_back(advance(total_.inducing_embedding, d * m));
      factor_square_.push_back(advance(total_.factor_square, m * m));
    }
    problem_square_.push_back(advance(total_.problem_square, m * m));
    problem_vector_.push_back(advance(total_.problem_vector, m));
    problem_column_.push_back(advance(total_.problem_column, n));
    problem_point_.push_back(advance(total_.problem_point, n + m));
    problem_slot_.push_back(advance(total_.problem_slot, slots));
    problem_tail_.push_back(advance(total_.problem_tail, c.encoder.tail));
  }

  void add_tiles(int i) {
    const auto& r = realisations_[i];
    const auto& c = clients_[r.client];
    const Index m = r.inducing, d = c.encoder.dimension;
    int first = 0;
    for (const int columns : tile_sizes(r.columns)) {
      const int tile = size(tile_realisation_);
      tile_realisation_.push_back(i);
      tile_first_.push_back(first);
      tile_columns_.push_back(columns);
      tile_task_.push_back(size(task_tile_));
      tile_square_.push_back(advance(total_.tile_square, m * m));
      tile_vector_.push_back(advance(total_.tile_vector, m));
      for (int s = 0; s < c.samples; ++s) {
        task_tile_.push_back(tile);
        task_sample_.push_back(s);
        task_square_.push_back(advance(total_.task_square, m * m));
        task_vector_.push_back(advance(total_.task_vector, m));
        task_embedding_.push_back(advance(total_.task_embedding, d * m));
        task_tail_.push_back(advance(total_.task_tail, c.encoder.tail));
      }
      add_piece(i, tile, first, columns);
      first += columns;
      batch_.most_tile = std::max(batch_.most_tile, columns);
    }
    tile_begin_.push_back(size(tile_realisation_));
  }

  void add_inducing_pieces(int i) {
    int first = 0;
    for (const int points : tile_sizes(realisations_[i].inducing)) {
      add_piece(i, -1, first, points);
      first += points;
    }
  }

  void add_piece(int i, int tile, int first, int points) {
    const auto& c = clients_[realisations_[i].client];
    piece_realisation_.push_back(i);
    piece_tile_.push_back(tile);
    piece_first_.push_back(first);
    piece_points_.push_back(points);
    batch_.most_piece = std::max(batch_.most_piece, points);
    piece_task_.push_back(size(piece_of_task_));
    for (int s = 0; s < c.samples; ++s) {
      piece_of_task_.push_back(size(piece_realisation_) - 1);
      piece_sample_.push_back(s);
      piece_gradient_.push_back(advance(total_.piece_gradient, c.encoder.weights));
    }
  }

  void find_set_ends() {
    set_end_.resize(realisations_.size());
    for (int i = static_cast<int>(realisations_.size()) - 1; i >= 0; --i) {
      const bool goes_on = i + 1 < static_cast<int>(realisations_.size()) && realisations_[i + 1].shares_inducing;
      set_end_[i] = goes_on ? set_end_[i + 1] : i + 1;
    }
  }

  const std::vector<ClientExtent>& clients_;
  const std::vector<RealisationExtent>& realisations_;
  Batch batch_;
  Batch::Lengths& total_ = batch_.lengths;
  std::vector<Encoder> encoders_;
  // Of clients, realisations, problems and factors.
  Ints samples_, parameters_, client_tiles_{0}, client_realisations_{0}, client_pieces_{0};
  Offsets weights_, posterior_;
  Ints client_, inducing_, columns_, first_problem_, set_end_, tile_begin_{0};
  Offsets column_, vector_, square_, input_, inducing_input_, slot_;
  Ints problem_realisation_, problem_sample_, factor_of_, factor_problem_;
  Offsets matrix_, embedding_, inducing_embedding_, factor_square_, problem_square_, problem_vector_, problem_column_,
      problem_point_, problem_slot_, problem_tail_;
  // Of streams, tiles and their tasks, pieces and their tasks.
  Ints stream_begin_{0}, stream_realisation_, stream_tokens_, stream_slot_;
  Offsets stream_token_, stream_input_;
  Ints tile_realisation_, tile_first_, tile_columns_, tile_task_, task_tile_, task_sample_;
  Offsets tile_square_, tile_vector_, task_square_, task_vector_, task_embedding_, task_tail_;
  Ints piece_realisation_, piece_tile_, piece_first_, piece_points_, piece_task_, piece_of_task_, piece_sample_;
  Offsets piece_gradient_;
};

}  // namespace

Batch make_batch(const std::vector<ClientExtent>& clients, const std::vector<RealisationExtent>& realisations) {
  return BatchLists(clients, realisations).uploaded();
}

Batch batch_sizes(const std::vector<ClientExtent>& clients, const std::vector<RealisationExtent>& realisations) {
  return BatchLists(clients, realisations).sizes();
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
