#include "evaluation/trivial_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "config/error.hpp"
#include "data/exposure.hpp"
#include "evaluation/hawkes.hpp"

namespace fedpp::evaluation {
namespace {

using data::ClientData;
using data::ClientSequence;
using data::Interval;
using data::Split;

constexpr int kFixedBins = 50, kFolds = 5;
constexpr std::array kCandidateBins{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000};

/// The split that a sequence trains by; its windows are empty for one that is only scored. A fold of 'population' that
/// validates for now is a training list; the dev lists of 'published-code' lie inside train and would count twice.
Split training_split(const ClientSequence& sequence, Protocol protocol) {
  const bool held_for_validation = protocol == Protocol::kPopulation && sequence.windows[data::kTrain].empty();
  return held_for_validation ? data::kValidation : data::kTrain;
}

double length(const std::vector<Interval>& windows) {
  double sum = 0;
  for (const Interval& window : windows) sum += window.end - window.start;
  return sum;
}

double origin(const ClientSequence& sequence, const TrivialSettings& settings) {
  return settings.elapsed ? sequence.origin : 0.0;
}

/// The hull of every window of the client on the clock of the settings; only extents are read of windows not trained
/// on.
Interval hull(const ClientData& client, const TrivialSettings& settings) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Interval range{kInfinity, -kInfinity};
  double training_time = 0;
  for (const ClientSequence& sequence : client.sequences) {
    training_time += length(sequence.windows[training_split(sequence, settings.protocol)]);
    for (const auto& windows : sequence.windows) {
      for (const Interval& window : windows) {
        range.start = std::min(range.start, window.start - origin(sequence, settings));
        range.end = std::max(range.end, window.end - origin(sequence, settings));
      }
    }
  }
  if (!(training_time > 0)) {
    throw UserError(fmt::format(
        "Client {} observed no training time, so no trivial model can be fitted to it: give it training sequences "
        "(fewer data.clients, a larger data.local_fraction) or set evaluation.trivial_models = false.",
        client.id));
  }
  return range;
}

StepRate fit(const Bins& bins, BinnedEvents seen, Protocol protocol) {
  if (protocol == Protocol::kChronological && bins.count() > 1) return shrunken_rate(bins, seen);
  if (protocol == Protocol::kPublishedCode) {  // all lists as one stream
    for (int b = 0; b < bins.count(); ++b) seen.exposure[b] = bins.edge(b + 1) - bins.edge(b);
  }
  return floored_rate(bins, seen);
}

BinnedEvents bin_training(const Bins& bins, const ClientData& client, const TrivialSettings& settings) {
  BinnedEvents seen;
  for (const ClientSequence& sequence : client.sequences) {
    const Split split = training_split(sequence, settings.protocol);
    bins.add(sequence.events[split], sequence.windows[split], origin(sequence, settings), seen);
  }
  return seen;
}

/// e(t): how many sequences are observed at t.
data::CoverCount exposure_of(const ClientData& client, Split split) {
  std::vector<Interval> windows;
  for (const ClientSequence& sequence : client.sequences)
    windows.insert(windows.end(), sequence.windows[split].begin(), sequence.windows[split].end());
  return data::CoverCount(windows);
}

Score same(double log_likelihood, double events) { return {log_likelihood, log_likelihood, events}; }

Score score_step_rate(const StepRate& model, const ClientData& client, Split split, const TrivialSettings& settings) {
  const Protocol protocol = settings.protocol;
  const data::CoverCount exposure = exposure_of(client, split);
  double log_likelihood = 0, events = 0;
  BinnedEvents scored{std::vector<double>(model.bins.count()), std::vector<double>(model.bins.count())};
  for (const ClientSequence& sequence : client.sequences) {
    const double zero = origin(sequence, settings);
    for (double t : sequence.events[split]) {
      const double rate = model.rate[model.bins.bin(t - zero)];
      switch (protocol) {
        case Protocol::kChronological:
          log_likelihood += std::log(rate);
          break;
        case Protocol::kPopulation:
          log_likelihood += std::log(exposure.at(t) * rate);
          break;
        case Protocol::kPublishedCode:
          log_likelihood += std::log1p(rate);
          break;
      }
      events += 1;
    }
    model.bins.add({}, sequence.windows[split], zero, scored);
  }
  for (int b = 0; b < model.bins.count(); ++b) {
    const double once = model.bins.edge(b + 1) - model.bins.edge(b);
    log_likelihood -= model.rate[b] * (protocol == Protocol::kPublishedCode ? once : scored.exposure[b]);
  }
  return same(log_likelihood, events);
}

/// Scores one constant rate a sequence (chronological).
Score score_sequence_rates(const ClientData& client, Split split,
                           const std::function<double(const ClientSequence&)>& rate_of) {
  double log_likelihood = 0, events = 0;
  for (const ClientSequence& sequence : client.sequences) {
    if (sequence.windows[split].empty()) continue;
    const double rate = rate_of(sequence), n = static_cast<double>(sequence.events[split].size());
    log_likelihood += n * std::log(rate) - rate * length(sequence.windows[split]);
    events += n;
  }
  return same(log_likelihood, events);
}

/// The rate of a sequence's last `count` training events, shrunk by one event to the client's rate.
double recent_rate(const ClientSequence& sequence, std::size_t count, double client_rate) {
  const std::vector<double>& events = sequence.events[data::kTrain];
  double time = 0;
  for (const Interval& window : sequence.windows[data::kTrain]) {
    const double start =
        count < events.size() ? std::max(window.start, events[events.size() - count - 1]) : window.start;
    time += std::max(0.0, window.end - start);
  }
  return (static_cast<double>(count) + 1) / (time + 1 / client_rate);
}

}  // namespace

std::vector<std::string> trivial_model_names(Protocol protocol) {
  switch (protocol) {
    case Protocol::kChronological:
      return {"homogeneous",         "homogeneous per sequence", "histogram, 50 bins", "histogram, bins by 5-fold",
              "Hawkes, exponential", "last-window rate"};
    case Protocol::kPopulation:
      return {"homogeneous", "histogram, 50 bins", "histogram, bins by 5-fold"};
    case Protocol::kPublishedCode:
      return {"homogeneous", "histogram, 50 bins"};
  }
  assert(false);
  return {};
}

StepRate fit_histogram(const ClientData& client, int bins, const TrivialSettings& settings) {
  const Bins equal(hull(client, settings), bins);
  return fit(equal, bin_training(equal, client, settings), settings.protocol);
}

int choose_bins(const ClientData& client, const TrivialSettings& settings) {
  const Interval range = hull(client, settings);
  std::vector<const ClientSequence*> sequences;
  std::set<int> given;
  for (const ClientSequence& sequence : client.sequences) {
    if (sequence.windows[training_split(sequence, settings.protocol)].empty()) continue;
    sequences.push_back(&sequence);
    given.insert(sequence.fold);
  }
  if (sequences.size() < 2) return 1;

  double best = -std::numeric_limits<double>::infinity();
  int chosen = 1;
  for (int count : kCandidateBins) {
    const Bins bins(range, count);
    std::array<BinnedEvents, kFolds> folds;
    for (BinnedEvents& fold : folds) fold = {std::vector<double>(count), std::vector<double>(count)};
    for (std::size_t s = 0; s < sequences.size(); ++s) {
      const ClientSequence& sequence = *sequences[s];
      const Split split = training_split(sequence, settings.protocol);
      const int fold = given.size() > 1 ? sequence.fold : static_cast<int>(s % kFolds);
      assert(fold >= 0 && fold < kFolds);
      bins.add(sequence.events[split], sequence.windows[split], origin(sequence, settings), folds[fold]);
    }
    double sum = 0;
    for (const BinnedEvents& held_out : folds) {
      if (std::all_of(held_out.exposure.begin(), held_out.exposure.end(), [](double e) { return e == 0; })) continue;
      BinnedEvents rest{std::vector<double>(count), std::vector<double>(count)};
      for (const BinnedEvents& fold : folds) {
        if (&fold == &held_out) continue;
        for (int b = 0; b < count; ++b) rest.counts[b] += fold.counts[b], rest.exposure[b] += fold.exposure[b];
      }
      const StepRate model = fit(bins, rest, settings.protocol);
      // The exposure inside the logarithm of 'population' is the same for every candidate and left out.
      for (int b = 0; b < count; ++b) {
        sum += held_out.counts[b] * std::log(model.rate[b]) - model.rate[b] * held_out.exposure[b];
      }
    }
    if (sum > best) best = sum, chosen = count;
  }
  return chosen;
}

std::vector<TrivialScore> trivial_scores(const ClientData& client, Split split, const TrivialSettings& settings) {
  const StepRate homogeneous = fit_histogram(client, 1, settings);
  const auto histogram = [&](int bins) {
    return score_step_rate(fit_histogram(client, bins, settings), client, split, settings);
  };
  std::vector<Score> scores{score_step_rate(homogeneous, client, split, settings)};
  if (settings.protocol == Protocol::kChronological) {
    const double client_rate = homogeneous.rate[0];
    scores.push_back(score_sequence_rates(client, split, [&](const ClientSequence& sequence) {
      return recent_rate(sequence, sequence.events[data::kTrain].size(), client_rate);
    }));
    scores.push_back(histogram(kFixedBins));
    scores.push_back(histogram(choose_bins(client, settings)));
    const double log_likelihood = hawkes_log_likelihood(client, split, fit_hawkes(client));
    scores.push_back(same(log_likelihood, scores.front().events));
    scores.push_back(score_sequence_rates(client, split, [&](const ClientSequence& sequence) {
      const std::size_t n = sequence.events[data::kTrain].size();
      return recent_rate(sequence, n == 0 ? 0 : std::max<std::size_t>(1, n / 3), client_rate);
    }));
  } else {
    scores.push_back(histogram(kFixedBins));
    if (settings.protocol == Protocol::kPopulation) scores.push_back(histogram(choose_bins(client, settings)));
  }

  const std::vector<std::string> names = trivial_model_names(settings.protocol);
  assert(names.size() == scores.size());
  std::vector<TrivialScore> result;
  result.reserve(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) result.push_back({names[i], scores[i]});
  return result;
}

}  // namespace fedpp::evaluation
