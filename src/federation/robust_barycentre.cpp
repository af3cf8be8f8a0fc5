#include "federation/robust_barycentre.hpp"

#include <cmath>
#include <string_view>

#include "federation/order_statistics.hpp"

namespace fedpp::federation {

Gaussian robust_barycentre(Sums& sums, const AcceptedUploads& uploads, std::size_t parameters, Divergence rule,
                           Estimator estimator, double trim) {
  constexpr std::string_view kTraffic = "order statistics";
  const auto estimate = [&](const auto& term) {  // term(upload, p) of each accepted upload -> [P]
    Columns columns;
    for (const auto& weighted : uploads.mine()) {
      columns.emplace_back();
      for (std::size_t p = 0; p < parameters; ++p) columns.back().push_back(term(weighted.upload, p));
    }
    return estimator == Estimator::kMedian ? medians(sums, columns, parameters, uploads.count(), kTraffic)
                                           : trimmed_means(sums, columns, parameters, uploads.count(), trim, kTraffic);
  };
  Gaussian theta;
  theta.mean = estimate([](const Upload& upload, std::size_t p) { return upload.mean[p]; });
  theta.sd = estimate([&](const Upload& upload, std::size_t p) {
    if (rule == Divergence::kW2) return upload.sd[p];
    const double deviation = rule == Divergence::kKl ? upload.mean[p] - theta.mean[p] : 0.0;
    return upload.sd[p] * upload.sd[p] + deviation * deviation;
  });
  if (rule != Divergence::kW2)
    for (double& sd : theta.sd) sd = std::sqrt(sd);
  return theta;
}

}  // namespace fedpp::federation
