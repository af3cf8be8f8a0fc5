#include "federation/accepted_uploads.hpp"

#include <fmt/format.h>

#include <cmath>

namespace fedpp::federation {

std::string fault_of(std::span<const double> mean, std::span<const double> sd) {
  for (std::size_t i = 0; i < mean.size(); ++i)
    if (!std::isfinite(mean[i])) return fmt::format("mean[{}] = {} is not finite", i, mean[i]);
  for (std::size_t i = 0; i < sd.size(); ++i) {
    if (!std::isfinite(sd[i])) return fmt::format("sd[{}] = {} is not finite", i, sd[i]);
    if (sd[i] <= 0) return fmt::format("sd[{}] = {} is not positive", i, sd[i]);
  }
  return {};
}

std::string reason_to_reject(const Upload& upload) {
  if (!std::isfinite(upload.weight) || upload.weight < 0)
    return fmt::format("its weight is {}; weights are finite and not negative", upload.weight);
  return fault_of(upload.mean, upload.sd);
}

AcceptedUploads::AcceptedUploads(mpi::Communicator& comm, std::span<const Upload> uploads, std::size_t parameters)
    : comm_(comm) {
  for (const auto& upload : uploads) {
    std::string reason = reason_to_reject(upload);
    if (upload.mean.size() != parameters || upload.sd.size() != parameters) {
      reason = fmt::format("it has {} means and {} sds; the model has {} weights", upload.mean.size(), upload.sd.size(),
                           parameters);
    }
    if (reason.empty()) {
      mine_.push_back({upload, 0});
    } else {
      rejected_.push_back({upload.client, reason});
    }
  }
  normalise();
}

void AcceptedUploads::normalise() {
  count_ = total(mine_.size(), "count uploads");
  if (count_ == 0) return;
  const double sum = total(1, mpi::FixedPoint::two_words(), "sum weights",
                           [](const Weighted& w, mpi::ExactSums& partial) { partial.add(0, w.upload.weight); })[0];
  if (sum <= 0) throw mpi::Error("aggregation: the weights of all accepted uploads are zero: nothing to average");
  for (auto& weighted : mine_) weighted.alpha = weighted.upload.weight / sum;
}

std::string AcceptedUploads::beyond(double term, const mpi::ExactSums& sums) {
  return fmt::format("it would add {:.3g} to a sum, which holds up to {:.3g} of each of {} uploads", term, sums.bound(),
                     sums.contributions());
}

}  // namespace fedpp::federation
