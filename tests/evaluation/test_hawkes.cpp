#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "evaluation/hawkes.hpp"

namespace fedpp::evaluation {
namespace {

/// The log-likelihood by the definition: every event against every earlier time, O(N^2).
double direct(const data::ClientData& client, data::Split split, const HawkesParameters& p) {
  double sum = 0;
  for (const data::ClientSequence& s : client.sequences) {
    for (double t : s.events[split]) {
      double intensity = p.base;
      for (double u : s.times) {
        if (u < t) intensity += p.branching * p.decay * std::exp(-p.decay * (t - u));
      }
      sum += std::log(intensity);
    }
    for (const data::Interval& w : s.windows[split]) {
      sum -= p.base * (w.end - w.start);
      for (double u : s.times) {
        if (u < w.end) {
          sum -= p.branching * (std::exp(-p.decay * (std::max(w.start, u) - u)) - std::exp(-p.decay * (w.end - u)));
        }
      }
    }
  }
  return sum;
}

/// Two sequences with ties, a gap between training windows, and a window edge on an event.
data::ClientData awkward_client() {
  data::ClientData client;
  client.sequences.resize(5);
  data::ClientSequence& a = client.sequences[0];
  a.times = {0, 0.5, 0.5, 1, 2.5, 2.5, 2.5, 3, 4, 5, 6};
  a.windows = {std::vector<data::Interval>{{0, 1.2}, {2, 3.5}}, {{3.5, 5}}, {{5, 6}}};
  a.events = {std::vector<double>{0.5, 0.5, 1, 2.5, 2.5, 2.5, 3}, {4, 5}, {6}};
  data::ClientSequence& b = client.sequences[1];
  b.times = {10, 11, 11.5, 14};
  b.windows = {std::vector<data::Interval>{{9, 12}}, {}, {{12, 15}}};
  b.events = {std::vector<double>{10, 11, 11.5}, {}, {14}};
  data::ClientSequence& silent = client.sequences[2];
  silent.windows = {std::vector<data::Interval>{{3, 4}}, {}, {{4, 5}}};
  data::ClientSequence& sessions = client.sequences[3];  // training ends with the event that begins its second window
  sessions.times = {0, 1, 5, 6};
  sessions.windows = {std::vector<data::Interval>{{0, 2}}, {}, {{5, 7}}};
  sessions.events = {std::vector<double>{0, 1, 5}, {}, {6}};
  data::ClientSequence& first = client.sequences[4];  // and this with the event that begins its first one
  first.times = {1, 2};
  first.windows[data::kTest] = {{1, 3}};
  first.events = {std::vector<double>{1}, {}, {2}};
  return client;
}

/// One sequence by thinning on [0, length], all of it training.
data::ClientSequence simulate(const HawkesParameters& p, double length, std::mt19937_64& random) {
  data::ClientSequence s;
  std::exponential_distribution<double> unit(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  double t = 0, excitement = 0;  // alpha beta times the decaying sum at t
  while (true) {
    const double bound = p.base + excitement, gap = unit(random) / bound;
    t += gap;
    if (t > length) break;
    excitement *= std::exp(-p.decay * gap);
    if (uniform(random) * bound > p.base + excitement) continue;
    s.times.push_back(t);
    excitement += p.branching * p.decay;
  }
  s.events[data::kTrain] = s.times;
  s.windows[data::kTrain] = {{0, length}};
  return s;
}

TEST(Hawkes, RecursionEqualsTheDirectSums) {
  const data::ClientData client = awkward_client();
  for (data::Split split : {data::kTrain, data::kValidation, data::kTest}) {
    for (const HawkesParameters& p : {HawkesParameters{0.8, 0.5, 1.3}, {0.1, 1.4, 20}, {2, 0, 1}, {0.5, 0.9, 0.01}}) {
      EXPECT_NEAR(hawkes_log_likelihood(client, split, p), direct(client, split, p), 1e-11) << split << " " << p.decay;
    }
  }
}

TEST(Hawkes, RecursionEqualsTheDirectSumsOnALongSequence) {
  std::mt19937_64 random(3);
  data::ClientData client;
  client.sequences.push_back(simulate({1, 0.6, 2}, 200, random));
  const double reference = direct(client, data::kTrain, {0.9, 0.5, 2.5});
  EXPECT_NEAR(hawkes_log_likelihood(client, data::kTrain, {0.9, 0.5, 2.5}), reference, 1e-10 * std::abs(reference));
}

TEST(Hawkes, GradientEqualsFiniteDifferences) {
  const data::ClientData client = awkward_client();
  const HawkesParameters p{0.8, 0.5, 1.3};
  std::array<double, 3> gradient;
  hawkes_log_likelihood(client, data::kTrain, p, &gradient);
  const double h = 1e-5;
  const auto at = [&](double a, double b, double c) {
    return direct(client, data::kTrain, {p.base + a, p.branching + b, p.decay + c});
  };
  EXPECT_NEAR(gradient[0], (at(h, 0, 0) - at(-h, 0, 0)) / (2 * h), 1e-7);
  EXPECT_NEAR(gradient[1], (at(0, h, 0) - at(0, -h, 0)) / (2 * h), 1e-7);
  EXPECT_NEAR(gradient[2], (at(0, 0, h) - at(0, 0, -h)) / (2 * h), 1e-7);
}

TEST(Hawkes, FitFindsTheParametersOfSimulatedData) {
  std::mt19937_64 random(11);
  const HawkesParameters truth{0.5, 0.6, 3};
  data::ClientData client;
  for (int i = 0; i < 40; ++i) client.sequences.push_back(simulate(truth, 100, random));
  const HawkesParameters fitted = fit_hawkes(client);
  EXPECT_NEAR(fitted.base, truth.base, 0.05);
  EXPECT_NEAR(fitted.branching, truth.branching, 0.04);
  EXPECT_NEAR(fitted.decay, truth.decay, 0.3);
  EXPECT_GE(hawkes_log_likelihood(client, data::kTrain, fitted), hawkes_log_likelihood(client, data::kTrain, truth));
  std::array<double, 3> gradient;
  hawkes_log_likelihood(client, data::kTrain, fitted, &gradient);
  for (double g : gradient) EXPECT_NEAR(g, 0, 1e-2);  // of about 5000 events
}

TEST(Hawkes, FitIsNeverBelowTheHomogeneousRate) {
  std::mt19937_64 random(5);
  data::ClientData client;
  client.sequences.push_back(simulate({2, 0, 1}, 50, random));  // Poisson
  const double n = static_cast<double>(client.sequences[0].times.size());
  const double homogeneous = n * std::log(n / 50) - n;
  EXPECT_GE(hawkes_log_likelihood(client, data::kTrain, fit_hawkes(client)), homogeneous - 1e-9);
}

TEST(Hawkes, FitOfRegularAndOfTiedTimesStaysFinite) {
  data::ClientData client;
  client.sequences.resize(1);
  data::ClientSequence& s = client.sequences[0];
  for (int i = 1; i <= 60; ++i) s.times.insert(s.times.end(), i % 3 == 0 ? 4 : 1, i);
  s.events[data::kTrain] = s.times;
  s.windows[data::kTrain] = {{0.5, 60.5}};
  const HawkesParameters p = fit_hawkes(client);
  EXPECT_TRUE(std::isfinite(hawkes_log_likelihood(client, data::kTrain, p)));
  EXPECT_GT(p.base + p.branching, 0);
}

TEST(Hawkes, WithoutTrainingEventsHalfAnEventIsAssumed) {
  data::ClientData client;
  client.sequences.resize(1);
  client.sequences[0].windows[data::kTrain] = {{0, 4}};
  const HawkesParameters p = fit_hawkes(client);
  EXPECT_DOUBLE_EQ(p.base, 0.125);
  EXPECT_DOUBLE_EQ(p.branching, 0);
}

}  // namespace
}  // namespace fedpp::evaluation
