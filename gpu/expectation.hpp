// Expectations of the intensity under f ~ N(mean, variance) (theory 1.8): trapezoid rule in z, of as many nodes as sd
// asks for.
#pragma once

#include "gpu/fields.hpp"

namespace fedpp::gpu {

/// log_intensity[n] = E[log(rate sigma(f))], intensity[n] = E[rate sigma(f)] for each pair mean[n], variance[n] >= 0
/// and rate[n] > 0.
void expected_intensity(const Exec& exec, const Array<double>& mean, const Array<double>& variance,
                        const Array<double>& rate, const Array<double>& log_intensity, const Array<double>& intensity);

/// [column] each.
struct ColumnExpectations {
  Array<double> log_intensity, intensity;
};
/// The same at a batch's columns, means over the samples of the weights, from nu + fields.projection, fields.variance
/// and m.
ColumnExpectations expected_intensity(const Exec& exec, const Batch& batch, const Fields& fields);

}  // namespace fedpp::gpu
