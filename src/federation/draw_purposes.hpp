// What the federation's random numbers are for: the top four bits of the last word of a Philox counter, so that no two
// uses meet. 1 to 3 are the draws of an epoch (gpu/random.cpp), 9 those of a loss (gpu/kernels.hpp).
#pragma once

#include <cstdint>

namespace fedpp::federation {

enum DrawPurpose : std::uint32_t {
  kDrawParticipants = 4u << 28,
  kDrawProbe = 5u << 28,     ///< probe points of the client graph
  kDrawStarts = 6u << 28,    ///< choices of the Bayesian optimisation of starts
  kDrawHostile = 7u << 28,   ///< who is hostile
  kDrawTampered = 8u << 28,  ///< noise on a hostile upload
};

}  // namespace fedpp::federation
