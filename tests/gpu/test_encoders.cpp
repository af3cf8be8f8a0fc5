// Every encoder's batched embedding and adjoint against the plain reference, on ragged batches, and the adjoint against
// finite differences.
#include "gpu/encoder_checks.hpp"

namespace fedpp::encoder_tests {
namespace {

using test::host;

const auto kNames = [](const auto& test) { return name_of(test.param); };
INSTANTIATE_TEST_SUITE_P(kinds, Encoders,
                         testing::Values(Kind::kDeepKernel, Kind::kLstm, Kind::kAttention, Kind::kDecay), kNames);
INSTANTIATE_TEST_SUITE_P(kinds, HistoryEncoders, testing::Values(Kind::kLstm, Kind::kAttention, Kind::kDecay), kNames);

TEST_P(Encoders, agree_with_the_reference_on_a_ragged_batch) {
  expect_agreement(ragged_clients(GetParam(), 1), Directions::kFull);
}

TEST_P(Encoders, agree_with_the_reference_at_widths_around_a_warp) {
  expect_agreement(wide_clients(GetParam(), 2), Directions::kSome);
}

TEST(RbfEncoder, is_the_identity) {
  RandomClients random(3);
  const std::vector<Client> clients{random.client({Kind::kRbf, 1, 1, 1, 0, 0}, 2, {{{}, 300, 5}, {{}, 0, 1}}),
                                    random.client({Kind::kRbf, 1, 1, 1, 0, 0}, 1, {{{}, 3, 3}})};
  expect_agreement(clients, Directions::kFull, 0);
}

TEST_P(HistoryEncoders, agree_with_the_reference_at_every_length_of_a_stream) {
  for (const int tokens : {0, 1, 2, 31, 32, 33, 63, 64, 65, 129}) {
    SCOPED_TRACE("stream of " + std::to_string(tokens));
    RandomClients random(static_cast<unsigned>(tokens));
    expect_agreement({random.client({GetParam(), 6, 2, 2, 2, 3}, 1, {{{tokens}, 20, 3}})}, Directions::kSome);
    expect_agreement({random.client({GetParam(), 3, 1, 1, 0, 0}, 2, {{{tokens, tokens}, 20, 3}, {{tokens}, 2, 2}})},
                     Directions::kFull);
  }
}

TEST_P(HistoryEncoders, agree_with_the_reference_on_a_long_stream) {
  RandomClients random(4);
  expect_agreement({random.client({GetParam(), 32, 2, 2, 0, 0}, 1, {{{1000}, 60, 5}}),
                    random.client({GetParam(), 5, 1, 2, 2, 3}, 1, {{{1000, 3, 300}, 400, 5}})},
                   Directions::kSome);
}

/// Scores far beyond the range of exp, gates at 0 and 1.
TEST_P(HistoryEncoders, agree_with_the_reference_where_saturated) {
  RandomClients random(5);
  expect_agreement({random.client({GetParam(), 8, 1, 2, 2, 3}, 2, {{{50, 3}, 60, 5}}, 20)}, Directions::kFull, 1e-8,
                   1e-8);
}

/// The adjoint against the same device's forward, so that an error that reference and adjoint share would show.
TEST_P(Encoders, adjoint_agrees_with_finite_differences) {
  for (const auto& name : test::dense_names()) {
    const test::DenseChoice choice(name);
    auto clients = ragged_clients(GetParam(), 6);
    for (const auto& c : wide_clients(GetParam(), 6)) clients.push_back(c);
    const Device device(clients);
    device.embed();
    device.adjoint();
    const auto gradient = device.gradient(clients);
    const auto objective = [&](const Vector& weights) {
      device.set_weights(weights);
      device.embed();
      const auto at_columns = host(device.fields.embedding), at_inducing = host(device.fields.inducing_embedding);
      std::size_t column = 0, inducing = 0;
      std::vector<Vector> sums;
      for (const auto& c : clients) {
        sums.emplace_back(c.weights.size(), 0.0);
        for (const auto& r : c.realisations)
          for (std::size_t s = 0; s < c.weights.size(); ++s) {
            for (const double hbar : flat(r.columns.adjoint[s])) sums.back()[s] += hbar * at_columns[column++];
            for (const double hbar : flat(r.inducing.adjoint[s])) sums.back()[s] += hbar * at_inducing[inducing++];
          }
      }
      return sums;
    };
    Vector weights;
    for (const auto& c : clients) append(weights, flat(c.weights));
    RandomClients random(7);
    for (int k = 0; k < 3; ++k) {
      SCOPED_TRACE("direction " + std::to_string(k));
      const double step = 1e-5;
      const Vector direction = random.normals(weights.size());
      const auto at_steps = [&](int steps) {
        Vector moved = weights;
        for (std::size_t j = 0; j < weights.size(); ++j) moved[j] += steps * step * direction[j];
        return objective(moved);
      };
      // Five points: a direction of all weights is long, and the error of two, in its square, not small.
      const auto one = at_steps(1), minus_one = at_steps(-1), two = at_steps(2), minus_two = at_steps(-2);
      std::size_t at = 0;
      for (std::size_t c = 0; c < clients.size(); ++c)
        for (std::size_t s = 0; s < clients[c].weights.size(); ++s) {
          const auto& g = gradient[c][s];
          double along = 0, norm = 0;
          for (std::size_t j = 0; j < g.size(); ++j) {
            along += g[j] * direction[at + j];
            norm += g[j] * g[j];
          }
          at += clients[c].weights[s].size();
          const double difference = (8 * (one[c][s] - minus_one[c][s]) - (two[c][s] - minus_two[c][s])) / (12 * step);
          EXPECT_NEAR(difference, along, 1e-6 * std::sqrt(norm)) << "client " << c << ", sample " << s;
        }
    }
  }
}

}  // namespace
}  // namespace fedpp::encoder_tests
