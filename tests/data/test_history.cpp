// Realisations for history encoders against plain loops.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>

#include "data/random.hpp"
#include "data/realisation.hpp"
#include "data/split.hpp"
#include "data/ties.hpp"

using namespace fedpp::data;

namespace {

/// Sequences with ties, cut at events.
ClientData example() {
  Random random(7, Purpose::kFolds, 0);
  ClientData client;
  for (int s = 0; s < 12; ++s) {
    ClientSequence sequence;
    sequence.id = s;
    double t = 50 + s;
    for (int i = 0; i < 25; ++i) {
      sequence.times.push_back(t);
      sequence.history_types.push_back(i % 3);
      t += std::floor(5 * random.uniform()) / 8;  // multiples of 1/8: ties are exact
    }
    std::int64_t outside = 0;
    if (cut_chronologically(sequence, false, {}, outside, {SplitAt::kEvent})) client.sequences.push_back(sequence);
  }
  return client;
}

RealisationRules rules_of(const ClientData& client, bool pooled) {
  RealisationRules rules;
  rules.history = true;
  rules.pooled = pooled;
  rules.clock = {true, 0, 4, 100};
  rules.gaps = gap_scale(gap_sums(client, rules.clock));
  return rules;
}

}  // namespace

TEST(Split, AtEventWindowsMeetAtTheLastEventOfTheEarlierOne) {
  for (const ClientSequence& s : example().sequences) {
    EXPECT_EQ(s.windows[kTrain].back().end, s.events[kTrain].back());
    EXPECT_EQ(s.windows[kValidation].front().start, s.events[kTrain].back());
    EXPECT_EQ(s.windows[kTest].front().start, s.events[kValidation].back());
    EXPECT_EQ(s.windows[kTest].back().end, s.times.back());
  }
}

TEST(History, EventsAndNodesKnowTheTokensStrictlyBeforeThem) {
  const ClientData client = example();
  for (const bool pooled : {true, false})
    for (const Split split : {kTrain, kValidation, kTest}) {
      const auto rules = rules_of(client, pooled);
      const auto realisations = held_out_realisations(client, rules, split);
      ASSERT_EQ(realisations.size(), pooled ? 1u : client.sequences.size());
      for (std::size_t s = 0; s < client.sequences.size(); ++s) {
        const ClientSequence& sequence = client.sequences[s];
        const Realisation& r = realisations[pooled ? 0 : s];
        const int stream = pooled ? static_cast<int>(s) : 0;
        const auto model = [&](double t) { return (t - sequence.origin) * 4; };
        // Streams: everything seen up to the end of the split, or of training if that is later.
        const Stream& own = r.streams[stream];
        std::size_t tokens = 0;
        for (const double t : sequence.times) tokens += t <= sequence.windows[split].back().end;
        ASSERT_EQ(own.times.size(), tokens);
        for (std::size_t j = 0; j < tokens; ++j) {
          EXPECT_EQ(own.times[j], model(sequence.times[j]));
          EXPECT_EQ(own.types[j], static_cast<int>(j % 3));
        }
        double counted = 0, length = 0;
        for (std::size_t i = 0; i < r.events.size(); ++i) {
          if (r.event_history[i].stream != stream) continue;
          counted += r.multiplicities[i];
          int before = 0;
          for (const double t : own.times) before += t < r.events[i];
          EXPECT_EQ(r.event_history[i].before, before);
        }
        for (std::size_t q = 0; q < r.nodes.size(); ++q) {
          if (r.node_history[q].stream != stream) continue;
          length += r.node_weights[q];
          EXPECT_GT(r.node_weights[q], 0);
          const int before = r.node_history[q].before;
          EXPECT_GE(r.nodes[q], own.times[before - 1]);
          if (before < static_cast<int>(own.times.size())) {
            EXPECT_LE(r.nodes[q], own.times[before]) << "a cell ends where the next event comes";
          }
        }
        EXPECT_EQ(counted, static_cast<double>(sequence.events[split].size()));
        const auto& window = sequence.windows[split].front();
        EXPECT_NEAR(length, 4 * (window.end - window.start), 1e-10);
      }
    }
}

TEST(History, StreamsOfAnEarlierSplitAreTheBeginningOfALaterOnes) {
  const ClientData client = example();
  const auto rules = rules_of(client, true);
  const auto early = held_out_realisations(client, rules, kTrain), late = held_out_realisations(client, rules, kTest);
  ASSERT_EQ(early[0].streams.size(), late[0].streams.size());
  for (std::size_t s = 0; s < early[0].streams.size(); ++s) {
    const auto &a = early[0].streams[s].times, &b = late[0].streams[s].times;
    ASSERT_LE(a.size(), b.size());
    EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin()));
  }
}

TEST(History, TemperingScalesMultiplicitiesAndWeights) {
  const ClientData client = example();
  const auto rules = rules_of(client, true);
  const auto full = make_realisations(client, rules, std::array{kTrain}, 1.0)[0],
             half = make_realisations(client, rules, std::array{kTrain}, 0.5)[0];
  for (std::size_t i = 0; i < full.events.size(); ++i) EXPECT_EQ(half.multiplicities[i], 0.5 * full.multiplicities[i]);
  for (std::size_t q = 0; q < full.nodes.size(); ++q) EXPECT_EQ(half.node_weights[q], 0.5 * full.node_weights[q]);
}

TEST(History, IntervalQuadratureFollowsIntensitiesOfTheLogarithmOfTheGap) {
  // A burst that decays as a power of the gap, over gaps of very different lengths: int (g + c)^-p dg.
  const double floor = 1e-3;
  for (const double length : {1e-4, 1e-2, 0.5, 10.0, 90.0})
    for (const double power : {0.0, 0.5, 2.0}) {
      std::vector<double> nodes, weights;
      append_interval(3, 3, 3 + length, floor, 12, cached_gauss_legendre, nodes, weights);
      double sum = 0;
      for (std::size_t k = 0; k < nodes.size(); ++k) sum += weights[k] * std::pow(nodes[k] - 3 + floor, -power);
      const double exact = (std::pow(length + floor, 1 - power) - std::pow(floor, 1 - power)) / (1 - power);
      EXPECT_NEAR(sum, exact, 2e-3 * exact) << length << " " << power;
      EXPECT_LE(nodes.size(), 12u);
    }
  // From the middle of an interval, as where a window begins between two events.
  std::vector<double> nodes, weights;
  append_interval(0, 2, 5, floor, 8, cached_gauss_legendre, nodes, weights);
  double sum = 0;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    EXPECT_GE(nodes[k], 2);
    EXPECT_LE(nodes[k], 5);
    sum += weights[k] / (nodes[k] + floor);
  }
  EXPECT_NEAR(sum, std::log((5 + floor) / (2 + floor)), 1e-3);
}

TEST(History, AGapAtTheLevelOfRoundingHasItsLengthAsWeight) {
  for (const auto& [last, next] : {std::pair{0.3, 0.1 + 0.2}, {0.0, 1e-18}, {1.0, 1.0 + 1e-15}}) {
    std::vector<double> nodes, weights;
    append_interval(last, last, next, 10.0, 12, cached_gauss_legendre, nodes, weights);
    EXPECT_EQ(std::accumulate(weights.begin(), weights.end(), 0.0), next - last);
    for (const double node : nodes) EXPECT_TRUE(node >= last && node <= next) << node;
  }
}

/// A sequence observed from 0 on, with events after every unit of time: 12 gaps to train on, 4 and 4 held out.
ClientData lattice_client() {
  ClientSequence sequence;
  for (int t = 0; t <= 20; ++t) sequence.times.push_back(t);
  std::int64_t outside = 0;
  EXPECT_TRUE(cut_chronologically(sequence, false, {}, outside, {SplitAt::kEvent}));
  ClientData client;
  client.sequences = {sequence};
  return client;
}

RealisationRules lattice_rules(double period = 0) {
  RealisationRules rules;
  rules.history = true;
  rules.clock = {true, 0, 1, 100};
  rules.gaps = {0, 0.5};
  rules.period = period;
  return rules;
}

Realisation lattice(int pieces, double period = 0) {
  return history_realisations(lattice_client(), lattice_rules(period), std::array{kTrain}, 1.0, pieces)[0];
}

/// An intensity of the gap alone with a narrow peak where all gaps end, which nodes inside the intervals do not see.
auto peak(double width) {
  return [=](const Realisation& r, std::size_t q) {
    const double gap = r.nodes[q] - r.streams[0].times[r.node_history[q].before - 1];
    return std::exp(-0.5 * std::pow((gap - 1) / width, 2)) / width;
  };
}

template <class F>
double by_nodes(const Realisation& r, const F& f) {
  double sum = 0;
  for (std::size_t q = 0; q < r.nodes.size(); ++q) sum += r.node_weights[q] * f(r, q);
  return sum;
}

TEST(History, APeakOfTheIntensityWhereEventsAreIsCountedInAScore) {
  const double exact = 12 * 0.5 * std::sqrt(2 * std::numbers::pi);  // half of the peak, 12 times
  EXPECT_LT(by_nodes(lattice(1), peak(0.01)), 0.1 * exact);         // in training it is not seen
  for (const double width : {0.003, 0.01, 0.03}) EXPECT_GT(by_nodes(lattice(16), peak(width)), 0.9 * exact);
  EXPECT_NEAR(by_nodes(lattice(16), peak(0.03)), exact, 0.2 * exact);
  EXPECT_NEAR(by_nodes(lattice(16), peak(0.1)), exact, 0.02 * exact);
  EXPECT_NEAR(by_nodes(lattice(64), peak(0.03)), exact, 0.01 * exact);
}

TEST(History, HeldOutWindowsAreReadInPiecesThatSeeSuchAPeak) {
  const auto client = lattice_client();
  const auto rules = lattice_rules();
  const double exact = 4 * 0.5 * std::sqrt(2 * std::numbers::pi);
  EXPECT_NEAR(by_nodes(held_out_realisations(client, rules, kTest)[0], peak(0.03)), exact, 0.01 * exact);
  EXPECT_NEAR(by_nodes(held_out_realisations(client, rules, kValidation)[0], peak(0.1)), exact, 0.02 * exact);
}

TEST(Gaps, AreDoubtedWhereMoreThanATenthIsZero) {
  Gaps gaps;
  gaps.add({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9});  // ten gaps, the last is zero
  EXPECT_EQ(gaps.all, 10);
  EXPECT_EQ(gaps.zero, 1);
  EXPECT_EQ(gaps.doubt(), "");
  gaps.add({5});
  gaps.add({3, 3, 3});
  EXPECT_TRUE(gaps.doubt().starts_with("25 % of the gaps")) << gaps.doubt();  // 3 of 12
  EXPECT_EQ(Gaps{}.doubt(), "");
}

TEST(History, CellsFollowThePeriodsOfTheInputs) {
  const auto peaks = [](const Realisation& r, std::size_t q) {  // ten a unit of time
    return 1 + std::sin(2 * std::numbers::pi * 10 * r.nodes[q]) * std::sin(2 * std::numbers::pi * 10 * r.nodes[q]);
  };
  EXPECT_NEAR(by_nodes(lattice(1, 0.1), peaks), 1.5 * 12, 0.02 * 12);
  EXPECT_GT(std::abs(by_nodes(lattice(1), peaks) - 1.5 * 12), 0.1 * 12);
  const auto r = lattice(1, 1e-6);  // no more than so many
  EXPECT_LE(r.nodes.size(), 12u * 32 * 3);
}

TEST(History, BeginsWithTheObservationWhereThatIsBeforeTheFirstEvent) {
  ClientSequence sequence;
  sequence.times = {3, 4, 8, 12};
  sequence.events = {std::vector<double>{3, 4, 8}, {}, {12}};
  sequence.windows = {std::vector<Interval>{{0, 10}}, {}, {{10, 15}}};
  ClientData client;
  client.sequences = {sequence};
  RealisationRules rules;
  rules.history = true;
  rules.clock = {false, 0, 1, 15};
  rules.gaps = {0, 0.5};
  const auto train = make_realisations(client, rules, std::array{kTrain}, 1.0)[0];
  EXPECT_EQ(train.streams[0].start, 0);
  EXPECT_EQ(train.streams[0].times, (std::vector<double>{3, 4, 8}));
  double before_first = 0, all = 0;
  for (std::size_t q = 0; q < train.nodes.size(); ++q) {
    all += train.node_weights[q];
    if (train.node_history[q].before > 0) continue;
    EXPECT_LT(train.nodes[q], 3);
    before_first += train.node_weights[q];
  }
  EXPECT_NEAR(before_first, 3, 1e-12);
  EXPECT_NEAR(all, 10, 1e-12);
  // A split that the sequence has no part in: the history of its training all the same, which inducing points need.
  const auto validation = make_realisations(client, rules, std::array{kValidation}, 1.0)[0];
  EXPECT_EQ(validation.streams[0].times, train.streams[0].times);
  EXPECT_TRUE(validation.nodes.empty());
}

TEST(GapScale, IsThatOfPositiveTrainingGaps) {
  const ClientData client = example();
  const Clock clock{true, 0, 4, 100};
  double n = 0, sum = 0, squares = 0;
  for (const auto& s : client.sequences)
    for (std::size_t j = 1; j < s.times.size(); ++j)
      if (s.times[j] <= s.events[kTrain].back() && s.times[j] > s.times[j - 1]) {
        const double x = std::log(4 * (s.times[j] - s.times[j - 1]));
        n += 1;
        sum += x;
        squares += x * x;
      }
  const GapScale scale = gap_scale(gap_sums(client, clock));
  EXPECT_NEAR(scale.mean, sum / n, 1e-12);
  EXPECT_NEAR(scale.sd, std::sqrt(squares / n - sum / n * sum / n), 1e-12);
  EXPECT_EQ(gap_scale({}).mean, 0);
  EXPECT_EQ(gap_scale({3, 3, 3}).sd, 0.1) << "equal gaps: a scale all the same";
}

TEST(History, MarksAreTheTypesOfTheEventsAtEachTime) {
  const ClientData client = example();
  for (const bool history : {true, false})
    for (const bool pooled : {true, false}) {
      auto rules = rules_of(client, pooled);
      rules.history = history;
      EXPECT_TRUE(make_realisations(client, rules, std::array{kTrain}, 0.5)[0].marks.empty());
      rules.marked = true;
      const auto realisations = make_realisations(client, rules, std::array{kTrain, kValidation}, 0.5);
      // Every token but a sequence's first is an event of one split; the test window begins after them.
      std::vector<std::map<std::pair<double, int>, double>> wanted(realisations.size()), got(realisations.size());
      for (std::size_t s = 0; s < client.sequences.size(); ++s) {
        const ClientSequence& sequence = client.sequences[s];
        for (std::size_t j = 1; j < sequence.times.size(); ++j)
          if (sequence.times[j] <= sequence.events[kValidation].back())
            wanted[pooled ? 0 : s][{to_model(rules.clock, sequence, sequence.times[j]), sequence.history_types[j]}] +=
                0.5;
      }
      bool shared = false;
      for (std::size_t i = 0; i < realisations.size(); ++i) {
        const Realisation& r = realisations[i];
        std::vector<double> counts(r.events.size(), 0.0);
        int last = 0;
        for (const EventMark& mark : r.marks) {
          EXPECT_GE(mark.event, last);
          shared = shared || (&mark != r.marks.data() && mark.event == last);
          last = mark.event;
          counts[static_cast<std::size_t>(mark.event)] += mark.count;
          got[i][{r.events[static_cast<std::size_t>(mark.event)], mark.type}] += mark.count;
        }
        EXPECT_EQ(counts, r.multiplicities);
      }
      EXPECT_EQ(got, wanted);
      EXPECT_TRUE(shared) << "no time has events of two types: the test tests little";
    }
}
