// The compensator between test events of encoders of time alone, against closed forms.
#include <gtest/gtest.h>

#include <cmath>

#include "data/exposure.hpp"
#include "federation/rescaled_increments.hpp"

namespace {
using namespace fedpp;

/// A realisation with these windows and events, 64 nodes.
data::Realisation held_out(const std::vector<data::Interval>& windows, std::vector<double> events) {
  data::Realisation r;
  r.exposure = data::exposure(windows);
  auto rule = data::quadrature(r.exposure, 64);
  r.nodes = std::move(rule.nodes);
  r.node_weights = std::move(rule.weights);
  r.span = {r.exposure.edges.front(), r.exposure.edges.back()};
  r.multiplicities.assign(events.size(), 1.0);
  r.events = std::move(events);
  return r;
}

template <class Intensity>
std::vector<double> increments(const data::Realisation& r, const Intensity& intensity) {
  model::RealisationPrediction p;
  for (const double t : r.events) p.expected_intensity.push_back(intensity(t));
  for (const double t : r.nodes) p.expected_intensity.push_back(intensity(t));
  data::Random random(1, data::Purpose::kDeRounding, 0);
  evaluation::RescaledIncrements all(random, evaluation::WindowEnds::kByTime);
  federation::add_increments(r, p, all);
  return all.all();
}

TEST(AddIncrements, of_a_constant_intensity_are_those_of_the_exposure) {
  // Two streams with [0, 30] and [10, 50], then nothing until 60, then one up to 80.
  const auto r = held_out({{0, 30}, {10, 50}, {60, 80}}, {2, 9.5, 10.5, 29, 31, 49, 61, 79.9});
  const auto got = increments(r, [](double) { return 0.7; });
  const std::vector<double> exposures{2, 7.5, 0.5 + 2 * 0.5, 2 * 18.5, 2 * 1 + 1, 18, 1 + 1, 18.9};
  ASSERT_EQ(got.size(), exposures.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], 0.7 * exposures[i], 1e-10) << i;
}

TEST(AddIncrements, add_up_to_the_quadratures_integral) {
  auto r = held_out({{0, 30}}, {2, 9.5, 29});
  for (double& weight : r.node_weights) weight *= 1.5;  // as where the line through the values misses what lies between
  const auto got = increments(r, [](double) { return 0.7; });
  const std::vector<double> exposures{2, 7.5, 19.5};
  ASSERT_EQ(got.size(), exposures.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], 1.5 * 0.7 * exposures[i], 1e-10) << i;
}

TEST(AddIncrements, of_a_smooth_intensity_are_near_its_integral) {
  std::vector<double> events;
  for (int i = 1; i < 40; ++i) events.push_back(100 * std::pow(i / 40.0, 1.5));
  const auto r = held_out({{0, 100}}, events);
  const auto got = increments(r, [](double t) { return 2 + std::sin(0.2 * t); });
  const auto up_to = [](double t) { return 2 * t - 5 * std::cos(0.2 * t); };
  ASSERT_EQ(got.size(), events.size());
  for (std::size_t i = 1; i < got.size(); ++i) EXPECT_NEAR(got[i] / (up_to(events[i]) - up_to(events[i - 1])), 1, 0.02);
}

TEST(AddIncrements, of_streams_go_by_their_nodes_between_events) {
  data::Realisation r;  // a stream with two events, one with none, one with one; the first has a gap in its window
  r.streams.resize(3);
  r.events = {2, 6, 3};
  r.multiplicities = {1, 1, 1};
  r.event_history = {{0, 0}, {0, 1}, {2, 0}};
  r.nodes = {1, 4, 8, 5, 1.5, 6};
  r.node_weights = {2, 4, 4, 10, 3, 7};
  r.node_history = {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {2, 0}, {2, 1}};
  r.span = {0, 10};
  const auto got = increments(r, [](double) { return 0.5; });
  const std::vector<double> wanted{0.5 * 2, 0.5 * 4, 0.5 * (4 + 10 + 3)};
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-14) << i;
}

TEST(AddIncrements, count_a_node_at_an_event_before_it) {
  data::Realisation r;  // Gauss and Radau's pieces have a node at their end
  r.streams.resize(1);
  r.events = {2, 6};
  r.multiplicities = {1, 1};
  r.event_history = {{0, 0}, {0, 1}};
  r.nodes = {0.5, 2, 3, 6};
  r.node_weights = {1.5, 0.5, 3, 1};
  r.node_history = {{0, 0}, {0, 0}, {0, 1}, {0, 1}};
  r.span = {0, 6};
  EXPECT_EQ(increments(r, [](double) { return 0.5; }), (std::vector<double>{1, 2}));
}

TEST(AddIncrements, without_events_are_none) {
  EXPECT_TRUE(increments(held_out({{0, 10}}, {}), [](double) { return 1.0; }).empty());
}

}  // namespace
