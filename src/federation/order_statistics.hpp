// Order statistics over the clients of all ranks (docs/aggregation.md): found exactly, by bisection on counts, so that
// no number of a client's leaves its rank, and the answer has the same bits for any number of ranks.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "mpi/communicator.hpp"

namespace fedpp::federation {

/// This rank's numbers: [clients][n], finite.
using Columns = std::vector<std::vector<double>>;

/// Collective. For each of n columns the `rank`-th smallest (from 1) over all ranks' clients: 64 sums of n integers.
std::vector<double> order_statistic(mpi::Communicator& comm, const Columns& mine, std::size_t n, std::uint64_t rank,
                                    std::string_view kind);

/// Collective. [n] medians over `count` clients of all ranks; the mean of the two in the middle where they are even.
std::vector<double> medians(mpi::Communicator& comm, const Columns& mine, std::size_t n, std::uint64_t count,
                            std::string_view kind);

/// Collective. [n] means of what is left when floor(trim count) of the smallest and as many of the largest are taken
/// off, trim < 0.5. Equal numbers are told apart by nothing, so as many of them are kept as fit. Exact sums of two
/// words.
std::vector<double> trimmed_means(mpi::Communicator& comm, const Columns& mine, std::size_t n, std::uint64_t count,
                                  double trim, std::string_view kind);

}  // namespace fedpp::federation
