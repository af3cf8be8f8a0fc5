// Where the aggregators' sums come from: one process (probe, tests) or all ranks. The sums are exact
// (mpi/exact_sum.hpp), so both give the same bits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "mpi/communicator.hpp"
#include "mpi/exact_sum.hpp"

namespace fedpp::federation {

class Sums {
 public:
  virtual ~Sums() = default;

  /// Turns partial sums into totals, the same on every rank. `error`: why this rank could not form its part; if any
  /// rank has one, all throw mpi::Error with the lowest rank's text. `kind` is the ledger's name for the traffic.
  virtual void reduce(mpi::ExactSums& sums, const std::optional<std::string>& error, std::string_view kind) = 0;

  /// Turns counts into their sums over the ranks.
  virtual void total(std::span<std::uint64_t> counts, std::string_view kind) = 0;

  /// The sum of the ranks' counts.
  virtual std::uint64_t total(std::uint64_t count, std::string_view kind) = 0;
};

/// All uploads are in this process.
class LocalSums final : public Sums {
 public:
  void reduce(mpi::ExactSums& sums, const std::optional<std::string>& error, std::string_view kind) override;
  void total(std::span<std::uint64_t>, std::string_view) override {}
  std::uint64_t total(std::uint64_t count, std::string_view) override { return count; }
};

/// Every rank holds the uploads of its own clients. All functions are collective.
class CommunicatorSums final : public Sums {
 public:
  explicit CommunicatorSums(mpi::Communicator& comm) : comm_(comm) {}
  void reduce(mpi::ExactSums& sums, const std::optional<std::string>& error, std::string_view kind) override;
  void total(std::span<std::uint64_t> counts, std::string_view kind) override;
  std::uint64_t total(std::uint64_t count, std::string_view kind) override;

 private:
  mpi::Communicator& comm_;
};

}  // namespace fedpp::federation
