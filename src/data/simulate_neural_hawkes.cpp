// Neural Hawkes processes whose weights are drawn.
#include <algorithm>
#include <cassert>
#include <cmath>

#include "data/random.hpp"
#include "data/simulate.hpp"
#include "data/simulation_parts.hpp"

namespace fedpp::data {
namespace {

double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

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

}  // namespace

std::vector<SimulatedSequence> simulate_neural_hawkes(const NeuralHawkesSettings& settings, std::uint64_t seed) {
  assert(settings.types >= 1 && settings.hidden >= 1 && settings.shortest >= 1 &&
         settings.longest >= settings.shortest);
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
