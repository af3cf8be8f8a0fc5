// Sigmoidal Cox processes whose function is drawn from a Gaussian process.
#include <cassert>
#include <cmath>

#include "data/random.hpp"
#include "data/simulate.hpp"
#include "data/simulation_parts.hpp"

namespace fedpp::data {
namespace {

constexpr double kJitter = 1e-6;  // relative, as in the model (theory 1.2)

/// f(t) = kappa(t,z) K^-1 u: the conditional mean given the values u at the inducing points z.
class Function {
 public:
  Function(const CoxSettings& settings, Random& random) : settings_(settings) {
    const int m = settings.inducing;
    for (int i = 0; i < m; ++i) points_.push_back(m > 1 ? settings.window * i / (m - 1) : 0.5 * settings.window);
    std::vector<double> l(m * m, 0.0);  // lower Cholesky factor of K
    for (int i = 0; i < m; ++i)
      for (int j = 0; j <= i; ++j) {
        double sum = kernel(points_[i], points_[j]) + (i == j ? kJitter * settings.variance : 0.0);
        for (int k = 0; k < j; ++k) sum -= l[i * m + k] * l[j * m + k];
        assert(i != j || sum > 0);
        l[i * m + j] = i == j ? std::sqrt(sum) : sum / l[j * m + j];
      }
    // u = L v with v standard normal, so K^-1 u = L^-T v.
    coefficients_.resize(m);
    for (double& v : coefficients_) v = random.normal();
    for (int i = m - 1; i >= 0; --i) {
      for (int k = i + 1; k < m; ++k) coefficients_[i] -= l[k * m + i] * coefficients_[k];
      coefficients_[i] /= l[i * m + i];
    }
  }

  double operator()(double t) const {
    double f = 0;
    for (std::size_t i = 0; i < points_.size(); ++i) f += kernel(t, points_[i]) * coefficients_[i];
    return f;
  }

 private:
  double kernel(double a, double b) const {
    const double d = (a - b) / settings_.lengthscale;
    return settings_.variance * std::exp(-0.5 * d * d);
  }

  CoxSettings settings_;
  std::vector<double> points_, coefficients_;
};

}  // namespace

CoxDraw simulate_cox(const CoxSettings& settings, std::uint64_t seed, int type) {
  assert(settings.upper > 0 && settings.window > 0 && settings.variance > 0 && settings.lengthscale > 0);
  assert(settings.inducing >= 1 && settings.grid >= 2);
  Random function_random(seed, Purpose::kSimulateFunction, type);
  const Function f(settings, function_random);
  const double m = settings.upper / settings.window;
  CoxDraw draw;
  for (int g = 0; g < settings.grid; ++g) {
    const double t = settings.window * g / (settings.grid - 1);
    draw.truth.grid.push_back(t);
    draw.truth.f.push_back(f(t));
    draw.truth.intensity.push_back(m * sigmoid(draw.truth.f.back()));
  }
  Random random(seed, Purpose::kSimulateEvents, type);
  for (int s = 0; s < settings.sequences; ++s) {
    SimulatedSequence sequence;
    sequence.id = s;
    sequence.window = {0, settings.window};
    sequence.times = thin([&](double t) { return m * sigmoid(f(t)); }, m, sequence.window, random);
    sequence.types.assign(sequence.times.size(), type);
    draw.sequences.push_back(std::move(sequence));
  }
  return draw;
}

std::vector<CoxDraw> simulate_paper_cox(std::uint64_t seed) {
  CoxSettings first, second;
  second.variance = 2;
  second.lengthscale = 8;
  std::vector<CoxDraw> draws{simulate_cox(first, seed, 0), simulate_cox(second, seed, 1)};
  for (SimulatedSequence& sequence : draws[1].sequences) sequence.id += first.sequences;
  return draws;
}

}  // namespace fedpp::data
