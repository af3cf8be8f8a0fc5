#include "data/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <type_traits>
#include <vector>

#include "commands/command.hpp"
#include "commands/simulation_files.hpp"
#include "config/error.hpp"

namespace fedpp::commands {
namespace {

struct SimulateOptions {
  std::string out;  ///< a file
  std::uint64_t seed = 1;
  data::CoxSettings cox;
  data::HawkesSettings hawkes;
  data::NeuralHawkesSettings neural;
  double rate = 1, amplitude = 0, period = 24, window = 100;
  int sequences = 1;
};

using Options = std::shared_ptr<SimulateOptions>;

constexpr const char* kSimulateExamples =
    "Examples:\n"
    "  fedpp simulate paper-cox --out truth.csv        two clients of the paper's J.1, with truth.truth.csv\n"
    "  fedpp simulate hawkes --mu 0.5 --alpha 0.6 --beta 2 --sequences 50 --out hawkes.csv --seed 3\n"
    "  fedpp simulate neural-hawkes --types 5 --sequences 1000 --out conttime-like.h5\n"
    "\n"
    "OUT is CSV (.csv) or HDF5 (.h5). Beside a CSV file, OUT's name with .windows.csv holds the windows of "
    "observation,\n"
    "and with .truth.csv the true intensity where it is a function of time alone (cox, paper-cox).";

constexpr double kMostEvents = 1e8;                    // about 5 GB in memory, a minute
constexpr int kMostInducing = 2000;                    // about 10 s and 32 MB
constexpr int kMostTypes = 10000, kMostHidden = 1000;  // half a gigabyte of weights

void demand(bool holds, const std::string& option, double value, const std::string& remedy) {
  if (!holds) throw UserError(fmt::format("--{} {}: {}", option, value, remedy));
}

void demand_positive(const std::string& option, double value) {
  demand(value > 0 && std::isfinite(value), option, value, "must be above 0 and finite");
}

/// A draw that would not end, or fill the memory, is refused before it starts.
void demand_drawable(double events_a_sequence, int sequences, const std::string& remedy) {
  demand(sequences >= 1, "sequences", sequences, "must be at least 1");
  const double events = std::max(events_a_sequence, 1.0) * sequences;
  if (!(events <= kMostEvents))
    throw UserError(fmt::format("{:.3g} events are to be expected, and {:.3g} are the limit: lower {} or --sequences",
                                events, kMostEvents, remedy));
}

int simulate_paper_cox(const SimulateOptions& options) {
  return write_simulation(options.out, data::simulate_paper_cox(options.seed));
}

int simulate_cox(const SimulateOptions& options) {
  const data::CoxSettings& cox = options.cox;
  demand_positive("upper", cox.upper);
  demand_positive("window", cox.window);
  demand_positive("variance", cox.variance);
  demand_positive("lengthscale", cox.lengthscale);
  demand(cox.inducing >= 1 && cox.inducing <= kMostInducing, "inducing", cox.inducing,
         fmt::format("must be from 1 to {}: their covariance is factorised as one matrix", kMostInducing));
  const int least = static_cast<int>(std::ceil(std::min(cox.window / cox.lengthscale, 1e9))) + 1;
  demand(
      cox.inducing >= least, "inducing", cox.inducing,
      least <= kMostInducing
          ? fmt::format("must be at least {}: the function would go back to its mean between points that are further "
                        "apart than --lengthscale",
                        least)
          : fmt::format("points further apart than --lengthscale do not draw the function, and {} are the limit: take "
                        "a --lengthscale of at least {:.4g}",
                        kMostInducing, 1.001 * cox.window / (kMostInducing - 1)));  // however that is rounded
  demand_drawable(cox.upper, cox.sequences, "--upper");
  return write_simulation(options.out, std::vector{data::simulate_cox(cox, options.seed)});
}

int simulate_poisson(const SimulateOptions& options) {
  demand_positive("rate", options.rate);
  demand(options.amplitude >= 0 && options.amplitude <= 1, "amplitude", options.amplitude, "must be in [0, 1]");
  demand_positive("period", options.period);
  demand_positive("window", options.window);
  demand_drawable(options.rate * options.window, options.sequences, "--rate, --window");
  const auto intensity = [&](double t) {
    return options.rate * (1 + options.amplitude * std::sin(2 * std::numbers::pi * t / options.period));
  };
  return write_simulation(options.out, data::simulate_poisson(intensity, options.rate * (1 + options.amplitude),
                                                              {0, options.window}, options.sequences, options.seed));
}

int simulate_hawkes(const SimulateOptions& options) {
  const data::HawkesSettings& hawkes = options.hawkes;
  demand_positive("mu", hawkes.mu);
  demand(hawkes.alpha >= 0 && hawkes.alpha < 1, "alpha", hawkes.alpha, "must be in [0, 1): 1 and more never ends");
  demand_positive("beta", hawkes.beta);
  demand_positive("window", hawkes.window);
  demand_drawable(hawkes.mu * hawkes.window / (1 - hawkes.alpha), hawkes.sequences, "--mu, --alpha, --window");
  return write_simulation(options.out, data::simulate_hawkes(hawkes, options.seed));
}

int simulate_neural_hawkes(const SimulateOptions& options) {
  const data::NeuralHawkesSettings& neural = options.neural;
  demand(neural.types >= 1 && neural.types <= kMostTypes, "types", neural.types,
         fmt::format("must be from 1 to {}", kMostTypes));
  demand(neural.hidden >= 1 && neural.hidden <= kMostHidden, "hidden", neural.hidden,
         fmt::format("must be from 1 to {}", kMostHidden));
  demand(neural.shortest >= 1, "shortest", neural.shortest, "must be at least 1");
  demand(neural.longest >= neural.shortest, "longest", neural.longest, "must not be below --shortest");
  demand_drawable(neural.longest, neural.sequences, "--longest");
  return write_simulation(options.out, data::simulate_neural_hawkes(neural, options.seed));
}

/// Whether a model's intensity is a function of time alone, which is written beside the events.
enum class Truth { kNone, kWritten };

/// A model as a subcommand with the options that all share.
CLI::App* add_model(CLI::App& simulate, Action& chosen, const Options& options, const char* name, const char* help,
                    int (*run)(const SimulateOptions&), Truth truth) {
  CLI::App* model = simulate.add_subcommand(name, help);
  model->add_option("--out", options->out, "File to write: .csv or .h5")
      ->type_name("OUT")
      ->required()
      ->check(not_empty);
  model->add_option("--seed", options->seed, "Seed")->transform(as_seed)->capture_default_str();
  model->callback([options, run, truth, &chosen] {
    chosen = [options, run, truth] {
      check_simulation_files(options->out, truth == Truth::kWritten);
      return run(*options);
    };
  });
  return model;
}

template <class T>
void add_number(CLI::App* model, const char* name, T& value, const char* help) {
  CLI::Option* option = model->add_option(name, value, help)->capture_default_str();
  if constexpr (std::is_integral_v<T>) option->transform(as_decimal);
}

}  // namespace

void add_simulate(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<SimulateOptions>();
  CLI::App* simulate = app.add_subcommand("simulate", "Draw event sequences from a known model");
  simulate->footer(kSimulateExamples);
  simulate->require_subcommand(1);
  const auto model = [&](const char* name, const char* help, int (*run)(const SimulateOptions&),
                         Truth truth = Truth::kNone) {
    return add_model(*simulate, chosen, options, name, help, run, truth);
  };

  model("paper-cox", "The two sigmoidal Gaussian Cox processes of the FedPP paper's J.1", simulate_paper_cox,
        Truth::kWritten);

  CLI::App* cox = model("cox", "Sigmoidal Gaussian Cox process", simulate_cox, Truth::kWritten);
  add_number(cox, "--upper", options->cox.upper, "m: events over the window where the sigmoid is 1");
  add_number(cox, "--window", options->cox.window, "T: length of the window");
  add_number(cox, "--variance", options->cox.variance, "r: variance of the latent function");
  add_number(cox, "--lengthscale", options->cox.lengthscale, "l: its lengthscale");
  add_number(cox, "--inducing", options->cox.inducing, "Inducing points that it is drawn through");
  add_number(cox, "--sequences", options->cox.sequences, "Independent sequences of the one intensity");

  CLI::App* poisson = model("poisson", "Poisson process, rate (1 + amplitude sin(2 pi t / period))", simulate_poisson);
  add_number(poisson, "--rate", options->rate, "Mean rate");
  add_number(poisson, "--amplitude", options->amplitude, "Relative amplitude, in [0, 1]");
  add_number(poisson, "--period", options->period, "Period");
  add_number(poisson, "--window", options->window, "Length of the window");
  add_number(poisson, "--sequences", options->sequences, "Sequences");

  CLI::App* hawkes = model("hawkes", "Hawkes process, mu + sum alpha beta exp(-beta (t - t_i))", simulate_hawkes);
  add_number(hawkes, "--mu", options->hawkes.mu, "Base rate");
  add_number(hawkes, "--alpha", options->hawkes.alpha, "Children an event, in [0, 1)");
  add_number(hawkes, "--beta", options->hawkes.beta, "Rate of decay");
  add_number(hawkes, "--window", options->hawkes.window, "Length of the window");
  add_number(hawkes, "--sequences", options->hawkes.sequences, "Sequences");

  CLI::App* neural =
      model("neural-hawkes", "Neural Hawkes process: continuous-time LSTM, random weights", simulate_neural_hawkes);
  add_number(neural, "--types", options->neural.types, "Types of event");
  add_number(neural, "--hidden", options->neural.hidden, "Hidden units");
  add_number(neural, "--shortest", options->neural.shortest, "Fewest events of a sequence");
  add_number(neural, "--longest", options->neural.longest, "Most events of a sequence");
  add_number(neural, "--sequences", options->neural.sequences, "Sequences");
}

}  // namespace fedpp::commands
