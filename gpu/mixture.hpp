// A client's weights as a mixture of several models, one of them its own: N(sum_j p_j r_j, (sum_j p_j delta_j)^2) with
// p >= 0, sum_j p_j = 1, the Wasserstein-2 barycentre of each weight. Both p and the own model are learned through the
// mixture, which is what the inference sees as Fields' mean and sd.
#pragma once

#include "gpu/adam.hpp"

namespace fedpp::gpu {

struct Mixture {
  int models = 0;
  Array<double> mean, sd;          // [model][P]       the models, all of one size P
  Array<int> own;                  // [client]         which of them is the client's own; its present state is below
  Array<double> own_mean, own_sd;  // [posterior]      the client's own
  Array<double> share;             // [client][model]  p
  Array<double> anchor;            // [model]          what p is drawn to
  Array<double> scale;             // [client]         factor on the objective's gradient by p
  double rate = 0;                 // step on p
  double penalty = 0;              // weight of |p - anchor|^2 / 2
  Array<double> by_mean, by_sd;    // [posterior]      gradient of the objective by the mixture
  Array<double> slope;             // [client][model]  and what p_j goes along
};

/// fields.mean and fields.sd from the models and p.
void mix(const Exec& exec, const Batch& batch, const Fields& fields, const Mixture& mixture);

/// In place of adam_step(), for every client with step_taken: with g the gradient of the objective (J less the weighted
/// divergence to the prior) by the mixture's r and delta, from dJ/dw (adjoint()), and the p before the step,
///   own model  Adam along p_own g
///   p_j        max(0, p_j + rate (s_j - mean s)), s_j = scale <g, model_j> - penalty (p_j - anchor_j); over their sum
/// then mix(). Without the means all p would follow the gradient by the models' common size. `state` belongs to the own
/// model.
void mixture_step(const Exec& exec, const Batch& batch, const Fields& fields, const AdamState& state,
                  const AdamOptions& options, const Mixture& mixture);

}  // namespace fedpp::gpu
