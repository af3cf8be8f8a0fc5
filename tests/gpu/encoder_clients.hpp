// Clients for the tests of encoders: random weights, streams and points, in batches that are ragged and wide.
#pragma once

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "gpu/encoder_reference.hpp"

namespace fedpp::encoder_tests {

using encoder_reference::Kind;
using encoder_reference::Model;
using encoder_reference::Point;
using encoder_reference::Stream;
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
      Vector w = normals(model.weights() + model.dimension() + 2);
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

/// H = 1 and 8, L = 1 to 3, S = 1 to 3, with and without types; streams of one realisation pooled or alone, empty ones,
/// ones without points; more points than a tile, none; a client without realisations.
inline std::vector<Client> ragged_clients(Kind kind, unsigned seed) {
  RandomClients random(seed);
  const std::vector<int> many{3, 0, 1, 7, 0, 2, 5, 4, 1, 0, 6, 2};
  return {random.client({kind, 1, 1, 1, 0, 0}, 1, {{{9}, 12, 3}, {{0}, 2, 1}}),
          random.client({kind, 8, 2, 3, 2, 4}, 3, {{{12, 0, 20}, 40, 5}, {{6}, 0, 4}, {many, 30, 2}}),
          random.client({kind, 4, 3, 2, 0, 0}, 1, {}),
          random.client({kind, 4, 3, 2, 3, 2}, 1, {{{33}, 300, 7}, {{1, 1}, 5, 1}}),
          random.client({kind, 1, 3, 1, 1, 1}, 3, {{{4, 2}, 9, 2}}),
          random.client({kind, 8, 1, 1, 0, 0}, 2, {{{31, 32}, 66, 33}, {{2}, 3, 300}})};
}

/// Widths around a warp, long streams, and more streams than any encoder takes at a time.
inline std::vector<Client> wide_clients(Kind kind, unsigned seed) {
  RandomClients random(seed);
  std::vector<int> many(70);
  for (std::size_t k = 0; k < many.size(); ++k) many[k] = static_cast<int>(k % 4);
  return {random.client({kind, 32, 2, 3, 4, 5}, 3, {{{40, 17}, 70, 12}, {{0}, 3, 2}}),
          random.client({kind, 33, 1, 2, 0, 0}, 1, {{{33, 5, 64}, 520, 50}}),
          random.client({kind, 31, 3, 1, 0, 0}, 1, {{{65}, 40, 1}}),
          random.client({kind, 8, 1, 2, 2, 3}, 2, {{{5}, 9, 4}, {many, 90, 3}})};
}

inline std::string name_of(Kind kind) {
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

}  // namespace fedpp::encoder_tests
