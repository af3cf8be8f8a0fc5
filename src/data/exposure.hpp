// Exposure of superposed streams, and quadrature with it as the weight (theory 1.1).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/client_data.hpp"

namespace fedpp::data {

/// e(t): how many of the windows cover t.
StepFunction exposure(std::span<const Interval> windows);

/// How many of the closed windows [start, end] hold a time: e(t), with both sides of its jumps.
class CoverCount {
 public:
  explicit CoverCount(std::span<const Interval> windows);
  double at(double t) const;

 private:
  std::vector<double> starts_, ends_;  ///< increasing
};

/// Nodes and positive weights with sum_q w_q g(t_q) ~ int g(t) e(t) dt. The cells are equal parts of each stretch of
/// time that has exposure (gaps shorter than a cell do not end a stretch); on each cell the rule is Gauss's for the
/// weight e(t) itself, so polynomials up to degree 15 times e are integrated exactly, wherever and however often e
/// jumps; the number of nodes does not grow with the number of jumps. Eight nodes a cell; the error for a Gaussian bump
/// of sd s is below 1e-6 of its integral while a cell is no longer than 4 s.
struct Quadrature {
  std::vector<double> nodes, weights;
};
/// \param count nodes wanted (reached exactly where time has no gaps), >= 1
Quadrature quadrature(const StepFunction& weight, std::int64_t count);

/// Gauss-Legendre nodes and weights on [-1,1], n >= 1.
Quadrature gauss_legendre(int n);
/// The same, computed once for each n.
const Quadrature& cached_gauss_legendre(int n);
/// Gauss-Radau nodes and weights on [-1,1], n >= 1, the last node at 1: exact for polynomials up to degree 2n - 2.
/// Computed once for each n.
const Quadrature& cached_gauss_radau(int n);

/// The n-point Gauss rule of a discrete positive measure (n at most the number of its points).
Quadrature gauss_of_measure(std::span<const double> points, std::span<const double> masses, int n);

}  // namespace fedpp::data
