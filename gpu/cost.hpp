// What the steps of the inference cost, for benchmarks and estimates. Each function stands in the file of the kernel
// that it counts.
//
// Counted are the additions and multiplications of matrix products, factorisations and solves (a product of [m x k] and
// [k x n] is 2 m n k, a symmetric one or one with a triangle half of it), and the bytes that must pass between memory
// and the processor if every array of the step is read or written once. Exponentials, divisions and sums of O(1) a
// column count as nothing: what they take shows as distance from the roofline.
#pragma once

#include "gpu/extents.hpp"

namespace fedpp::gpu {

struct Cost {
  double flops = 0, bytes = 0;
  Cost& operator+=(const Cost& other) {
    flops += other.flops;
    bytes += other.bytes;
    return *this;
  }
};
inline Cost operator+(Cost a, const Cost& b) { return a += b; }
inline Cost operator*(double times, const Cost& c) { return {times * c.flops, times * c.bytes}; }

/// Of an entry of k(z,t) or V.
inline double matrix_bytes(const ClientExtent& client) { return client.precision == Precision::kMixed ? 4 : 8; }

// Of one realisation of a client, all samples of the weights.
Cost embed_cost(const ClientExtent& client, const RealisationExtent& realisation);
Cost embed_adjoint_cost(const ClientExtent& client, const RealisationExtent& realisation);
Cost factorise_cost(const ClientExtent& client, const RealisationExtent& realisation);
Cost features_cost(const ClientExtent& client, const RealisationExtent& realisation);
Cost moments_cost(const ClientExtent& client, const RealisationExtent& realisation);
Cost variational_cost(const ClientExtent& client, const RealisationExtent& realisation);
/// Without the encoder's part.
Cost adjoint_cost(const ClientExtent& client, const RealisationExtent& realisation);

/// E-step with its features: what a local epoch does before the gradient (model/local_epoch.hpp).
inline Cost e_step_cost(const ClientExtent& c, const RealisationExtent& r) {
  return embed_cost(c, r) + factorise_cost(c, r) + features_cost(c, r) + moments_cost(c, r) + variational_cost(c, r);
}
/// An epoch with one step of Adam.
inline Cost local_epoch_cost(const ClientExtent& c, const RealisationExtent& r) {
  return e_step_cost(c, r) + adjoint_cost(c, r) + embed_adjoint_cost(c, r);
}

}  // namespace fedpp::gpu
