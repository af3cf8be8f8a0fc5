// What a client holds, in numbers, for `fedpp info` and the run's manifest.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "data/client_data.hpp"
#include "data/dataset.hpp"

namespace fedpp::data {

/// Counts of one client by split (training, validation, test).
struct ClientSummary {
  std::int64_t id = 0;
  TypeList types;
  std::array<std::int64_t, 3> sequences{};  ///< observed in the split
  std::array<std::int64_t, 3> events{};
  std::array<std::int64_t, 3> distinct{};  ///< distinct times within the client on the pooled clock of the file (1.9)
  LeftOut left_out;
};

ClientSummary summarise(const ClientData& client);

/// A table of the summaries with a line of totals. `names`: of the clients by their numbers, where they have any.
std::string summary_table(const std::vector<ClientSummary>& summaries, const std::vector<std::string>& names = {});

/// A line where the files say who holds what and the options pass over it; else "".
std::string unused_clients(const Plan& plan);

}  // namespace fedpp::data
