// Clients with random points, of the shapes that the kernels' benchmarks use.
#pragma once

#include "config/words.hpp"
#include "model/client.hpp"

namespace fedpp::bench {

/// One client: `realisations` latent functions of `events` distinct times and `nodes` quadrature nodes each, M inducing
/// points. All are observed on [0, 100], so that they share K(z,z), or with `own_windows` each a little longer than the
/// one before it, up to there. With a history encoder, every realisation's events are one stream, its nodes between
/// them.
struct Shape {
  int realisations = 1, events = 15'000, nodes = 200, inducing = 50, samples = 1;
  bool own_windows = false;
};

model::Client make_client(const Shape& shape, config::Encoder encoder, int width = 32);

}  // namespace fedpp::bench
