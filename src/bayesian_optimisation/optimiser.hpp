// Maximisation of an expensive function of one variable: a Gaussian process, and GP-Hedge (Brochu, Hoffman, de Freitas,
// "Portfolio allocation for Bayesian optimization", 2011) over expected improvement and the upper confidence bound.
// Asks and is told, so that many optimisers can have their points evaluated together. No random numbers of its own.
#pragma once

#include <cstddef>
#include <vector>

namespace fedpp::bayesian_optimisation {

/// (mean - best) Phi(z) + sd phi(z), z = (mean - best) / sd; max(mean - best, 0) where sd = 0.
double expected_improvement(double mean, double sd, double best);

class Optimiser {
 public:
  /// Over [low, high], low < high. The first 5 points lie evenly from high to low, ends included.
  Optimiser(double low, double high);

  /// The next point. `uniform` in (0, 1): chooses between the two acquisitions' points; not used for initial ones.
  double propose(double uniform);
  /// The value at the point proposed last. One that is not finite counts as the worst so far.
  void observe(double value);

  /// Of all points evaluated the best one; of equal ones the first evaluated (initially: the greatest).
  double best() const { return points_[best_]; }

 private:
  double low_, high_;
  std::vector<double> points_, values_;
  std::size_t best_ = 0;
  bool finite_ = false;           // whether a value was
  double gains_[2] = {0, 0};      // of expected improvement, of the bound
  std::vector<double> nominees_;  // their points at the last proposal, rewarded when its value is known
};

}  // namespace fedpp::bayesian_optimisation
