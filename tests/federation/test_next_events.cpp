// What follows a piece of history: at the next event it is the intensity that curves and bands show there, and a path's
// own history counts as a sequence's.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include "federation/next_events.hpp"
#include "federation/scoring.hpp"
#include "gpu/runtime.hpp"

namespace {

using namespace fedpp;
using federation::GapStart;
using federation::NextEventReader;

/// Three clients with bursts and ties in a file of their own.
class Federation {
 public:
  Federation(config::Encoder encoder, config::Realisation realisation) {
    static const gpu::Runtime runtime(0, "auto");  // Kokkos starts once in a process
    path_ = std::filesystem::temp_directory_path() / ("fedpp_next_events_" + std::to_string(::getpid()) + ".csv");
    std::mt19937_64 engine(7);
    std::exponential_distribution<double> gap(1);
    std::ofstream file(path_);
    file << "sequence,time,type\n";
    for (int sequence = 0; sequence < 7; ++sequence) {
      double t = 100 * sequence;
      for (int event = 0; event < 24; ++event) {
        if (event % 9 != 5) t += (event % 4 == 0 ? 4 : 0.3) * gap(engine);
        file << sequence << ',' << t << ",0\n";
      }
    }
    file.close();
    config_.data.train = {path_};
    config_.data.clients = 3;
    config_.data.partition = config::Partition::kHomogeneous;
    config_.data.realisation = realisation;
    config_.data.clock = config::Clock::kElapsed;
    config_.model.encoder = encoder;
    config_.model.width = 6;
    config_.model.layers = 1;
    config_.model.inducing = 9;
    config_.evaluation.samples = 2;
    config_.evaluation.e_steps = 20;
    session_.emplace(config_, world_);
  }
  ~Federation() { std::filesystem::remove(path_); }

  federation::Session& session() { return *session_; }

 private:
  mpi::Communicator world_ = mpi::Communicator::world();
  std::filesystem::path path_;
  config::Config config_;
  std::optional<federation::Session> session_;
};

std::vector<GapStart> starts_of(const data::Clock& clock, const data::ClientData& client,
                                const std::vector<evaluation::GapStep>& steps) {
  std::vector<GapStart> starts;
  for (const auto& step : steps)
    starts.push_back(
        {step.sequence, step.before, data::to_model(clock, client.sequences[step.sequence], step.previous)});
  return starts;
}

class NextEvents : public testing::TestWithParam<std::tuple<config::Encoder, config::Realisation>> {};

/// A grid with which survival(1) is the mean of exp(-lambda) at one gap.
evaluation::GapGrid only_at(double gap) { return {{0, 1}, {gap, 2 * gap}, {1, 0}}; }

struct Moments {
  double mean, sd;
};

/// Of exp(-lambda), log lambda = log m + log sigma(f) + level, over the Gaussians that bands are made of, by plain sums.
Moments survival_of(const model::RealisationPrediction& prediction, std::size_t point) {
  const std::size_t points = prediction.expected_intensity.size();
  double mean = 0, square = 0, weights = 0;
  for (std::size_t at = point; at < prediction.mean.size(); at += points)
    for (double a = -6; a <= 6; a += 0.1)
      for (double b = -6; b <= 6; b += 0.1) {
        const double f = prediction.mean[at] + std::sqrt(prediction.variance[at]) * a;
        const double level = std::sqrt(prediction.level_variance[at]) * b;
        const double survivors = std::exp(-prediction.rate * std::exp(level) / (1 + std::exp(-f)));
        const double weight = std::exp(-0.5 * (a * a + b * b));
        mean += weight * survivors;
        square += weight * survivors * survivors;
        weights += weight;
      }
  mean /= weights;
  return {mean, std::sqrt(square / weights - mean * mean)};
}

TEST_P(NextEvents, have_the_intensity_of_bands_at_the_event) {
  const auto [encoder, realisation] = GetParam();
  Federation federation(encoder, realisation);
  auto& session = federation.session();
  const auto& theta = session.initial_prior();
  const auto& clock = session.plan().clock;
  const int draws = 2000;
  double least = 1, most = 0;
  for (const auto& client : session.owned()) {
    const auto scored = federation::scoring_client(session, client, data::kTest);
    const auto held_out = data::held_out_realisations(client.data, session.rules(), data::kTest);
    auto options = federation::prediction_options(session.config(), 2, 20);
    options.bands = true;
    const auto prediction = model::predict({{&scored, {&held_out}}}, theta, options)[0][0];
    std::vector<Moments> expected;
    for (std::size_t i = 0; i < held_out.size(); ++i)
      for (std::size_t j = 0; j < held_out[i].events.size(); ++j) expected.push_back(survival_of(prediction[i], j));
    const auto steps = evaluation::gap_steps(client.data, data::kTest);
    const auto starts = starts_of(clock, client.data, steps);
    ASSERT_EQ(steps.size(), expected.size());
    ASSERT_GT(steps.size(), 5u);
    for (std::size_t k = 0; k < steps.size(); ++k) {
      const auto grid = only_at(steps[k].gap * clock.scale);
      const NextEventReader reader(session, client, scored, theta, grid);
      const double survival = reader.after({starts[k]}, {5, draws})[0].survival(1);
      EXPECT_NEAR(survival, expected[k].mean, 4 * expected[k].sd / std::sqrt(draws)) << k;
      least = std::min(least, survival);
      most = std::max(most, survival);
    }
  }
  EXPECT_GT(most - least, 0.1);  // or another event's intensity would have done
}

TEST_P(NextEvents, of_a_path_are_those_of_the_sequence_that_it_copies) {
  const auto [encoder, realisation] = GetParam();
  Federation federation(encoder, realisation);
  auto& session = federation.session();
  const auto grid = federation::next_event_grid(session);
  for (const auto& client : session.owned()) {
    const NextEventReader reader(session, client, federation::scoring_client(session, client, data::kTest),
                                 session.initial_prior(), grid);
    const auto starts = starts_of(session.plan().clock, client.data, evaluation::gap_steps(client.data, data::kTest));
    std::vector<data::Stream> paths;
    for (const auto& start : starts) {
      paths.push_back(reader.history(start.sequence));
      ASSERT_LT(start.before, paths.back().times.size());
      paths.back().times.resize(start.before);
      paths.back().types.resize(start.before);
    }
    auto on_paths = starts;
    for (std::size_t k = 0; k < starts.size(); ++k) on_paths[k].path = &paths[k];
    const auto along = reader.after(starts, {5}), on = reader.after(on_paths, {5});
    // To rounding only: a path has fewer tokens and queries than its sequence, and a BLAS may round an entry of a
    // product by the product's shape (OpenBLAS on Zen does).
    for (std::size_t k = 0; k < starts.size(); ++k) {
      EXPECT_NEAR(on[k].expectation() / along[k].expectation(), 1, 1e-12) << k;
      EXPECT_NEAR(reader.after({on_paths[k]}, {5})[0].expectation() / along[k].expectation(), 1, 1e-12) << k;
    }
    // The same number of events at other times is another history.
    for (double& t : paths[0].times) t -= 0.5 * (starts[0].from - t);
    EXPECT_GT(std::fabs(reader.after(on_paths, {5})[0].expectation() / along[0].expectation() - 1), 1e-9);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Encoders, NextEvents,
    testing::Combine(testing::Values(config::Encoder::kLstm, config::Encoder::kAttention, config::Encoder::kDecay),
                     testing::Values(config::Realisation::kPooled, config::Realisation::kPerSequence)),
    [](const auto& test) {
      return std::string(config::word(std::get<0>(test.param))) +
             (std::get<1>(test.param) == config::Realisation::kPooled ? "_pooled" : "_per_sequence");
    });

TEST(NextEventGrid, reaches_four_times_the_longest_training_gap) {
  Federation federation(config::Encoder::kDeepKernel, config::Realisation::kPooled);
  auto& session = federation.session();
  double longest = 0, n = 0, sum = 0, squares = 0;
  for (const auto& client : session.owned())
    for (const auto& step : evaluation::gap_steps(client.data, data::kTrain)) {
      longest = std::max(longest, step.gap);
      const double x = std::log(step.gap * session.plan().clock.scale);
      n += 1;
      sum += x;
      squares += x * x;
    }
  const auto grid = federation::next_event_grid(session);
  EXPECT_NEAR(grid.horizon(), 4 * longest * session.plan().clock.scale, 1e-9);
  // Three sds of the logarithm below its mean no gaps are told apart; cells are equal in log(g + floor).
  const double floor = std::exp(sum / n - 3 * std::sqrt(squares / n - sum / n * sum / n));
  const double cell = std::log1p(grid.horizon() / floor) / evaluation::kGapCells;
  EXPECT_NEAR(grid.edges[1] / (floor * std::expm1(cell)), 1, 1e-9);
}

}  // namespace
