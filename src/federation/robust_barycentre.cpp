#include "federation/robust_barycentre.hpp"

#include <string_view>

#include "federation/barycentre_rules.hpp"
#include "federation/order_statistics.hpp"

namespace fedpp::federation {

Gaussian robust_barycentre(mpi::Communicator& comm, const AcceptedUploads& uploads, std::size_t parameters,
                           Divergence rule, Estimator estimator, double trim) {
  constexpr std::string_view kTraffic = "order statistics";
  const auto estimate = [&](const auto& term) {  // term(upload, p) of each accepted upload -> [P]
    Columns columns;
    for (const auto& weighted : uploads.mine()) {
      columns.emplace_back();
      for (std::size_t p = 0; p < parameters; ++p) columns.back().push_back(term(weighted.upload, p));
    }
    return estimator == Estimator::kMedian ? medians(comm, columns, parameters, uploads.count(), kTraffic)
                                           : trimmed_means(comm, columns, parameters, uploads.count(), trim, kTraffic);
  };
  Gaussian theta;
  theta.mean = estimate([](const Upload& upload, std::size_t p) { return upload.mean[p]; });
  theta.sd = estimate([&](const Upload& upload, std::size_t p) {
    return spread_of(rule, upload.mean[p], upload.sd[p], theta.mean[p]);
  });
  for (double& sd : theta.sd) sd = sd_of(rule, sd);
  return theta;
}

}  // namespace fedpp::federation
