#include "data/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "config/error.hpp"
#include "data/random.hpp"

namespace fedpp::data {
namespace {

constexpr double kJitter = 1e-6;  // relative, as in the model (spec 1.2)

double sigmoid(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }
double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

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

/// The continuous-time LSTM of the neural Hawkes process: cells decay from c towards c_bar between events.
class NeuralHawkes {
 public:
  NeuralHawkes(int types, int hidden, Random& random) : types_(types), hidden_(hidden) {
    const double scale = 1 / std::sqrt(static_cast<double>(hidden));
    auto draw = [&](std::size_t n, double sd) {
      std::vector<double> values(n);
      for (double& value : values) value = sd * random.normal();
      return values;
    };
    // Inputs are one-hot: a column a type, and one for the beginning of the sequence.
    input_ = draw(static_cast<std::size_t>(kGates) * hidden * (types + 1), 1.0);
    recurrent_ = draw(static_cast<std::size_t>(kGates) * hidden * hidden, scale);
    bias_ = draw(static_cast<std::size_t>(kGates) * hidden, 1.0);
    output_ = draw(static_cast<std::size_t>(types) * hidden, 1.0);
  }

  struct State {
    double time = 0;                                 // of the last event
    std::vector<double> start, target, decay, gate;  // [hidden]: c, c_bar, delta, o
  };

  State begin() const {
    State state;
    state.start.assign(hidden_, 0.0);
    state.target = state.decay = state.gate = state.start;
    update(state, 0.0, types_);
    return state;
  }

  /// An event of the type at time t.
  void update(State& state, double t, int type) const {
    const std::vector<double> h = output(state, t);
    State next;
    next.time = t;
    for (auto* part : {&next.start, &next.target, &next.decay, &next.gate}) part->resize(hidden_);
    for (int j = 0; j < hidden_; ++j) {
      double gates[kGates];
      for (int g = 0; g < kGates; ++g) {
        const std::size_t row = static_cast<std::size_t>(g) * hidden_ + j;
        gates[g] = bias_[row] + input_[row * (types_ + 1) + type];
        for (int k = 0; k < hidden_; ++k) gates[g] += recurrent_[row * hidden_ + k] * h[k];
      }
      const double in = sigmoid(gates[0]), forget = sigmoid(gates[1]), in_bar = sigmoid(gates[2]);
      const double forget_bar = sigmoid(gates[3]), candidate = std::tanh(gates[4]);
      next.start[j] = forget * cell(state, j, t) + in * candidate;
      next.target[j] = forget_bar * state.target[j] + in_bar * candidate;
      next.gate[j] = sigmoid(gates[5]);
      next.decay[j] = softplus(gates[6]);
    }
    state = std::move(next);
  }

  /// Intensities of all types at t. \return their sum
  double intensities(const State& state, double t, std::vector<double>& of_type) const {
    const std::vector<double> h = output(state, t);
    double sum = 0;
    for (int k = 0; k < types_; ++k) {
      double x = 0;
      for (int j = 0; j < hidden_; ++j) x += output_[k * hidden_ + j] * h[j];
      of_type[k] = softplus(x);
      sum += of_type[k];
    }
    return sum;
  }

  /// A bound of the total intensity from t on while nothing happens: every hidden unit moves monotonically to its
  /// target.
  double bound(const State& state, double t) const {
    const std::vector<double> h = output(state, t);
    double sum = 0;
    for (int k = 0; k < types_; ++k) {
      double x = 0;
      for (int j = 0; j < hidden_; ++j) {
        const double w = output_[k * hidden_ + j];
        x += std::max(w * h[j], w * state.gate[j] * std::tanh(state.target[j]));
      }
      sum += softplus(x);
    }
    return sum;
  }

 private:
  static constexpr int kGates = 7;  // in, forget, in_bar, forget_bar, candidate, out, decay

  double cell(const State& state, int j, double t) const {
    return state.target[j] + (state.start[j] - state.target[j]) * std::exp(-state.decay[j] * (t - state.time));
  }
  std::vector<double> output(const State& state, double t) const {
    std::vector<double> h(hidden_);
    for (int j = 0; j < hidden_; ++j) h[j] = state.gate[j] * std::tanh(cell(state, j, t));
    return h;
  }

  int types_, hidden_;
  std::vector<double> input_, recurrent_, bias_, output_;
};

/// Thinning of a Poisson process of rate `bound`.
template <class Intensity>
std::vector<double> thin(const Intensity& intensity, double bound, Interval window, Random& random) {
  std::vector<double> times;
  for (double t = window.start;;) {
    t += random.exponential() / bound;
    if (!(t < window.end)) return times;
    const double level = intensity(t);
    if (!(level >= 0 && level <= bound * (1 + 1e-12)))
      throw UserError(
          fmt::format("simulated intensity {} at time {} is not within [0, {}]: raise the bound", level, t, bound));
    if (random.uniform() * bound < level) times.push_back(t);
  }
}

void check(bool good, const char* what, double value, const char* remedy) {
  if (!good) throw UserError(fmt::format("simulation: {} = {}: {}", what, value, remedy));
}

}  // namespace

CoxDraw simulate_cox(const CoxSettings& settings, std::uint64_t seed, int type) {
  check(settings.upper > 0, "upper", settings.upper, "the intensity's bound must be positive");
  check(settings.window > 0, "window", settings.window, "must be positive");
  check(settings.variance > 0, "variance", settings.variance, "must be positive");
  check(settings.lengthscale > 0, "lengthscale", settings.lengthscale, "must be positive");
  check(settings.inducing >= 1, "inducing", settings.inducing, "at least one point");
  check(settings.grid >= 2, "grid", settings.grid, "at least two points");
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

std::vector<SimulatedSequence> simulate_poisson(const std::function<double(double)>& intensity, double bound,
                                                Interval window, int sequences, std::uint64_t seed) {
  check(bound > 0, "bound", bound, "must be positive");
  check(window.end > window.start, "window end", window.end, "must lie after its start");
  Random random(seed, Purpose::kSimulateEvents, 0);
  std::vector<SimulatedSequence> drawn(sequences);
  for (int s = 0; s < sequences; ++s) {
    drawn[s].id = s;
    drawn[s].window = window;
    drawn[s].times = thin(intensity, bound, window, random);
    drawn[s].types.assign(drawn[s].times.size(), 0);
  }
  return drawn;
}

std::vector<SimulatedSequence> simulate_hawkes(const HawkesSettings& settings, std::uint64_t seed) {
  check(settings.mu > 0, "mu", settings.mu, "the background rate must be positive");
  check(settings.alpha >= 0 && settings.alpha < 1, "alpha", settings.alpha,
        "choose it in [0, 1), else the process explodes");
  check(settings.beta > 0, "beta", settings.beta, "the decay must be positive");
  check(settings.window > 0, "window", settings.window, "must be positive");
  Random random(seed, Purpose::kSimulateEvents, 0);
  std::vector<SimulatedSequence> drawn(settings.sequences);
  for (int s = 0; s < settings.sequences; ++s) {
    drawn[s].id = s;
    drawn[s].window = {0, settings.window};
    // Ogata: the intensity falls until the next event, so its present value bounds it.
    double excited = 0;
    for (double t = 0;;) {
      const double bound = settings.mu + excited;
      const double wait = random.exponential() / bound;
      t += wait;
      if (!(t < settings.window)) break;
      excited *= std::exp(-settings.beta * wait);
      if (random.uniform() * bound >= settings.mu + excited) continue;
      drawn[s].times.push_back(t);
      excited += settings.alpha * settings.beta;
    }
    drawn[s].types.assign(drawn[s].times.size(), 0);
  }
  return drawn;
}

std::vector<SimulatedSequence> simulate_neural_hawkes(const NeuralHawkesSettings& settings, std::uint64_t seed) {
  check(settings.types >= 1, "types", settings.types, "at least one");
  check(settings.hidden >= 1, "hidden", settings.hidden, "at least one unit");
  check(settings.shortest >= 1, "shortest", settings.shortest, "at least one event");
  check(settings.longest >= settings.shortest, "longest", settings.longest, "must not be below 'shortest'");
  Random weights(seed, Purpose::kSimulateFunction, 0);
  const NeuralHawkes process(settings.types, settings.hidden, weights);
  Random random(seed, Purpose::kSimulateEvents, 0);
  std::vector<SimulatedSequence> drawn(settings.sequences);
  std::vector<double> of_type(settings.types);
  for (int s = 0; s < settings.sequences; ++s) {
    SimulatedSequence& sequence = drawn[s];
    sequence.id = s;
    const auto length =
        static_cast<std::size_t>(settings.shortest) +
        random.below(static_cast<std::uint64_t>(settings.longest) - static_cast<std::uint64_t>(settings.shortest) + 1);
    NeuralHawkes::State state = process.begin();
    for (double t = 0; sequence.times.size() < length;) {
      const double bound = process.bound(state, t);
      t += random.exponential() / bound;
      double left = random.uniform() * bound;
      if (left >= process.intensities(state, t, of_type)) continue;
      int type = 0;
      while (type + 1 < settings.types && left >= of_type[type]) left -= of_type[type++];
      sequence.times.push_back(t);
      sequence.types.push_back(type);
      process.update(state, t, type);
    }
    sequence.window = {0, sequence.times.back()};
  }
  return drawn;
}

}  // namespace fedpp::data
