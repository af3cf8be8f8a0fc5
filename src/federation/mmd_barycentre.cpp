#include "federation/mmd_barycentre.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

namespace fedpp::federation {

namespace {

constexpr int kMostEvaluations = 200;
constexpr double kLongestStep = 1.0;       // in units of sqrt(d^2 + 2 sigma^2) for mu, of 1 for log sigma
constexpr double kSettled = 1e-24;         // predicted decrease of d F at which a weight has converged
constexpr double kRounding = 1e-15;        // of d F, which is of order one
constexpr double kSmallestHalving = 1e-8;  // of a step
constexpr double kWideBand = 1e3;          // of kl's sd

// d F with its derivatives by t = mu / s and log sigma, s = sqrt(d^2 + 2 sigma^2): all numbers are of order one,
// whatever the units of the weights, as the exact sums like it.
struct Quadratic {
  double f = 0, g_t = 0, g_l = 0, h_tt = 0, h_tl = 0, h_ll = 0;
};
constexpr std::size_t kTerms = 6;

struct Point {
  double mu = 0, log_sigma = 0;
};

struct Step {
  double t = 0, l = 0;
};

// The client's share: phi = -2 d exp(-u^2/v)/sqrt(v) and its derivatives.
Quadratic client_term(double r, double delta, const Point& at, double d) {
  const double sigma2 = std::exp(2 * at.log_sigma);
  const double v = d * d + 2 * delta * delta + 2 * sigma2;
  const double u = r - at.mu;
  const double q = u * u / v;
  const double phi = -2 * d * std::exp(-q) / std::sqrt(v);
  const double s = std::sqrt(d * d + 2 * sigma2);
  const double w = 4 * sigma2 / v;  // d(log v)/d(log sigma)
  const double a = q - 0.5;         // d(log|phi|)/d(log v)
  const double b = 2 * u * s / v;   // d(log|phi|)/dt
  Quadratic term;
  term.f = phi;
  term.g_t = phi * b;
  term.g_l = phi * a * w;
  term.h_tt = phi * (b * b - 2 * s * s / v);
  term.h_tl = phi * b * w * (a - 1);
  term.h_ll = phi * (w * w * (a * a - 2 * q + 0.5) + 2 * w * a);
  return term;
}

// The share of sigma alone: d (d^2 + 4 sigma^2)^(-1/2).
void add_own_term(Quadratic& total, const Point& at, double d) {
  const double x = 4 * std::exp(2 * at.log_sigma);
  const double own = d * d + x;
  const double f = d / std::sqrt(own);
  const double w = x / own;
  total.f += f;
  total.g_l += -f * w;
  total.h_ll += f * w * (3 * w - 2);
}

double limited(Step& step) {
  const double length = std::hypot(step.t, step.l);
  if (length > kLongestStep) {
    step.t *= kLongestStep / length;
    step.l *= kLongestStep / length;
  }
  return length;
}

// A descent direction, or nothing where the point is a minimum.
std::optional<Step> direction(const Quadratic& q) {
  const double determinant = q.h_tt * q.h_ll - q.h_tl * q.h_tl;
  if (q.h_tt > 0 && determinant > 0) {
    Step step{(q.h_tl * q.g_l - q.h_ll * q.g_t) / determinant, (q.h_tl * q.g_t - q.h_tt * q.g_l) / determinant};
    if (std::fabs(q.g_t * step.t + q.g_l * step.l) < kSettled) return std::nullopt;
    limited(step);
    return step;
  }
  // Eigenvectors (c, s), (-s, c) of the Hessian; the eigenvalues are taken positive, hence a step downhill in both.
  const double angle = 0.5 * std::atan2(2 * q.h_tl, q.h_tt - q.h_ll);
  const double c = std::cos(angle), s = std::sin(angle);
  const double middle = 0.5 * (q.h_tt + q.h_ll), half = std::hypot(0.5 * (q.h_tt - q.h_ll), q.h_tl);
  const double high = middle + half, low = middle - half;
  const double floor = std::max(1e-14 * std::max(std::fabs(high), std::fabs(low)), 1e-300);
  const double along_high = -(c * q.g_t + s * q.g_l) / std::max(std::fabs(high), floor);
  const double along_low = -(-s * q.g_t + c * q.g_l) / std::max(std::fabs(low), floor);
  Step step{c * along_high - s * along_low, s * along_high + c * along_low};
  if (std::fabs(q.g_t * step.t + q.g_l * step.l) >= kSettled) {
    limited(step);
    return step;
  }
  if (low < -1e-10) {  // a saddle, or a maximum
    Step away{-0.5 * s, 0.5 * c};
    if (away.t < 0) away = {-away.t, -away.l};
    return away;
  }
  return std::nullopt;
}

// One weight's way to its minimum.
class Descent {
 public:
  explicit Descent(const Point& start) : trial_(start), accepted_(start) {}

  const Point& trial() const { return trial_; }
  const Point& minimum() const { return accepted_; }
  bool moving() const { return moving_; }

  // Takes F at trial() and chooses the next trial.
  void take(const Quadratic& at_trial, double d) {
    const double predicted = at_accepted_.g_t * step_.t + at_accepted_.g_l * step_.l;
    const bool first = !started_;
    if (!first && at_trial.f > at_accepted_.f + 1e-4 * fraction_ * predicted + kRounding) {
      fraction_ *= 0.5;
      if (fraction_ < kSmallestHalving || std::fabs(predicted) < kRounding * 1e-3) {
        moving_ = false;
        return;
      }
      propose(d);
      return;
    }
    started_ = true;
    accepted_ = trial_;
    at_accepted_ = at_trial;
    fraction_ = 1;
    const auto step = direction(at_trial);
    moving_ = step.has_value();
    if (moving_) {
      step_ = *step;
      propose(d);
    }
  }

 private:
  void propose(double d) {
    const double s = std::sqrt(d * d + 2 * std::exp(2 * accepted_.log_sigma));
    trial_ = {accepted_.mu + fraction_ * step_.t * s, accepted_.log_sigma + fraction_ * step_.l};
  }

  Point trial_, accepted_;
  Quadratic at_accepted_;
  Step step_;
  double fraction_ = 1;
  bool started_ = false, moving_ = true;
};

}  // namespace

MmdBarycentre mmd_barycentre(const AcceptedUploads& uploads, const Gaussian& start, double bandwidth) {
  const std::size_t parameters = start.mean.size();
  std::vector<Descent> descents;
  descents.reserve(parameters);
  for (std::size_t p = 0; p < parameters; ++p) descents.emplace_back(Point{start.mean[p], std::log(start.sd[p])});

  MmdBarycentre result;
  std::vector<std::size_t> moving;
  for (std::size_t p = 0; p < parameters; ++p)
    if (bandwidth < kWideBand * start.sd[p]) moving.push_back(p);
  while (!moving.empty() && result.evaluations < kMostEvaluations) {
    // totals: [moving][6]
    const auto totals = uploads.total(
        kTerms * moving.size(), mpi::FixedPoint::two_words(), "reduce mmd",
        [&](const AcceptedUploads::Weighted& w, mpi::ExactSums& partial) {
          for (std::size_t m = 0; m < moving.size(); ++m) {
            const std::size_t p = moving[m];
            const Quadratic term = client_term(w.upload.mean[p], w.upload.sd[p], descents[p].trial(), bandwidth);
            const double terms[kTerms] = {term.f, term.g_t, term.g_l, term.h_tt, term.h_tl, term.h_ll};
            for (std::size_t k = 0; k < kTerms; ++k) partial.add(kTerms * m + k, w.alpha * terms[k]);
          }
        });
    ++result.evaluations;
    for (std::size_t m = 0; m < moving.size(); ++m) {
      const double* sum = &totals[kTerms * m];
      Quadratic total{sum[0], sum[1], sum[2], sum[3], sum[4], sum[5]};
      Descent& descent = descents[moving[m]];
      add_own_term(total, descent.trial(), bandwidth);
      descent.take(total, bandwidth);
    }
    std::erase_if(moving, [&](std::size_t p) { return !descents[p].moving(); });
  }
  result.unconverged = static_cast<std::int64_t>(moving.size());
  for (const auto& descent : descents) {
    result.theta.mean.push_back(descent.minimum().mu);
    result.theta.sd.push_back(std::exp(descent.minimum().log_sigma));
  }
  return result;
}

double median_bandwidth(const AcceptedUploads& uploads, std::span<const double> mean) {
  constexpr double kFloor = 1e-3;
  // Doubles that are not negative are ordered as their bit patterns are.
  std::vector<std::uint64_t> mine;
  for (const auto& weighted : uploads.mine()) {
    for (std::size_t p = 0; p < mean.size(); ++p) {
      mine.push_back(std::bit_cast<std::uint64_t>(std::fabs(weighted.upload.mean[p] - mean[p])));
    }
  }
  std::sort(mine.begin(), mine.end());
  const std::uint64_t wanted = (uploads.count() * mean.size() + 1) / 2;
  std::uint64_t low = 0,
                high = std::bit_cast<std::uint64_t>(HUGE_VAL);  // smallest pattern with `wanted` values up to it
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    const auto up_to_middle = std::upper_bound(mine.begin(), mine.end(), middle) - mine.begin();
    if (uploads.total(static_cast<std::uint64_t>(up_to_middle), "median distance") >= wanted) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return std::max(std::sqrt(2.0) * std::bit_cast<double>(low), kFloor);
}

}  // namespace fedpp::federation
