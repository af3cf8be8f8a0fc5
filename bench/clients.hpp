// Clients with random points, of the shapes that the kernels' benchmarks use.
#pragma once

#include <string>

#include "model/client.hpp"

namespace fedpp::bench {

/// One client: `realisations` latent functions of `events` distinct times and `nodes` quadrature nodes each on [0,
/// 100], M inducing points. With a history encoder, every realisation's events are one stream, its nodes between them.
struct Shape {
  int realisations = 1, events = 15'000, nodes = 200, inducing = 50, samples = 1;
};

model::Client make_client(const Shape& shape, const std::string& encoder, int width = 32);

}  // namespace fedpp::bench
