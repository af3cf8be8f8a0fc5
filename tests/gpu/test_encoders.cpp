// Every encoder's batched embedding and adjoint against the plain reference, on ragged batches; what must hold to the
// bit: causality, and independence of a client from its company in the batch.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>

#include "gpu/cases.hpp"
#include "gpu/encoder_reference.hpp"

namespace fedpp::encoder_tests {
namespace {

using namespace fedpp;
using encoder_reference::Kind;
using encoder_reference::Model;
using encoder_reference::Point;
using encoder_reference::Stream;
using gpu::Index;
using test::host;
using Vector = std::vector<double>;

/// Points of a realisation, and hbar = dJ/dh of each for every sample [S][points][D].
struct Points {
  std::vector<Point> points;
  std::vector<std::vector<Vector>> adjoint;
};

struct Realisation {
  std::vector<Stream> streams;
  Points columns, inducing;
};

struct Client {
  Model model;
  std::vector<Vector> weights;  ///< [S][P]
  std::vector<Realisation> realisations;
};

/// Tokens of each stream, N + Q, M.
struct Size {
  std::vector<int> streams;
  int columns, inducing;
};

class RandomClients {
 public:
  explicit RandomClients(unsigned seed) : engine_(seed) {}

  double normal() { return normal_(engine_); }
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(engine_); }
  Vector normals(std::size_t n) {
    Vector out(n);
    for (double& x : out) x = normal();
    return out;
  }

  /// Weights of the size that keeps activations of order `gain`. Every other sample of an LSTM has forget gates near 1,
  /// so that the first tokens of a long stream still matter at its end.
  Client client(const Model& model, int samples, const std::vector<Size>& sizes, double gain = 1) {
    Client c;
    c.model = model;
    for (int s = 0; s < samples; ++s) {
      Vector w = normals(model.weights() + 2);
      for (double& x : w) x *= gain / std::sqrt(1.0 + static_cast<double>(model.width));
      if (model.kind == Kind::kLstm && s % 2 == 0) {
        std::size_t end = model.types * model.type_width;
        for (std::size_t l = 0; l < model.layers; ++l) {
          const std::size_t h = model.width;
          end += 4 * h * ((l ? h : model.inputs + model.type_width) + h + 1);
          for (std::size_t d = 0; d < h; ++d) w[end - 3 * h + d] += 4;
        }
      }
      c.weights.push_back(w);
    }
    for (const Size& size : sizes) {
      Realisation r;
      if (model.reads_history())
        for (const int tokens : size.streams) r.streams.push_back(stream(model, tokens));
      r.columns = points(model, samples, r.streams, size.columns);
      r.inducing = points(model, samples, r.streams, size.inducing);
      if (size.columns == 0)  // nothing was observed: no data term depends on h(z)
        for (auto& sample : r.inducing.adjoint)
          for (auto& hbar : sample) hbar.assign(hbar.size(), 0.0);
      c.realisations.push_back(r);
    }
    return c;
  }

  Stream stream(const Model& model, int tokens) {
    Stream s;
    for (int j = 0; j < tokens; ++j) {
      s.input.push_back(normals(model.inputs));
      s.type.push_back(model.types > 0 ? below(model.types) : 0);
    }
    return s;
  }

  /// In no order; the first in an empty history, the second after all tokens. The middle one of three or more streams
  /// gets none.
  Points points(const Model& model, int samples, const std::vector<Stream>& streams, int count) {
    Points p;
    for (int n = 0; n < count; ++n) {
      Point point;
      point.input = normals(model.inputs);
      if (!streams.empty()) {
        do point.stream = below(streams.size());
        while (streams.size() > 2 && point.stream == streams.size() / 2);
        const std::size_t tokens = streams[point.stream].input.size();
        point.before = n == 0 ? 0 : (n == 1 ? tokens : below(tokens + 1));
      }
      p.points.push_back(point);
    }
    for (int s = 0; s < samples; ++s) {
      p.adjoint.emplace_back();
      for (int n = 0; n < count; ++n) p.adjoint.back().push_back(normals(model.dimension()));
    }
    return p;
  }

 private:
  std::mt19937_64 engine_;
  std::normal_distribution<double> normal_;
};

gpu::EncoderKind kind_of(Kind kind) {
  switch (kind) {
    case Kind::kRbf:
      return gpu::EncoderKind::kRbf;
    case Kind::kDeepKernel:
      return gpu::EncoderKind::kDeepKernel;
    case Kind::kLstm:
      return gpu::EncoderKind::kLstm;
    case Kind::kAttention:
      return gpu::EncoderKind::kAttention;
    case Kind::kDecay:
      return gpu::EncoderKind::kDecay;
  }
  return gpu::EncoderKind::kRbf;
}

gpu::Encoder encoder_of(const Model& model) {
  gpu::EncoderShape shape;
  shape.kind = kind_of(model.kind);
  shape.width = static_cast<int>(model.width);
  shape.layers = static_cast<int>(model.layers);
  shape.inputs = static_cast<int>(model.inputs);
  shape.type_width = static_cast<int>(model.type_width);
  shape.types = static_cast<int>(model.types);
  return gpu::make_encoder(shape);
}

void append(Vector& all, const Vector& part) { all.insert(all.end(), part.begin(), part.end()); }

Vector flat(const std::vector<Vector>& parts) {
  Vector all;
  for (const auto& part : parts) append(all, part);
  return all;
}

Vector flat_gradient(const std::vector<std::vector<Vector>>& gradient) {
  Vector all;
  for (const auto& client : gradient) append(all, flat(client));
  return all;
}

/// The clients as one batch on the device, and their operator.
struct Device {
  gpu::Exec exec;
  gpu::Batch batch;
  gpu::Fields fields;
  gpu::Array<double> hbar, inducing_hbar;  ///< the operator may overwrite those in fields
  std::unique_ptr<gpu::EncoderOperator> encoder;

  explicit Device(const std::vector<Client>& clients, bool with_gradient = true) {
    std::vector<gpu::ClientExtent> extents;
    std::vector<gpu::RealisationExtent> realisations;
    Vector input, inducing_input, token_input, weights, adjoint, inducing_adjoint;
    std::vector<int> slot, inducing_slot, token_type;
    for (std::size_t k = 0; k < clients.size(); ++k) {
      const auto& c = clients[k];
      extents.push_back({static_cast<int>(c.weights.size()), encoder_of(c.model)});
      EXPECT_EQ(extents.back().encoder.weights(), static_cast<int>(c.model.weights()));
      EXPECT_EQ(extents.back().encoder.dimension, static_cast<int>(c.model.dimension()));
      append(weights, flat(c.weights));
      for (const auto& r : c.realisations) {
        gpu::RealisationExtent extent;
        extent.client = static_cast<int>(k);
        extent.inducing = static_cast<int>(r.inducing.points.size());
        extent.columns = static_cast<int>(r.columns.points.size());
        std::vector<int> first;
        int slots = 0;
        for (const auto& s : r.streams) {
          const int tokens = static_cast<int>(s.input.size());
          extent.streams.push_back(tokens);
          append(token_input, flat(s.input));
          for (const std::size_t type : s.type) token_type.push_back(static_cast<int>(type));
          first.push_back(slots);
          slots += tokens + 1;
        }
        realisations.push_back(extent);
        const auto place = [&](const Points& points, Vector& inputs, std::vector<int>& at, Vector& hbar) {
          for (const Point& p : points.points) {
            append(inputs, p.input);
            at.push_back(first.empty() ? 0 : first[p.stream] + static_cast<int>(p.before));
          }
          for (const auto& sample : points.adjoint) append(hbar, flat(sample));
        };
        place(r.columns, input, slot, adjoint);
        place(r.inducing, inducing_input, inducing_slot, inducing_adjoint);
      }
    }
    batch = gpu::make_batch(extents, realisations);
    fields = gpu::make_fields(batch, with_gradient);
    fields.input = gpu::to_device<double>("input", input);
    fields.inducing_input = gpu::to_device<double>("inducing_input", inducing_input);
    fields.slot = gpu::to_device<int>("slot", slot);
    fields.inducing_slot = gpu::to_device<int>("inducing_slot", inducing_slot);
    fields.token_input = gpu::to_device<double>("token_input", token_input);
    fields.token_type = gpu::to_device<int>("token_type", token_type);
    fields.weights = gpu::to_device<double>("weights", weights);
    hbar = gpu::to_device<double>("hbar", adjoint);
    inducing_hbar = gpu::to_device<double>("hbar", inducing_adjoint);
    if (with_gradient) {
      Kokkos::deep_copy(fields.gradient, std::numeric_limits<double>::quiet_NaN());
    }
    Kokkos::deep_copy(fields.embedding, std::numeric_limits<double>::quiet_NaN());
    Kokkos::deep_copy(fields.inducing_embedding, std::numeric_limits<double>::quiet_NaN());
    encoder = gpu::make_encoder_operator(batch, fields, with_gradient);
  }

  void embed(bool batch_only = false) const { encoder->embed(exec, batch, fields, batch_only); }
  void adjoint() const {
    Kokkos::deep_copy(fields.embedding_adjoint, hbar);
    Kokkos::deep_copy(fields.inducing_embedding_adjoint, inducing_hbar);
    encoder->adjoint(exec, batch, fields);
  }
  void set_weights(const Vector& weights) const {
    Kokkos::deep_copy(fields.weights, gpu::to_device<double>("weights", weights));
  }
  /// dJ/dw~ per client and sample.
  std::vector<std::vector<Vector>> gradient(const std::vector<Client>& clients) const {
    test::Pieces pieces(fields.gradient);
    std::vector<std::vector<Vector>> out;
    for (const auto& c : clients) {
      out.emplace_back();
      for (std::size_t s = 0; s < c.weights.size(); ++s) {
        out.back().push_back(pieces.take(c.weights[s].size()));
        out.back().back().resize(c.model.weights());
      }
    }
    return out;
  }
};

/// Both sides round; the recurrences and the softmax amplify little at weights of this size.
constexpr double kTolerance = 1e-11;
constexpr double kGradientTolerance = 1e-10;

void expect_embeddings(const Device& device, const std::vector<Client>& clients, double tolerance = kTolerance) {
  test::Pieces columns(device.fields.embedding), inducing(device.fields.inducing_embedding);
  for (std::size_t k = 0; k < clients.size(); ++k) {
    const auto& c = clients[k];
    for (std::size_t i = 0; i < c.realisations.size(); ++i) {
      const auto& r = c.realisations[i];
      for (std::size_t s = 0; s < c.weights.size(); ++s) {
        SCOPED_TRACE("client " + std::to_string(k) + ", realisation " + std::to_string(i) + ", sample " +
                     std::to_string(s));
        for (const bool at_columns : {true, false}) {
          const auto& points = (at_columns ? r.columns : r.inducing).points;
          const auto wanted = flat(encoder_reference::embed(c.model, c.weights[s], r.streams, points));
          test::expect_close((at_columns ? columns : inducing).take(wanted.size()), wanted, tolerance,
                             at_columns ? "h at columns" : "h at inducing points");
        }
      }
    }
  }
  EXPECT_TRUE(columns.all_taken() && inducing.all_taken());
}

/// Full: every weight. Otherwise three random directions, each of which meets every weight, and single weights that are
/// spread over the vector.
enum class Directions { kFull, kSome };

/// Which points of a client count: realisation, whether a column or an inducing point, number.
using Selection = std::function<bool(std::size_t, bool, std::size_t)>;

/// The reference's derivatives of one client and sample.
struct Derivatives {
  std::vector<std::size_t> single;  ///< weights whose entry of the gradient is compared
  std::vector<Vector> directions;   ///< random ones
  Vector wanted;                    ///< along those, then by the single weights
};

Derivatives derivatives_of(const Client& c, std::size_t s, Directions which, const Selection& selected = nullptr) {
  const std::size_t p = c.model.weights();
  Derivatives out;
  if (p == 0) return out;
  RandomClients random(static_cast<unsigned>(p + s));
  if (which == Directions::kFull) {
    for (std::size_t j = 0; j < p; ++j) out.single.push_back(j);
  } else {
    for (int k = 0; k < 3; ++k) out.directions.push_back(random.normals(p));
    out.single = {0, p - 1, random.below(p), random.below(p), random.below(p)};
  }
  auto along = out.directions;
  for (const std::size_t j : out.single) {
    along.emplace_back(p, 0.0);
    along.back()[j] = 1;
  }
  out.wanted.assign(along.size(), 0.0);
  for (std::size_t i = 0; i < c.realisations.size(); ++i) {
    const auto& r = c.realisations[i];
    std::vector<Point> points;
    std::vector<Vector> adjoint;
    for (const bool at_columns : {true, false}) {
      const auto& part = at_columns ? r.columns : r.inducing;
      for (std::size_t n = 0; n < part.points.size(); ++n)
        if (!selected || selected(i, at_columns, n)) {
          points.push_back(part.points[n]);
          adjoint.push_back(part.adjoint[s][n]);
        }
    }
    const auto part = encoder_reference::derivatives(c.model, c.weights[s], r.streams, points, adjoint, along);
    for (std::size_t k = 0; k < part.size(); ++k) out.wanted[k] += part[k];
  }
  return out;
}

/// Of every client and sample.
std::vector<std::vector<Derivatives>> derivatives_of(const std::vector<Client>& clients, Directions which) {
  std::vector<std::vector<Derivatives>> out;
  for (const auto& c : clients) {
    out.emplace_back();
    for (std::size_t s = 0; s < c.weights.size(); ++s) out.back().push_back(derivatives_of(c, s, which));
  }
  return out;
}

void expect_gradient(const Vector& got, const Derivatives& reference, double tolerance) {
  double largest = 0, norm = 0;
  for (const double x : got) {
    ASSERT_TRUE(std::isfinite(x));
    largest = std::fmax(largest, std::fabs(x));
    norm += x * x;
  }
  const std::size_t random = reference.directions.size();
  for (std::size_t k = 0; k < reference.single.size(); ++k)
    ASSERT_NEAR(got[reference.single[k]], reference.wanted[random + k], tolerance * largest)
        << "dJ/dw, entry " << reference.single[k] << " of " << got.size();
  for (std::size_t k = 0; k < random; ++k)
    ASSERT_NEAR(std::inner_product(got.begin(), got.end(), reference.directions[k].begin(), 0.0), reference.wanted[k],
                tolerance * std::sqrt(norm))
        << "dJ/dw along random direction " << k;
}

/// Forward and adjoint of all clients, in every implementation of the dense algebra.
void expect_agreement(const std::vector<Client>& clients, Directions which, double tolerance = kTolerance,
                      double gradient_tolerance = kGradientTolerance) {
  const auto reference = derivatives_of(clients, which);
  for (const auto& name : test::dense_names()) {
    const test::DenseChoice choice(name);
    const Device device(clients);
    device.embed();
    expect_embeddings(device, clients, tolerance);
    device.adjoint();
    const auto gradient = device.gradient(clients);
    for (std::size_t k = 0; k < clients.size(); ++k)
      for (std::size_t s = 0; s < clients[k].weights.size(); ++s) {
        SCOPED_TRACE("client " + std::to_string(k) + ", sample " + std::to_string(s));
        expect_gradient(gradient[k][s], reference[k][s], gradient_tolerance);
      }
  }
}

/// H = 1 and 8, L = 1 to 3, S = 1 to 3, with and without types; streams of one realisation pooled or alone, empty ones,
/// ones without points; more points than a tile, none; a client without realisations.
std::vector<Client> ragged_clients(Kind kind, unsigned seed) {
  RandomClients random(seed);
  const std::vector<int> many{3, 0, 1, 7, 0, 2, 5, 4, 1, 0, 6, 2};
  return {random.client({kind, 1, 1, 1, 0, 0}, 1, {{{9}, 12, 3}, {{0}, 2, 1}}),
          random.client({kind, 8, 2, 3, 2, 4}, 3, {{{12, 0, 20}, 40, 5}, {{6}, 0, 4}, {many, 30, 2}}),
          random.client({kind, 4, 3, 2, 0, 0}, 1, {}),
          random.client({kind, 4, 3, 2, 3, 2}, 1, {{{33}, 300, 7}, {{1, 1}, 5, 1}}),
          random.client({kind, 1, 3, 1, 1, 1}, 3, {{{4, 2}, 9, 2}}),
          random.client({kind, 8, 1, 1, 0, 0}, 2, {{{31, 32}, 66, 33}, {{2}, 3, 300}})};
}

std::vector<Client> wide_clients(Kind kind, unsigned seed) {
  RandomClients random(seed);
  return {random.client({kind, 32, 2, 3, 4, 5}, 3, {{{40, 17}, 70, 12}, {{0}, 3, 2}}),
          random.client({kind, 33, 1, 2, 0, 0}, 1, {{{33, 5, 64}, 520, 50}}),
          random.client({kind, 31, 3, 1, 0, 0}, 1, {{{65}, 40, 1}}),
          random.client({kind, 8, 1, 2, 2, 3}, 2, {{{5}, 9, 4}})};
}

std::string name_of(Kind kind) {
  switch (kind) {
    case Kind::kRbf:
      return "rbf";
    case Kind::kDeepKernel:
      return "deep_kernel";
    case Kind::kLstm:
      return "lstm";
    case Kind::kAttention:
      return "attention";
    case Kind::kDecay:
      return "decay";
  }
  return "";
}

class Encoders : public testing::TestWithParam<Kind> {};
class HistoryEncoders : public testing::TestWithParam<Kind> {};
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

/// Wherever in the realisation they stand: spec 1.7's "one embedding" of events at equal times.
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
