// The collectives of exact sums: integers are added modulo 2^64 or 2^128, so any reduction tree gives the same bits.
#pragma once

#include <span>
#include <string_view>

#include "mpi/communicator.hpp"
#include "mpi/exact_sum.hpp"

namespace fedpp::mpi {

/// Adds the ranks' sums; the totals are on all ranks. sums: [size] partial -> [size] total. Size and format agree
/// beforehand.
void allreduce(Communicator& comm, ExactSums& sums, std::string_view kind);

/// Adds the ranks' sums, and leaves each rank its own share of the totals: `shares`: [ranks] counts of consecutive
/// sums, adding up to the size. sums: [size] partial -> returned [shares[rank]] total. Nobody else sees a rank's share.
ExactSums reduce_scatter(Communicator& comm, const ExactSums& sums, std::span<const std::size_t> shares,
                         std::string_view kind);

}  // namespace fedpp::mpi
