// Counter-based random numbers: Philox4x32-10 of Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2,
// 3" (SC11). A number depends on (counter, key) and on nothing else, so the same draws come on any rank and thread: keys and
// counters are made of (seed, client, round, epoch, draw). Bits and uniforms are the same on every backend, too; normals
// but for the last digits of its log, cos and sin. Usable in host and device code alike.
#pragma once

#include <math.h>

#include <cstdint>

#include "gpu/host_device.hpp"

namespace fedpp::gpu {

struct Philox {
  struct Counter {
    std::uint32_t word[4];
    FEDPP_HOST_DEVICE constexpr std::uint32_t operator[](int i) const { return word[i]; }
  };
  struct Key {
    std::uint32_t word[2];
    FEDPP_HOST_DEVICE constexpr std::uint32_t operator[](int i) const { return word[i]; }
  };

  /// A key of 64 bits: the seed.
  FEDPP_HOST_DEVICE static constexpr Key key(std::uint64_t seed) {
    return {{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
  }

  /// The 128 random bits that belong to `counter` under `key`.
  FEDPP_HOST_DEVICE static constexpr Counter block(Counter counter, Key key) {
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t a = std::uint64_t{0xD2511F53u} * counter.word[0];
      const std::uint64_t b = std::uint64_t{0xCD9E8D57u} * counter.word[2];
      counter = {{static_cast<std::uint32_t>(b >> 32) ^ counter.word[1] ^ key.word[0], static_cast<std::uint32_t>(b),
                  static_cast<std::uint32_t>(a >> 32) ^ counter.word[3] ^ key.word[1], static_cast<std::uint32_t>(a)}};
      key.word[0] += 0x9E3779B9u;  // golden ratio
      key.word[1] += 0xBB67AE85u;  // sqrt(3) - 1
    }
    return counter;
  }

  /// 64 of a block's bits, half = 0 or 1.
  FEDPP_HOST_DEVICE static constexpr std::uint64_t bits64(const Counter& random, int half) {
    return (std::uint64_t{random.word[2 * half + 1]} << 32) | random.word[2 * half];
  }

  /// Uniform in the open interval (0, 1): odd multiples of 2^-53, so neither end can come out.
  FEDPP_HOST_DEVICE static constexpr double uniform(std::uint64_t bits) {
    return static_cast<double>((bits >> 11) | 1u) * 0x1p-53;
  }

  struct NormalPair {
    double first, second;
  };

  /// Two independent standard normals from one block (Box-Muller).
  FEDPP_HOST_DEVICE static NormalPair normals(const Counter& random) {
    const double radius = ::sqrt(-2.0 * ::log(uniform(bits64(random, 0))));
    const double angle = 6.283185307179586477 * uniform(bits64(random, 1));
    return {radius * ::cos(angle), radius * ::sin(angle)};
  }
};

}  // namespace fedpp::gpu
