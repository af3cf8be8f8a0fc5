#include "gpu/fields.hpp"

#include <numeric>

#include "gpu/team.hpp"

namespace fedpp::gpu {

namespace {
Array<double> doubles(const std::string& label, Index n) {
  return Array<double>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), static_cast<std::size_t>(n));
}
}  // namespace

Fields make_fields(const Batch& batch, bool with_gradient) {
  const auto& n = batch.lengths;
  Fields f;
  f.input = doubles("input", n.input);
  f.multiplicity = doubles("multiplicity", n.column);
  f.node_weight = doubles("node_weight", n.column);
  f.inducing_input = doubles("inducing_input", n.inducing_input);
  f.client_id = Array<std::int64_t>("client_id", batch.clients);
  f.least_events = Array<double>("least_events", batch.clients);
  f.base_jitter = Array<double>("base_jitter", batch.clients);
  f.mean = doubles("mean", n.posterior);
  f.sd = doubles("sd", n.posterior);
  f.noise = doubles("noise", n.weights);
  f.weights = doubles("weights", n.weights);
  f.v_mean = Array<double>("v_mean", n.vector);
  f.v_factor = Array<double>("v_factor", n.square);
  f.v_divergence = Array<double>("v_divergence", batch.realisations);
  f.rate = Array<double>("rate", batch.clients);
  f.offset = Array<double>("offset", batch.clients);
  f.offset_center = Array<double>("offset_center", batch.clients);
  f.tile_scale = Array<double>("tile_scale", batch.tiles);
  Kokkos::deep_copy(f.tile_scale, 1.0);
  f.inducing_embedding = doubles("inducing_embedding", n.inducing_embedding);
  f.kzz = doubles("kzz", n.factor_square);
  f.inverse = doubles("inverse", n.factor_square);
  f.jitter = Array<double>("jitter", batch.problems);
  f.info = Array<int>("info", batch.problems);
  f.pivot = Array<double>("pivot", batch.problems);
  f.embedding = doubles("embedding", n.embedding);
  if (batch.precision == Precision::kMixed) {
    f.k_single = Array<float>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "k"), n.matrix);
    f.v_single = Array<float>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "v"), n.matrix);
  } else {
    f.k = doubles("k", n.matrix);
    f.v = doubles("v", n.matrix);
  }
  f.unexplained = doubles("unexplained", n.problem_column);
  f.trend = doubles("trend", n.problem_column);
  f.projection = doubles("projection", n.problem_column);
  f.variance = doubles("variance", n.problem_column);
  for (auto* a : {&f.c, &f.xi, &f.alpha, &f.beta, &f.lambda}) *a = doubles("augmentation", n.column);
  f.tile_sums = doubles("tile_sums", static_cast<Index>(batch.tiles) * kTileSums);
  f.elbo = Array<double>("elbo", batch.clients);
  f.surrogate = Array<double>("surrogate", batch.problems);
  f.tile_square = doubles("tile_square", n.tile_square);
  f.tile_vector = doubles("tile_vector", n.tile_vector);
  if (with_gradient) {
    f.step_taken = Array<int>("step_taken", batch.clients);
    Kokkos::deep_copy(f.step_taken, 1);
    f.explained = doubles("explained", n.square);
    f.b_square = doubles("b_square", n.problem_square);
    f.b_vector = doubles("b_vector", n.problem_vector);
    f.task_square = doubles("task_square", n.task_square);
    f.task_vector = doubles("task_vector", n.task_vector);
    f.task_rowsum = doubles("task_rowsum", n.task_vector);
    f.task_embedding = doubles("task_embedding", n.task_embedding);
    f.task_tail = doubles("task_tail", n.task_tail);
    f.problem_tail = doubles("problem_tail", n.problem_tail);
    f.set_square = doubles("set_square", n.factor_square);
    f.set_rowsum = doubles("set_rowsum", n.problem_vector);
    f.embedding_adjoint = doubles("embedding_adjoint", n.embedding);
    f.inducing_embedding_adjoint = doubles("inducing_embedding_adjoint", n.inducing_embedding);
    f.piece_gradient = doubles("piece_gradient", n.piece_gradient);
    f.gradient = doubles("gradient", n.weights);
  }
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
  Index total =
      1 + n * (7 + inputs) + m * (1 + inputs) + tokens * (1 + inputs) + m * m +
      s * (own * (2 * m * m + d * m) + d * n + (client.precision == Precision::kMixed ? 1 : 2) * m * n + 4 * n) +
      tiles * (m * m + m + kTileSums);
  total +=
      s * encoder_family(client.encoder.kind).workspace(client.encoder, tokens, streams, n + m, pieces, with_gradient);
  if (with_gradient)
    total += m * m + s * (m * m + 2 * m + own * (m * m + d * m) + d * n +
                          tiles * (m * m + 2 * m + d * m + client.encoder.tail()) + client.encoder.tail() +
                          pieces * client.encoder.weights());
  return total;
}

}  // namespace fedpp::gpu
