// The uploads that take part in a round's barycentre, with their normalised weights, and exact sums over them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "federation/gaussian.hpp"
#include "mpi/communicator.hpp"
#include "mpi/exact_reduce.hpp"
#include "mpi/exact_sum.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {

struct RejectedUpload {
  std::int64_t client = 0;
  std::string reason;
  std::string remedy = {};  ///< where the client means well
};

/// Why these are no Gaussians [P]: the first mean or sd that is not finite, or sd that is not positive. Empty if they are.
std::string fault_of(std::span<const double> mean, std::span<const double> sd);

/// Why an upload cannot be used (theory 2.6): a value that is not finite, an sd that is not positive. Empty if it can.
std::string reason_to_reject(const Upload& upload);

/// Collective over `sums`. Holds this rank's share.
class AcceptedUploads {
 public:
  struct Weighted {
    Upload upload;
    double alpha = 0;  ///< weight / sum of the weights of all accepted uploads of all ranks
  };

  /// Rejects what must be rejected and normalises the weights: one count and one exact sum. `parameters`: P. Throws
  /// mpi::Error where all accepted weights are zero.
  AcceptedUploads(mpi::Communicator& comm, std::span<const Upload> uploads, std::size_t parameters);

  /// Uploads that were accepted before, with weights that add up to 1 over all ranks; `count`: on all ranks.
  AcceptedUploads(mpi::Communicator& comm, std::vector<Weighted> mine, std::uint64_t count)
      : comm_(comm), mine_(std::move(mine)), count_(count) {}

  /// Collective. Rejects, too, what sums of this format cannot hold, so that one upload does not end the round
  /// (docs/aggregation.md), and weighs the others anew. `largest(Weighted)`: the magnitude of the largest term that an
  /// upload adds.
  template <class Largest>
  void reject_beyond(mpi::FixedPoint format, Largest&& largest) {
    while (count_ > 0) {  // the others' weights grow as one is rejected
      const mpi::ExactSums sums(0, format, count_);
      std::erase_if(mine_, [&](const Weighted& weighted) {
        const double term = largest(weighted);
        if (sums.holds(term)) return false;
        rejected_.push_back({weighted.upload.client, beyond(term, sums),
                             format.words == 1 ? "choose fewer aggregation.fraction_bits" : ""});
        return true;
      });
      if (total(mine_.size(), "count uploads") == count_) return;
      normalise();
    }
  }

  const std::vector<Weighted>& mine() const { return mine_; }
  const std::vector<RejectedUpload>& rejected() const { return rejected_; }  ///< of this rank's uploads
  std::uint64_t count() const { return count_; }                             ///< accepted on all ranks

  /// Collective. `contribute(const Weighted&, ExactSums&)` adds one upload's terms to `size` sums; returns the totals.
  template <class Contribute>
  std::vector<double> total(std::size_t size, mpi::FixedPoint format, std::string_view kind,
                            Contribute&& contribute) const {
    mpi::ExactSums partial(size, format, count_);
    std::optional<std::string> error;
    for (const auto& weighted : mine_) {
      try {
        contribute(weighted, partial);
      } catch (const mpi::Error& reason) {
        error = "upload of client " + std::to_string(weighted.upload.client) + ": " + reason.what();
        break;
      }
    }
    mpi::agree(comm_, error);
    mpi::allreduce(comm_, partial, kind);
    return partial.values();
  }

  /// Collective. The sum over ranks of `count`.
  std::uint64_t total(std::uint64_t count, std::string_view kind) const {
    return comm_.allreduce(count, mpi::Op::sum, kind);
  }

 private:
  /// Collective. Counts what is accepted and sets the alphas.
  void normalise();
  static std::string beyond(double term, const mpi::ExactSums& sums);

  mpi::Communicator& comm_;
  std::vector<Weighted> mine_;
  std::vector<RejectedUpload> rejected_;
  std::uint64_t count_ = 0;
};

}  // namespace fedpp::federation
