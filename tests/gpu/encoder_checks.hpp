// Embeddings and gradients of a batch of clients on the device, compared with the plain reference.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <numeric>

#include "gpu/cases.hpp"
#include "gpu/encoder_clients.hpp"
#include "gpu/encoder_operator.hpp"

namespace fedpp::encoder_tests {

inline gpu::EncoderKind kind_of(Kind kind) {
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

inline gpu::Encoder encoder_of(const Model& model) {
  gpu::EncoderShape shape;
  shape.kind = kind_of(model.kind);
  shape.width = static_cast<int>(model.width);
  shape.layers = static_cast<int>(model.layers);
  shape.inputs = static_cast<int>(model.inputs);
  shape.type_width = static_cast<int>(model.type_width);
  shape.types = static_cast<int>(model.types);
  shape.linear_mean = true;  // no part of an encoder, but its slopes lie between samples
  return gpu::make_encoder(shape);
}

inline void append(Vector& all, const Vector& part) { all.insert(all.end(), part.begin(), part.end()); }

inline Vector flat(const std::vector<Vector>& parts) {
  Vector all;
  for (const auto& part : parts) append(all, part);
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
      EXPECT_EQ(extents.back().encoder.weights, static_cast<int>(c.model.weights()));
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
    encoder->collect(exec, batch, fields);
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

inline void expect_embeddings(const Device& device, const std::vector<Client>& clients, double tolerance = kTolerance) {
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

inline Derivatives derivatives_of(const Client& c, std::size_t s, Directions which,
                                  const Selection& selected = nullptr) {
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
inline std::vector<std::vector<Derivatives>> derivatives_of(const std::vector<Client>& clients, Directions which) {
  std::vector<std::vector<Derivatives>> out;
  for (const auto& c : clients) {
    out.emplace_back();
    for (std::size_t s = 0; s < c.weights.size(); ++s) out.back().push_back(derivatives_of(c, s, which));
  }
  return out;
}

inline void expect_gradient(const Vector& got, const Derivatives& reference, double tolerance) {
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
inline void expect_agreement(const std::vector<Client>& clients, Directions which, double tolerance = kTolerance,
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

class Encoders : public testing::TestWithParam<Kind> {};
class HistoryEncoders : public testing::TestWithParam<Kind> {};

}  // namespace fedpp::encoder_tests
