// When checkpoints are due, what a disk that refuses them costs, and what they bring back.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>

#include "federation/checkpoint.hpp"
#include "federation/checkpoint_schedule.hpp"
#include "io/hdf5.hpp"
#include "mpi/turns.hpp"
#include "small_federation.hpp"

namespace {

using namespace fedpp;
using namespace std::chrono_literals;

/// A folder of its own for the output, made by the tests that want it.
class Checkpoints : public testing::Test {
 protected:
  Checkpoints() : folder_(std::filesystem::temp_directory_path() / ("fedpp_schedule_" + std::to_string(::getpid()))) {}
  ~Checkpoints() override { std::filesystem::remove_all(folder_); }

  /// Rounds up to 7 after which one is due.
  std::vector<int> due(std::int64_t every, double minutes) {
    test::Federation federation([&](config::Config& config) {
      config.output.checkpoint_every = every;
      config.output.checkpoint_minutes = minutes;
    });
    auto state = federation.started();
    const federation::CheckpointSchedule schedule(federation.session(), state, federation.progress());
    std::vector<int> rounds;
    for (state.next_round = 1; state.next_round <= 7; ++state.next_round)
      if (schedule.is_due()) rounds.push_back(static_cast<int>(state.next_round));
    return rounds;
  }

  /// Stands still but where a test moves it on.
  std::function<federation::CheckpointSchedule::Clock::time_point()> clock() {
    return [this] { return now_; };
  }

  std::filesystem::path folder_;
  federation::CheckpointSchedule::Clock::time_point now_{};
};

TEST_F(Checkpoints, are_due_after_every_so_many_rounds_or_minutes) {
  EXPECT_EQ(due(3, 0), (std::vector{3, 6}));
  EXPECT_EQ(due(3, 1e6), (std::vector{3, 6}));
  EXPECT_TRUE(due(0, 0).empty());
  EXPECT_EQ(due(0, 1e-12).size(), 7u);
}

TEST_F(Checkpoints, are_due_by_the_time_since_the_last_one) {
  test::Federation federation([&](config::Config& config) {
    config.output.directory = folder_.string();
    config.output.checkpoint_every = 0;
    config.output.checkpoint_minutes = 2;
  });
  std::filesystem::create_directory(folder_);
  auto state = federation.started();
  state.next_round = 1;
  federation::CheckpointSchedule schedule(federation.session(), state, federation.progress(), clock());
  for (int written = 0; written < 2; ++written) {
    now_ += 119s;
    EXPECT_FALSE(schedule.is_due());
    now_ += 1s;
    EXPECT_TRUE(schedule.is_due());
    schedule.write(/*last=*/false);
    EXPECT_FALSE(schedule.is_due());
  }
}

TEST_F(Checkpoints, that_a_disk_refuses_are_tried_again_and_in_the_end_are_the_machines_failure) {
  test::Federation federation([&](config::Config& config) {
    config.output.directory = folder_.string();
    config.output.checkpoint_every = 1;
    config.output.checkpoint_minutes = 0;
  });
  std::ofstream(folder_) << "a file where the folder should be";
  auto state = federation.started();
  state.next_round = 1;
  federation::CheckpointSchedule schedule(federation.session(), state, federation.progress(), clock());
  const auto kind_of = [&](bool last) -> std::optional<mpi::ErrorKind> {
    try {
      schedule.write(last);
    } catch (const mpi::AgreedError& error) {
      return error.kind;
    }
    return std::nullopt;
  };
  EXPECT_TRUE(schedule.is_due());
  EXPECT_EQ(kind_of(true), mpi::ErrorKind::kFailure) << "no round follows in which to try again";
  for (const auto pause : {1s, 2s, 4s, 8s}) {
    EXPECT_EQ(kind_of(false), std::nullopt) << pause.count();
    now_ += pause - 1ms;
    EXPECT_FALSE(schedule.is_due()) << pause.count();
    now_ += 1ms;
    EXPECT_TRUE(schedule.is_due()) << pause.count();
  }
  std::filesystem::remove(folder_);
  std::filesystem::create_directory(folder_);
  EXPECT_EQ(kind_of(false), std::nullopt);
  EXPECT_TRUE(schedule.is_due()) << "by rounds, as if nothing had been";
  EXPECT_TRUE(std::filesystem::exists(folder_ / "checkpoint-000001.h5"));
  std::filesystem::remove_all(folder_);
  for (int attempt = 1; attempt < 5; ++attempt) EXPECT_EQ(kind_of(false), std::nullopt) << attempt;
  EXPECT_EQ(kind_of(false), mpi::ErrorKind::kFailure);
}

/// What ranks the rounds and where the next one begins.
TEST_F(Checkpoints, bring_back_the_state_of_a_run) {
  test::Federation federation([&](config::Config& config) { config.federation.patience = 5; });
  auto& session = federation.session();
  std::filesystem::create_directory(folder_);
  auto state = federation.started();
  state.next_round = 4;
  state.bandwidth = 0.37;
  state.stopping = {.patience = 5, .best_round = 2, .best_score = -1.5, .best_missing = 1, .validations_since_best = 3};
  state.best_theta = state.theta;
  for (auto& client : session.owned()) {
    client.model.state.mixing = {0.25, 0.75};
    client.model.state.core = client.model.state.weights;
    client.model.state.raw.assign(session.parameters(), -7.5);  // of the core, and Adam's
    client.model.state.first_raw.assign(session.parameters(), 3.0);
    client.model.state.steps = 12;
    state.uploads[client.data.id] = {3, client.model.state.core};
    state.best_clients[client.data.id] = client.model.state;
  }
  state.best_clients.at(2).weights.mean[0] = 0.625;
  state.best_theta.own[1] = session.owned(2).model.state.weights;
  state.theta.own[0] = session.owned(1).model.state.weights;
  state.gains[2] = {-3.5, 17};
  state.validation[1].headline = -8.25;
  state.validation[1].events = 6;
  federation::write_checkpoint(session, state, folder_.string(), 1);
  const auto path = folder_ / "checkpoint-000004.h5";
  const auto read = federation::ReadFor::kTraining;
  const auto back =
      federation::read_checkpoint(session, federation::read_header(path.string(), read, session.world()), read);
  EXPECT_EQ(back.next_round, 4);
  EXPECT_EQ(back.bandwidth, 0.37);
  EXPECT_EQ(back.stopping.patience, 5);
  EXPECT_EQ(back.stopping.best_round, 2);
  EXPECT_EQ(back.stopping.best_score, -1.5);
  EXPECT_EQ(back.stopping.best_missing, 1);
  EXPECT_EQ(back.stopping.validations_since_best, 3);
  ASSERT_EQ(back.best_clients.size(), session.owned().size());
  EXPECT_EQ(back.best_clients.at(2).weights.mean[0], 0.625);
  EXPECT_EQ(back.best_clients.at(1), session.owned(1).model.state);
  const auto in_file = [&](const char* name) { return io::File::open_read(path.string()).exists(name); };
  EXPECT_TRUE(in_file("clients/000001/best/rate")) << "a second name for the last state, which is the same";
  EXPECT_FALSE(in_file("clients/000002/best/rate")) << "weights alone";
  EXPECT_EQ(back.best_clients.at(2).mixing, (std::vector{0.25, 0.75}));
  EXPECT_EQ(session.owned(2).model.state.core.mean, session.owned(2).model.state.weights.mean);
  ASSERT_EQ(back.best_theta.own.size(), 1u);
  EXPECT_EQ(back.best_theta.own.at(1).mean, state.best_theta.own.at(1).mean);
  ASSERT_EQ(back.theta.own.size(), 1u);
  EXPECT_EQ(back.theta.own.at(0).sd, state.theta.own.at(0).sd);
  EXPECT_EQ(back.uploads.size(), session.owned().size());
  ASSERT_EQ(back.gains.size(), 1u);
  EXPECT_EQ(back.gains.at(2).nats, -3.5);
  EXPECT_EQ(back.gains.at(2).events, 17);
  ASSERT_EQ(back.validation.size(), 1u);
  EXPECT_EQ(back.validation.at(1).headline, -8.25);
  EXPECT_EQ(back.validation.at(1).events, 6);

  // Other training data, and other data that rank the rounds, are refused, or start the search for the best one anew.
  for (const auto split : {data::kTrain, data::kValidation}) {
    double& event = session.owned(1).data.sequences[0].events[split][0];
    const double before = event;
    event += 1e-6;
    const auto header = federation::read_header(path.string(), read, session.world());
    EXPECT_THROW(federation::read_checkpoint(session, header, read), mpi::AgreedError);
    const auto anew = federation::read_checkpoint(session, header, federation::ReadFor::kChangedTraining);
    EXPECT_EQ(anew.next_round, 4);
    EXPECT_EQ(anew.stopping.patience, 5);
    EXPECT_EQ(anew.stopping.best_round, -1);
    EXPECT_EQ(anew.stopping.validations_since_best, 0);
    EXPECT_TRUE(anew.validation.empty() && anew.gains.empty() && anew.best_theta.own.empty());
    event = before;
  }

  // What another federation.mode learned of mixtures is forgotten, with the optimiser's state, which was the core's.
  test::Federation other([](config::Config& config) {
    config.federation.patience = 5;
    config.federation.mode = config::Mode::kApple;
  });
  const auto header = federation::read_header(path.string(), read, session.world());
  const auto changed = federation::read_checkpoint(other.session(), header, federation::ReadFor::kChangedTraining);
  EXPECT_TRUE(changed.uploads.empty());
  for (const auto& client : other.session().owned()) {
    const auto& best = changed.best_clients.at(client.data.id);
    EXPECT_TRUE(client.model.state.started && client.model.state.mixing.empty() && best.mixing.empty());
    for (const model::WeightState* left : {static_cast<const model::WeightState*>(&client.model.state), &best}) {
      EXPECT_TRUE(left->core.mean.empty());
      EXPECT_EQ(left->steps, 0);
      for (std::size_t j = 0; j < left->raw.size(); ++j) {
        EXPECT_NEAR(std::log1p(std::exp(left->raw[j])), left->weights.sd[j], 1e-12) << j;
        EXPECT_EQ(left->first_raw[j], 0) << j;
      }
    }
  }

  const auto misnamed = folder_ / "checkpoint-000005.h5";
  std::filesystem::rename(path, misnamed);
  EXPECT_THROW(federation::read_header(misnamed.string(), read, session.world()), mpi::AgreedError);
}

}  // namespace
