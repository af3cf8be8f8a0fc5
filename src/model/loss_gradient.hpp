// A client's loss at a posterior of the weights that it only looks at, and its gradient: what a client learns from that
// weighs models against each other.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/client.hpp"
#include "model/local_options.hpp"

namespace fedpp::model {

struct Loss {
  double value = 0;                    ///< -ELBO (theory 1.5) in nats, without the weights' divergence; NaN: none
  std::vector<double> by_mean, by_sd;  ///< [P] its derivatives with respect to r and delta
};

class LossGradient {
 public:
  /// The clients' training points, and q(v), m and nu as they have them; the clients' states stay as they are. One
  /// batch: its fields must fit into memory (blocks_of, with gradient). The clients must outlive this.
  LossGradient(const std::vector<const Client*>& clients, const LocalOptions& options);
  ~LossGradient();

  /// The losses at these posteriors, one a client, after `e_steps` further E-steps under them. A local epoch would
  /// begin with one, too: without it the loss is that of weights under a q(v) fitted to others, and steps away from
  /// those tend to look bad. The bound's auxiliary moments (1.3) are at their optimum, and q(v), m and nu are held, so
  /// by the envelope theorem the gradient of the surrogate J (1.6) is the ELBO's. Draws are common to all calls of a
  /// (seed, round), and apart from the epochs'. A client's numbers do not depend on which others are in the batch.
  std::vector<Loss> at(const std::vector<WeightPosterior>& weights, std::uint64_t seed, std::int64_t round,
                       int e_steps = 1);

 private:
  struct Block;
  std::unique_ptr<Block> block_;
};

}  // namespace fedpp::model
