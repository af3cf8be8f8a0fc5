// Events at equal times, as rounding makes them (theory 1.9): when there are so many that a person should know.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/client_data.hpp"

namespace fedpp::data {

/// Gaps between neighbours of the same sequence, and how many of them are zero.
struct Gaps {
  std::int64_t all = 0, zero = 0;
  void add(const std::vector<double>& times);
  /// "" where at most a tenth is zero; else what that means for encoders that read the history, and what helps.
  std::string doubt() const;
};

/// Of what the client sees of its sequences.
Gaps gaps_of(const ClientData& client);

}  // namespace fedpp::data
