// What must hold of every encoder whatever it computes, most of it to the bit: causality, independence of a client from
// its company in the batch, nothing kept between calls.
#include <algorithm>
#include <cstring>

#include "gpu/encoder_checks.hpp"

namespace fedpp::encoder_tests {
namespace {

using test::host;

Vector flat_gradient(const std::vector<std::vector<Vector>>& gradient) {
  Vector all;
  for (const auto& client : gradient) append(all, flat(client));
  return all;
}

/// The operator keeps nothing between calls but its work space.
TEST_P(Encoders, repeat_themselves_and_follow_new_weights) {
  auto clients = ragged_clients(GetParam(), 8);
  const Device device(clients);
  const auto result = [&] {
    device.embed();
    device.adjoint();
    return std::vector{host(device.fields.embedding), host(device.fields.inducing_embedding),
                       flat_gradient(device.gradient(clients))};
  };
  const auto once = result(), again = result();
  EXPECT_EQ(once, again);
  RandomClients random(9);
  Vector weights;
  for (auto& c : clients)
    for (auto& w : c.weights) {
      for (double& x : w) x += 0.2 * random.normal();
      append(weights, w);
    }
  device.set_weights(weights);
  result();
  expect_embeddings(device, clients);
  const auto gradient = device.gradient(clients);
  for (std::size_t k = 0; k < clients.size(); ++k)
    expect_gradient(gradient[k][0], derivatives_of(clients[k], 0, Directions::kSome), kGradientTolerance);
}

TEST_P(Encoders, embed_the_same_without_an_adjoint) {
  const auto clients = ragged_clients(GetParam(), 10);
  for (const auto& name : test::dense_names()) {
    const test::DenseChoice choice(name);
    const Device device(clients, false);
    device.embed();
    expect_embeddings(device, clients);
  }
}

/// Of its own kind and of others.
TEST(EncodersTogether, give_a_client_the_same_bits_in_any_company) {
  std::vector<Client> clients;
  for (const Kind kind : {Kind::kAttention, Kind::kDeepKernel, Kind::kRbf, Kind::kLstm, Kind::kDecay}) {
    if (kind == Kind::kRbf) {
      clients.push_back(RandomClients(1).client({kind, 1, 1, 1, 0, 0}, 2, {{{}, 300, 5}, {{}, 0, 1}}));
      continue;
    }
    for (const auto& c : ragged_clients(kind, 11)) clients.push_back(c);
    for (const auto& c : wide_clients(kind, 12)) clients.push_back(c);
  }
  std::shuffle(clients.begin(), clients.end(), std::mt19937_64(13));
  for (const auto& name : test::dense_names()) {
    const test::DenseChoice choice(name);
    const Device together(clients);
    together.embed();
    together.adjoint();
    test::Pieces columns(together.fields.embedding), inducing(together.fields.inducing_embedding);
    const auto gradient = together.gradient(clients);
    for (std::size_t k = 0; k < clients.size(); ++k) {
      SCOPED_TRACE("client " + std::to_string(k) + ", " + name_of(clients[k].model.kind));
      const Device alone({clients[k]});
      alone.embed();
      alone.adjoint();
      const auto at_columns = host(alone.fields.embedding), at_inducing = host(alone.fields.inducing_embedding);
      EXPECT_EQ(columns.take(at_columns.size()), at_columns);
      EXPECT_EQ(inducing.take(at_inducing.size()), at_inducing);
      EXPECT_EQ(gradient[k], alone.gradient({clients[k]})[0]);
    }
    EXPECT_TRUE(columns.all_taken() && inducing.all_taken());
  }
}

/// A token touches nothing before it: not the points up to its time, not the points of other streams.
TEST_P(HistoryEncoders, do_not_look_ahead) {
  for (const auto& name : test::dense_names()) {
    const test::DenseChoice choice(name);
    RandomClients random(13);
    const Model model{GetParam(), 8, 2, 2, 2, 3};
    auto client = random.client(model, 2, {{{70, 70}, 426, 80}});
    auto& points = client.realisations[0].columns.points;
    for (std::size_t n = 0; n < points.size(); ++n) {  // every slot of both streams
      points[n].stream = n % 2;
      points[n].before = n / 2 % 71;
    }
    if (model.kind == Kind::kDecay) {  // whose first input is the time: a token that comes late hides those before it
      for (auto& stream : client.realisations[0].streams)
        for (std::size_t j = 0; j < stream.input.size(); ++j) stream.input[j][0] = static_cast<double>(j);
      for (auto* at : {&points, &client.realisations[0].inducing.points})
        for (auto& point : *at) point.input[0] = static_cast<double>(point.before) + 0.1 * std::fabs(random.normal());
    }
    const Device device({client});
    device.embed();
    const auto columns = host(device.fields.embedding), inducing = host(device.fields.inducing_embedding);
    for (const bool type_only : model.reads_types() ? std::vector{false, true} : std::vector{false})
      for (const std::size_t token : {0, 1, 30, 31, 32, 33, 63, 64, 69}) {
        SCOPED_TRACE("token " + std::to_string(token) + (type_only ? ", its type" : ", its inputs"));
        auto changed = client;
        auto& stream = changed.realisations[0].streams[0];
        if (type_only)
          stream.type[token] = (stream.type[token] + 1) % model.types;
        else if (model.kind == Kind::kDecay)
          stream.input[token][0] -= 0.5;
        else
          stream.input[token] = random.normals(model.inputs);
        const Device other({changed});
        other.embed();
        int same = 0, different = 0;
        const auto compare = [&](const Points& of, const Vector& before, const Vector& after) {
          for (std::size_t n = 0; n < before.size() / model.width; ++n) {
            const Point& point = of.points[n % of.points.size()];
            const bool equal =
                std::memcmp(&before[n * model.width], &after[n * model.width], model.width * sizeof(double)) == 0;
            if (point.stream == 1 || point.before <= token) {
              EXPECT_TRUE(equal) << "point " << n << " of stream " << point.stream << " after " << point.before;
              ++same;
            } else if (point.before == token + 1) {
              EXPECT_FALSE(equal) << "point " << n;
              ++different;
            }
          }
        };
        compare(client.realisations[0].columns, columns, host(other.fields.embedding));
        compare(client.realisations[0].inducing, inducing, host(other.fields.inducing_embedding));
        EXPECT_GT(same, 0);
        EXPECT_GT(different, 0);
      }
  }
}

/// Wherever in the realisation they stand: the one embedding of events at equal times (docs/encoders.md).
TEST_P(HistoryEncoders, give_points_with_the_same_past_one_embedding) {
  for (const auto& name : test::dense_names()) {
    const test::DenseChoice choice(name);
    RandomClients random(14);
    auto client = random.client({GetParam(), 8, 2, 2, 0, 0}, 1, {{{70, 30}, 600, 5}});
    auto& points = client.realisations[0].columns.points;
    for (const std::size_t n : {1, 2, 17, 300, 599}) points[n] = points[0] = points[5];
    const Device device({client});
    device.embed();
    const auto h = host(device.fields.embedding);
    for (const std::size_t n : {1, 2, 5, 17, 300, 599})
      test::expect_close(Vector(&h[n * 8], &h[n * 8] + 8), Vector(&h[0], &h[0] + 8), 1e-14, std::to_string(n));
  }
}

/// Tiles with scale 0 are not read: what stands there is NaN. The scale of the others is in hbar already.
TEST_P(Encoders, leave_out_what_is_not_in_the_mini_batch) {
  for (const auto& name : test::dense_names()) {
    const test::DenseChoice choice(name);
    RandomClients random(15);
    const Kind kind = GetParam();
    const std::vector<Client> clients{
        random.client({kind, 4, 2, 2, 0, 0}, 2, {{{30, 12}, 700, 5}, {{5}, 9, 3}, {{20}, 600, 3}}),
        random.client({kind, 3, 1, 1, 2, 2}, 1, {{{9}, 20, 2}}),
        random.client({kind, 5, 1, 1, 2, 2}, 1, {{{9}, 520, 290}})};
    const Device device(clients);
    const auto& b = device.batch;
    // Every other tile; none of the second realisation, nor of the second client.
    const auto tile_realisation = host(b.tile_realisation), tile_first = host(b.tile_first),
               tile_columns = host(b.tile_columns);
    std::vector<std::vector<char>> chosen(static_cast<std::size_t>(b.realisations));
    std::vector<char> any(static_cast<std::size_t>(b.realisations), 0);
    Vector scale;
    for (int tile = 0; tile < b.tiles; ++tile) {
      const auto t = static_cast<std::size_t>(tile);
      const auto i = static_cast<std::size_t>(tile_realisation[t]);
      const bool in = i != 1 && i != 3 && (tile_first[t] / tile_columns[t]) % 2 == 0;
      scale.push_back(in ? 2.5 : 0);
      chosen[i].resize(chosen[i].size() + static_cast<std::size_t>(tile_columns[t]), in);
      any[i] |= in;
    }
    ASSERT_TRUE(any[0] && any[2] && any[4]);

    auto adjoint = host(device.hbar), inducing_adjoint = host(device.inducing_hbar);
    std::vector<char> embedded;
    std::size_t at = 0, i = 0;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const auto& c : clients)
      for (const auto& r : c.realisations) {
        for (std::size_t s = 0; s < c.weights.size(); ++s) {
          for (std::size_t n = 0; n < r.columns.points.size() * c.model.dimension(); ++n) {
            embedded.push_back(chosen[i][n / c.model.dimension()]);
            if (!embedded.back()) adjoint[embedded.size() - 1] = nan;
          }
          for (std::size_t n = 0; n < r.inducing.points.size() * c.model.dimension(); ++n, ++at)
            if (!any[i]) inducing_adjoint[at] = nan;
        }
        ++i;
      }
    device.embed();
    const auto full = host(device.fields.embedding);
    Kokkos::deep_copy(device.fields.embedding, 7.0);
    const Device fresh(clients);  // whose work space no full embedding has filled
    for (const Device* d : {&device, &fresh}) {
      Kokkos::deep_copy(d->fields.tile_scale, gpu::to_device<double>("tile_scale", scale));
      Kokkos::deep_copy(d->hbar, gpu::to_device<double>("hbar", adjoint));
      Kokkos::deep_copy(d->inducing_hbar, gpu::to_device<double>("hbar", inducing_adjoint));
      Kokkos::deep_copy(d->fields.embedding, 7.0);
    }
    for (const Device* d : {&device, &fresh}) {
      SCOPED_TRACE(d == &fresh ? "fresh work space" : "after a full embedding");
      d->embed(true);
      const auto h = host(d->fields.embedding);
      for (std::size_t n = 0; n < h.size(); ++n) ASSERT_EQ(h[n], embedded[n] ? full[n] : 7.0) << "entry " << n;
      d->adjoint();
      const auto gradient = d->gradient(clients);
      std::size_t first = 0;
      for (std::size_t k = 0; k < clients.size(); ++k) {
        SCOPED_TRACE("client " + std::to_string(k));
        const Selection selected = [&](std::size_t r, bool at_columns, std::size_t n) {
          return at_columns ? chosen[first + r][n] != 0 : any[first + r] != 0;
        };
        if (k != 1)  // a client without a mini-batch takes no step
          for (std::size_t s = 0; s < clients[k].weights.size(); ++s)
            expect_gradient(gradient[k][s], derivatives_of(clients[k], s, Directions::kSome, selected),
                            kGradientTolerance);
        first += clients[k].realisations.size();
      }
    }
  }
}

}  // namespace
}  // namespace fedpp::encoder_tests
