#include "gpu/fields.hpp"

#include <algorithm>
#include <numeric>

#include "gpu/arrays.hpp"
#include "gpu/team.hpp"

namespace fedpp::gpu {

namespace {

/// Lengths of the arrays that only a chunk's own adjoint reads: of the largest of the chunks, or of the batch.
Batch::Lengths passing_lengths(const Batch& b, const std::vector<Batch>& chunks) {
  if (chunks.size() < 2) return b.lengths;  // as on a device, whose extents the host cannot read
  Batch::Lengths most;
  const auto grow = [](Index& longest, const Array<Index>& offset, int begin, int end, int count, Index total) {
    const auto at = [&](int k) { return k < count ? offset(k) : total; };
    longest = std::max(longest, at(end) - at(begin));
  };
  for (const Batch& c : chunks) {
    const auto& [realisation, problem, factor, tile, task, piece_task] = c.first;
    grow(most.square, b.square, realisation, realisation + c.realisations, b.realisations, b.lengths.square);
    grow(most.problem_square, b.problem_square, problem, problem + c.problems, b.problems, b.lengths.problem_square);
    grow(most.task_square, b.task_square, task, task + c.tasks, b.tasks, b.lengths.task_square);
    grow(most.task_embedding, b.task_embedding, task, task + c.tasks, b.tasks, b.lengths.task_embedding);
    grow(most.embedding, b.embedding, problem, problem + c.problems, b.problems, b.lengths.embedding);
  }
  if (!b.by_chunks) most.embedding = b.lengths.embedding;
  return most;
}

}  // namespace

Fields make_fields(const Batch& batch, bool with_gradient, const std::vector<Batch>& chunks) {
  const auto& n = batch.lengths;
  Fields f;
  ArraySet<double> doubles;
  ArraySet<float> floats;
  ArraySet<int> ints;
  ArraySet<std::int64_t> ids;
  ids.uninitialised("client_id", f.client_id, batch.clients);
  doubles.uninitialised("input", f.input, n.input);
  doubles.uninitialised("multiplicity", f.multiplicity, n.column);
  doubles.uninitialised("node_weight", f.node_weight, n.column);
  doubles.uninitialised("inducing_input", f.inducing_input, n.inducing_input);
  doubles.uninitialised("token_input", f.token_input, n.token_input);
  ints.uninitialised("slot", f.slot, n.column);
  ints.uninitialised("inducing_slot", f.inducing_slot, n.vector);
  ints.uninitialised("token_type", f.token_type, n.token);
  doubles.zeros("least_events", f.least_events, batch.clients);
  doubles.zeros("base_jitter", f.base_jitter, batch.clients);
  doubles.uninitialised("mean", f.mean, n.posterior);
  doubles.uninitialised("sd", f.sd, n.posterior);
  doubles.uninitialised("noise", f.noise, n.weights);
  doubles.uninitialised("weights", f.weights, n.weights);
  doubles.zeros("v_mean", f.v_mean, n.vector);
  doubles.zeros("v_factor", f.v_factor, n.square);
  doubles.zeros("v_divergence", f.v_divergence, batch.realisations);
  doubles.zeros("rate", f.rate, batch.clients);
  doubles.zeros("offset", f.offset, batch.clients);
  doubles.zeros("offset_center", f.offset_center, batch.clients);
  doubles.zeros("tile_scale", f.tile_scale, batch.tiles);
  doubles.uninitialised("inducing_embedding", f.inducing_embedding, n.inducing_embedding);
  doubles.uninitialised("kzz", f.kzz, n.factor_square);
  doubles.uninitialised("inverse", f.inverse, n.factor_square);
  doubles.zeros("jitter", f.jitter, batch.problems);
  ints.zeros("info", f.info, batch.problems);
  doubles.zeros("pivot", f.pivot, batch.problems);
  doubles.uninitialised("embedding", f.embedding, n.embedding);
  if (batch.precision == Precision::kMixed) {
    floats.uninitialised("k", f.k_single, n.matrix);
    floats.uninitialised("v", f.v_single, n.matrix);
  } else {
    doubles.uninitialised("k", f.k, n.matrix);
    doubles.uninitialised("v", f.v, n.matrix);
  }
  doubles.uninitialised("unexplained", f.unexplained, n.problem_column);
  doubles.uninitialised("trend", f.trend, n.problem_column);
  doubles.uninitialised("projection", f.projection, n.problem_column);
  doubles.uninitialised("variance", f.variance, n.problem_column);
  for (auto* a : {&f.c, &f.xi, &f.alpha, &f.beta, &f.lambda}) doubles.uninitialised("augmentation", *a, n.column);
  doubles.uninitialised("tile_sums", f.tile_sums, static_cast<Index>(batch.tiles) * kTileSums);
  doubles.zeros("elbo", f.elbo, batch.clients);
  doubles.zeros("surrogate", f.surrogate, batch.problems);
  doubles.uninitialised("tile_square", f.tile_square, n.tile_square);
  doubles.uninitialised("tile_vector", f.tile_vector, n.tile_vector);
  if (with_gradient) {
    ints.zeros("step_taken", f.step_taken, batch.clients);
    doubles.uninitialised("realisation_scale", f.realisation_scale, batch.realisations);
    const auto passing = passing_lengths(batch, chunks);
    doubles.uninitialised("explained", f.explained, passing.square);
    doubles.uninitialised("b_square", f.b_square, passing.problem_square);
    doubles.uninitialised("b_vector", f.b_vector, n.problem_vector);
    doubles.uninitialised("task_square", f.task_square, passing.task_square);
    doubles.uninitialised("task_vector", f.task_vector, n.task_vector);
    doubles.uninitialised("task_rowsum", f.task_rowsum, n.task_vector);
    doubles.uninitialised("task_embedding", f.task_embedding, passing.task_embedding);
    doubles.uninitialised("task_tail", f.task_tail, n.task_tail);
    doubles.uninitialised("problem_tail", f.problem_tail, n.problem_tail);
    doubles.uninitialised("set_square", f.set_square, n.factor_square);
    doubles.uninitialised("set_rowsum", f.set_rowsum, n.problem_vector);
    doubles.uninitialised("embedding_adjoint", f.embedding_adjoint, passing.embedding);
    doubles.uninitialised("inducing_embedding_adjoint", f.inducing_embedding_adjoint, n.inducing_embedding);
    doubles.uninitialised("piece_gradient", f.piece_gradient, n.piece_gradient);
    doubles.uninitialised("gradient", f.gradient, n.weights);
  }
  doubles.make("fields");
  floats.make("fields_single");
  ints.make("field_ints");
  ids.make("field_ids");
  Kokkos::deep_copy(f.tile_scale, 1.0);
  if (with_gradient) Kokkos::deep_copy(f.step_taken, 1);
  const Batch b = batch;
  const Fields g = f;
  Kokkos::parallel_for(
      "fedpp::fields::identity"_label, team_policy(Exec(), b.realisations), FEDPP_KERNEL(const Member& member) {
        const int i = member.league_rank();
        const int m = b.inducing(i);
        double* factor = g.v_factor.data() + b.square(i);
        team_for(member, m, [=](Index j) { factor[j * (m + 1)] = 1; });
      });
  return f;
}

void restart(const Fields& f) {
  for (const auto* zeros : {&f.v_divergence, &f.offset_center, &f.jitter, &f.pivot, &f.elbo, &f.surrogate})
    Kokkos::deep_copy(*zeros, 0.0);
  Kokkos::deep_copy(f.info, 0);
  Kokkos::deep_copy(f.tile_scale, 1.0);
  Kokkos::deep_copy(f.step_taken, 1);
}

Fields adjoint_fields(const Fields& fields, const Batch& chunk, bool with_columns) {
  Fields f = fields;
  if (!kHostBackend || chunk.problems == 0) return f;
  const auto begin_at = [](Array<double>& array, Index first) {
    array = Array<double>(array.data() - first, array.extent(0));
  };
  const auto& first = chunk.first;
  begin_at(f.explained, chunk.square(first.realisation));
  begin_at(f.b_square, chunk.problem_square(first.problem));
  if (chunk.tasks > 0) {
    begin_at(f.task_square, chunk.task_square(first.task));
    begin_at(f.task_embedding, chunk.task_embedding(first.task));
  }
  if (with_columns) begin_at(f.embedding_adjoint, chunk.embedding(first.problem));
  return f;
}

Index field_doubles(const ClientExtent& client, const RealisationExtent& realisation, bool with_gradient) {
  const Index m = realisation.inducing, n = realisation.columns, s = client.samples;
  const Index d = client.encoder.dimension, inputs = client.encoder.inputs;
  const Index tiles = (n + tile_columns() - 1) / tile_columns(), streams = realisation.streams.size();
  const Index own = realisation.shares_inducing ? 0 : 1;  // of what a set has once
  const Index pieces = tiles + own * ((m + tile_columns() - 1) / tile_columns());
  const Index tokens = std::accumulate(realisation.streams.begin(), realisation.streams.end(), Index{0});
  // In bytes: batch.hpp's extents of realisations, problems, factors, tiles, tasks, pieces, tasks of pieces and
  // streams, with what the fields have once for each.
  const Index extents = 84 + s * (104 + own * 20) + tiles * (40 + s * 40) + pieces * (20 + s * 16) + streams * 28;
  Index total =
      1 + extents / 8 + n * (7 + inputs) + m * (1 + inputs) + (n + m + 1) / 2 + tokens * (1 + inputs) + m * m +
      s * (own * (2 * m * m + d * m) + d * n + (client.precision == Precision::kMixed ? 1 : 2) * m * n + 4 * n) +
      tiles * (m * m + m + kTileSums);
  total +=
      s * encoder_family(client.encoder.kind).workspace(client.encoder, tokens, streams, n + m, pieces, with_gradient);
  if (with_gradient)
    total += 1 + s * (2 * m + own * (m * m + d * m) + tiles * (2 * m + client.encoder.tail) + client.encoder.tail +
                      pieces * client.encoder.weights + (encoder_family(client.encoder.kind).by_chunks() ? 0 : d * n));
  return total;
}

Index client_doubles(const ClientExtent& client, Index streams, bool with_gradient) {
  const Encoder& e = client.encoder;
  const Index p = e.parameters, s = client.samples;
  // Extents, m, nu, ELBO and such; the ends of a batch's arrays of offsets, which have one entry more than it has
  // parts.
  const Index own = static_cast<Index>(sizeof(Encoder) / sizeof(double)) + 144;
  return own + p * (2 + 2 * s + (with_gradient ? 9 + s : 0)) +
         s * encoder_family(e.kind).client_workspace(e, streams, with_gradient);
}

Index chunk_doubles(const ClientExtent& client, const RealisationExtent& realisation) {
  const Index m = realisation.inducing, n = realisation.columns, d = client.encoder.dimension;
  const Index tiles = (n + tile_columns() - 1) / tile_columns();
  return m * m + client.samples *
                     (m * m + tiles * (m * m + d * m) + (encoder_family(client.encoder.kind).by_chunks() ? d * n : 0));
}

}  // namespace fedpp::gpu
