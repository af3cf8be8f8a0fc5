// One client's intensity as a curve with a band.
#pragma once

#include <vector>

#include "federation/session.hpp"
#include "model/priors.hpp"

namespace fedpp::federation {

/// [evaluation.curve_points] times and, per unit of file time, the expected intensity with its 5, 50 and 95 % quantiles.
struct Curve {
  std::vector<double> time, mean, lower, median, upper;
};

/// One client's: its pooled intensity or, per sequence, that of its first sequence (with its history, if any).
/// \throws model::PredictionError
Curve intensity_curve(const Session& session, const OwnedClient& client, const model::Priors& theta);

/// Bytes of the arrays that it takes.
double curve_bytes(const Session& session, const OwnedClient& client);

}  // namespace fedpp::federation
