#include "evaluation/hawkes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace fedpp::evaluation {
namespace {

using Vector = std::array<double, 3>;

/// Walks along one sequence's history, window edges and counted events in order, carrying the decaying sum
/// A = sum_j exp(-beta (t - t_j)) over the history so far and D = sum_j (t - t_j) exp(-beta (t - t_j)) = -dA/dbeta.
class SequenceWalk {
 public:
  SequenceWalk(const data::ClientSequence& sequence, const HawkesParameters& p, double& log_likelihood,
               Vector* gradient)
      : history_(sequence.times), p_(p), log_likelihood_(log_likelihood), gradient_(gradient) {}

  void run(const std::vector<double>& events, const std::vector<data::Interval>& windows) {
    if (windows.empty() && events.empty()) return;
    time_ = windows.empty() ? events.front() : windows.front().start;
    if (!history_.empty()) time_ = std::min(time_, history_.front());
    std::size_t i = 0;
    for (const data::Interval& window : windows) {
      move(window.start, false);
      for (; i < events.size() && events[i] <= window.end; ++i) {
        move(events[i], true);
        add_event();
      }
      move(window.end, true);
    }
    for (; i < events.size(); ++i) {  // what is observed ends with an event that begins a window: none is left of that
      move(events[i], false);
      add_event();
    }
  }

 private:
  /// Moves to `to`; every history time strictly before it joins the memory on the way.
  void move(double to, bool observed) {
    for (; next_ < history_.size() && history_[next_] < to; ++next_) {
      step(history_[next_], observed);
      sum_ += 1;
    }
    step(to, observed);
  }

  void step(double to, bool observed) {
    const double dt = to - time_, e = std::exp(-p_.decay * dt), gone = -std::expm1(-p_.decay * dt);
    if (observed) {
      log_likelihood_ -= p_.base * dt + p_.branching * sum_ * gone;
      if (gradient_ != nullptr) {
        (*gradient_)[0] -= dt;
        (*gradient_)[1] -= sum_ * gone;
        (*gradient_)[2] -= p_.branching * (sum_ * dt * e - moment_ * gone);
      }
    }
    moment_ = (moment_ + sum_ * dt) * e;
    sum_ *= e;
    time_ = to;
  }

  void add_event() {
    const double intensity = p_.base + p_.branching * p_.decay * sum_;
    log_likelihood_ += std::log(intensity);
    if (gradient_ == nullptr) return;
    (*gradient_)[0] += 1 / intensity;
    (*gradient_)[1] += p_.decay * sum_ / intensity;
    (*gradient_)[2] += p_.branching * (sum_ - p_.decay * moment_) / intensity;
  }

  const std::vector<double>& history_;
  const HawkesParameters& p_;
  double& log_likelihood_;
  Vector* gradient_;
  double time_ = 0, sum_ = 0, moment_ = 0;
  std::size_t next_ = 0;  // first history time not yet in the memory
};

double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

HawkesParameters from_logs(const Vector& x) { return {std::exp(x[0]), std::exp(x[1]), std::exp(x[2])}; }

/// The negative log-likelihood per event in log parameters.
struct Objective {
  const data::ClientData& client;
  double events;

  double operator()(const Vector& x, Vector& gradient) const {
    const HawkesParameters p = from_logs(x);
    Vector by_parameter;
    const double value = -hawkes_log_likelihood(client, data::kTrain, p, &by_parameter) / events;
    gradient = {-by_parameter[0] * p.base / events, -by_parameter[1] * p.branching / events,
                -by_parameter[2] * p.decay / events};
    return value;
  }
};

/// BFGS with backtracking. Steps are at most 2 in a logarithm, so that no parameter overflows.
double minimise(const Objective& objective, Vector& x) {
  constexpr int kIterations = 100, kHalvings = 33;
  constexpr double kGradientTolerance = 1e-7, kArmijo = 1e-4, kLongestStep = 2;
  std::array<Vector, 3> h{};  // inverse Hessian
  const auto reset = [&h] { h = {Vector{1, 0, 0}, Vector{0, 1, 0}, Vector{0, 0, 1}}; };
  reset();
  Vector g;
  double value = objective(x, g);
  for (int iteration = 0; iteration < kIterations && std::sqrt(dot(g, g)) > kGradientTolerance; ++iteration) {
    Vector d;
    for (int i = 0; i < 3; ++i) d[i] = -dot(h[i], g);
    if (!(dot(d, g) < 0)) {
      reset();
      d = {-g[0], -g[1], -g[2]};
    }
    double longest = 0;
    for (double c : d) longest = std::max(longest, std::abs(c));
    if (longest > kLongestStep) {
      for (double& c : d) c *= kLongestStep / longest;
    }
    const double slope = dot(d, g);
    double scale = 1, next_value = 0;
    Vector next, next_g;
    bool lower = false;
    for (int halving = 0; halving < kHalvings && !lower; ++halving, scale /= 2) {
      for (int i = 0; i < 3; ++i) next[i] = x[i] + scale * d[i];
      next_value = objective(next, next_g);
      lower = next_value <= value + kArmijo * scale * slope;  // false for NaN
    }
    if (!lower) break;
    Vector s, y;
    for (int i = 0; i < 3; ++i) s[i] = next[i] - x[i], y[i] = next_g[i] - g[i];
    if (const double sy = dot(s, y); sy > 1e-14) {
      Vector hy;
      for (int i = 0; i < 3; ++i) hy[i] = dot(h[i], y);
      const double yhy = dot(y, hy);
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          h[i][j] += (1 + yhy / sy) * s[i] * s[j] / sy - (hy[i] * s[j] + s[i] * hy[j]) / sy;
        }
      }
    }
    x = next, g = next_g, value = next_value;
  }
  return value;
}

}  // namespace

double hawkes_log_likelihood(const data::ClientData& client, data::Split split, const HawkesParameters& parameters,
                             std::array<double, 3>* gradient) {
  if (gradient != nullptr) *gradient = {0, 0, 0};
  double log_likelihood = 0;
  for (const data::ClientSequence& sequence : client.sequences) {
    SequenceWalk(sequence, parameters, log_likelihood, gradient).run(sequence.events[split], sequence.windows[split]);
  }
  return log_likelihood;
}

HawkesParameters fit_hawkes(const data::ClientData& client) {
  double events = 0, time = 0;
  for (const data::ClientSequence& sequence : client.sequences) {
    events += static_cast<double>(sequence.events[data::kTrain].size());
    for (const data::Interval& window : sequence.windows[data::kTrain]) time += window.end - window.start;
  }
  if (!(time > 0)) return {1, 0, 1};
  if (events == 0) return {0.5 / time, 0, 1};
  const double rate = events / time;
  const HawkesParameters homogeneous{rate, 0, rate};
  const Objective objective{client, events};
  double best_value = -hawkes_log_likelihood(client, data::kTrain, homogeneous) / events;
  HawkesParameters best = homogeneous;
  for (double gaps : {0.1, 1.0, 10.0}) {  // decay time of the start in mean gaps
    Vector x{std::log(0.6 * rate), std::log(0.4), std::log(rate / gaps)};
    const double value = minimise(objective, x);
    if (value < best_value) best_value = value, best = from_logs(x);
  }
  return best;
}

}  // namespace fedpp::evaluation
