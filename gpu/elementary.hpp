// exp and tanh as straight-line arithmetic, so that the compiler vectorises the loops of the Gram matrix and the
// embedding (the C library's scalar calls cost more there than the matrix products). Devices use their own functions.
#pragma once

#include "gpu/kokkos.hpp"

#if !defined(__CUDA_ARCH__)
#include <bit>
#endif

namespace fedpp::gpu {

/// e^x for x in [-708, 708] (clamped), relative error below 4e-16.
KOKKOS_INLINE_FUNCTION double fast_exp(double x) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return exp(x);
#else
  constexpr double log2e = 1.4426950408889634074, ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;
  constexpr double shift = 0x1.8p52;  // adding it rounds to an integer in the low bits
  x = x < -708.0 ? -708.0 : (x > 708.0 ? 708.0 : x);
  const double shifted = x * log2e + shift;
  const double k = shifted - shift;
  const double y = (x - k * ln2_high) - k * ln2_low;  // |y| <= ln(2)/2
  double p = 1.0 / 6227020800.0;                      // Taylor to y^13: truncation 4e-18
  p = p * y + 1.0 / 479001600.0;
  p = p * y + 1.0 / 39916800.0;
  p = p * y + 1.0 / 3628800.0;
  p = p * y + 1.0 / 362880.0;
  p = p * y + 1.0 / 40320.0;
  p = p * y + 1.0 / 5040.0;
  p = p * y + 1.0 / 720.0;
  p = p * y + 1.0 / 120.0;
  p = p * y + 1.0 / 24.0;
  p = p * y + 1.0 / 6.0;
  p = p * y + 0.5;
  p = p * y + 1.0;
  p = p * y + 1.0;
  const std::int64_t exponent = (std::bit_cast<std::int64_t>(shifted) - std::bit_cast<std::int64_t>(shift) + 1023)
                                << 52;
  return p * std::bit_cast<double>(exponent);
#endif
}

/// log(1 + t) for t in [0, 1], relative error below 4e-16: 2 atanh(u), u = t / (2 + t) <= 1/3.
KOKKOS_INLINE_FUNCTION double fast_log1p(double t) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return log1p(t);
#else
  const double u = t / (2 + t), square = u * u;
  double p = 1.0 / 33;  // u^35 / 35 is below 1e-18 of u
  for (int k = 31; k >= 3; k -= 2) p = p * square + 1.0 / k;
  return 2 * (u + u * square * p);
#endif
}

/// tanh x, absolute error below 3e-16.
KOKKOS_INLINE_FUNCTION double fast_tanh(double x) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return tanh(x);
#else
  const double a = x < 0 ? x : -x;
  const double t = fast_exp(2.0 * a);  // in (0, 1]: no overflow
  const double y = (1.0 - t) / (1.0 + t);
  return x < 0 ? -y : y;
#endif
}

}  // namespace fedpp::gpu
