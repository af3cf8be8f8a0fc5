// exp, log and tanh as straight-line arithmetic, so that the compiler vectorises the loops of the Gram matrix and the
// embedding (the C library's scalar calls cost more there than the matrix products). Devices use their own functions.
#pragma once

#include "gpu/kokkos.hpp"

#if !defined(__CUDA_ARCH__)
#include <bit>
#endif

namespace fedpp::gpu {

/// e^x for |x| <= 708, relative error below 4e-16; beyond, any number; NaN stays NaN.
KOKKOS_INLINE_FUNCTION double exp_within_bounds(double x) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return exp(x);
#else
  constexpr double log2e = 1.4426950408889634074, ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;
  constexpr double shift = 0x1.8p52;  // adding it rounds to an integer in the low bits
  const double shifted = x * log2e + shift;
  const double k = shifted - shift;
  const double y = (x - k * ln2_high) - k * ln2_low;  // |y| <= ln(2)/2
  // (e^y - 1 - y) / y^2 by a polynomial of degree 9 (minimax for e^y: 4e-18), in pairs: a chain would wait for every
  // multiplication.
  const double y2 = y * y, y4 = y2 * y2;
  const double low =
      (0x1.000000000000ap-1 + 0x1.55555555554f9p-3 * y) + y2 * (0x1.555555555083ep-5 + 0x1.1111111127d0ep-7 * y);
  const double middle =
      (0x1.6c16c18438b08p-10 + 0x1.a01a012a0f351p-13 * y) + y2 * (0x1.a01999e2633fdp-16 + 0x1.71df25b3100a2p-19 * y);
  const double high = 0x1.28ad9b8551757p-22 + 0x1.ad7f3ee016e7dp-26 * y;
  const double p = 1 + (y + y2 * (low + y4 * (middle + y4 * high)));
  // 2^k by the exponent's bits: unsigned, as they overflow where the result is not taken.
  const std::uint64_t bits = (std::bit_cast<std::uint64_t>(shifted) - std::bit_cast<std::uint64_t>(shift) + 1023) << 52;
  return p * std::bit_cast<double>(bits);
#endif
}

/// e^x for x <= 0, relative error below 4e-16; below -708 what it is there. NaN stays NaN.
KOKKOS_INLINE_FUNCTION double fast_exp_down(double x) {
  // Chosen at the end: a clamp of x before would have the compiler carry the bound through all of the above.
  const double result = exp_within_bounds(x);
  return x < -708.0 ? 0x1.7c8ab2288c9abp-1022 : result;  // e^-708
}

/// e^x, relative error below 4e-16; beyond -708 and 708 what it is there, so that it is never infinite. NaN stays NaN.
KOKKOS_INLINE_FUNCTION double fast_exp(double x) {
  const double result = fast_exp_down(x);               // first: behind the choice it would become a branch
  return x > 708.0 ? 0x1.586f6bf260cf1p+1021 : result;  // e^708
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

/// log x for finite x >= 1, absolute error below 2e-16 and relative error below 6e-16 of log x for x >= 2; NaN stays NaN.
KOKKOS_INLINE_FUNCTION double fast_log(double x) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return log(x);
#else
  constexpr double ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45, shift = 0x1.8p52;
  // x = 2^k m with m from sqrt(1/2) to sqrt(2); log m = 2 atanh(u), |u| < 0.172.
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t exponent = (bits - std::bit_cast<std::uint64_t>(0x1.6a09e667f3bcdp-1)) >> 52;
  const double k = std::bit_cast<double>(exponent + std::bit_cast<std::uint64_t>(shift)) - shift;
  const double m = std::bit_cast<double>(bits - (exponent << 52));
  const double u = (m - 1) / (m + 1), square = u * u;
  double p = 1.0 / 21;  // u^23 / 23 is below 1e-18
  for (int n = 19; n >= 3; n -= 2) p = p * square + 1.0 / n;
  return k * ln2_high + (2 * (u + u * square * p) + (k * ln2_low + (x - x)));  // x - x: NaN stays what it is
#endif
}

/// tanh x, absolute error below 3e-16.
KOKKOS_INLINE_FUNCTION double fast_tanh(double x) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return tanh(x);
#else
  const double t = fast_exp_down(-2.0 * math::fabs(x));  // in (0, 1]: no overflow
  return std::copysign((1.0 - t) / (1.0 + t), x);
#endif
}

}  // namespace fedpp::gpu
