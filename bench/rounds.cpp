#include "rounds.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "federation/aggregator.hpp"
#include "federation/participants.hpp"
#include "federation/scoring.hpp"
#include "federation/session.hpp"
#include "measure.hpp"
#include "model/client_batch.hpp"
#include "model/kept_block.hpp"
#include "model/local_update.hpp"
#include "workloads.hpp"

namespace fedpp::bench {

namespace {

/// A folder of rank 0 for drawn data, removed at the end.
class Folder {
 public:
  explicit Folder(mpi::Communicator& world) : mine_(world.is_root()) {
    if (mine_) {
      path_ = (std::filesystem::temp_directory_path() / ("fedpp-bench-" + std::to_string(getpid()))).string();
      std::filesystem::create_directories(path_);
    }
    world.broadcast(path_, 0, "benchmark");
  }
  ~Folder() {
    std::error_code ignored;
    if (mine_) std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  bool mine_;
  std::string path_;
};

/// One round after the other: local update, aggregation, validation, as federation::run_training does them.
class Rounds {
 public:
  Rounds(const config::Config& config, mpi::Communicator& world)
      : session_(config, world), theta_(session_.initial_prior()), options_(model::local_options(config)) {}

  /// Seconds of this rank in the phases of one round, without waiting for other ranks to end their updates.
  struct Seconds {
    double update = 0, aggregate = 0, validate = 0;
    double kernels = 0;  ///< of the update, where they are watched
  };
  Seconds next(bool watch_kernels = false) {
    const auto& config = session_.config();
    const auto participants =
        federation::sample_participants(session_.clients(), config.federation.participants, session_.seed(), round_, 1);
    std::vector<model::Client*> mine;
    std::vector<std::int64_t> scored;
    cost_ = {};
    for (const auto c : participants) {
      if (!session_.owns(c)) continue;
      mine.push_back(&session_.owned(c).model);
      scored.push_back(c);
      cost_ += static_cast<double>(config.training.epochs) *
               model::epoch_cost(*mine.back(), config.training.samples, model::precision_of(config.training.precision));
    }
    Seconds seconds;
    const auto timed = [](double& sum, const auto& f) {
      const double start = now();
      f();
      sum += now() - start;
    };
    if (watch_kernels) kernel_time::start();
    timed(seconds.update, [&] { model::local_update(mine, theta_, options_, session_.seed(), round_, {&kept_}); });
    if (watch_kernels) seconds.kernels = kernel_time::stop();
    session_.world().barrier();
    timed(seconds.aggregate, [&] {
      std::vector<federation::Upload> uploads;
      for (const auto* c : mine) uploads.push_back({c->id, 1.0, c->state.weights.mean, c->state.weights.sd});
      const auto result = federation::Aggregator({}, session_.world()).aggregate({theta_.mean, theta_.sd}, uploads);
      theta_ = {result.theta.mean, result.theta.sd};
    });
    timed(seconds.validate, [&] { federation::validation_scores(session_, windows_, scored, theta_); });
    ++round_;
    return seconds;
  }

  const gpu::Cost& cost() const { return cost_; }  ///< of this rank's local update in the last round

 private:
  federation::Session session_;
  federation::ValidationWindows windows_{session_};
  model::WeightPosterior theta_;
  model::LocalOptions options_;
  model::KeptBlock kept_;
  std::int64_t round_ = 0;
  gpu::Cost cost_;
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

/// The median of five rounds after one that is not counted, without their validation, whose seconds stand beside it; one
/// more round says how much of its update passes in kernels. Times are those of the rank that needs longest; the rates are
/// of its local update.
void rounds(benchmark::State& state, char name, config::Precision precision, mpi::Communicator& world) {
  constexpr int kRounds = 5;
  const Folder folder(world);
  config::Config config;
  if (world.is_root()) config = make_workload(name, folder.path());
  world.barrier();
  if (!world.is_root()) config = make_workload(name, folder.path());  // the same again: every rank knows the options
  world.barrier();
  config.training.precision = precision;
  Rounds run(config, world);
  memory::restart();
  for (auto _ : state) {
    run.next();
    std::vector<double> round, update, aggregate, validate, flops, bytes;
    for (int k = 0; k < kRounds; ++k) {
      const auto s = run.next();
      round.push_back(world.max(s.update + s.aggregate, "benchmark"));
      update.push_back(world.max(s.update, "benchmark"));
      aggregate.push_back(world.max(s.aggregate, "benchmark"));
      validate.push_back(world.max(s.validate, "benchmark"));
      flops.push_back(run.cost().flops);
      bytes.push_back(run.cost().bytes);
    }
    state.SetIterationTime(median(round));
    const gpu::Cost cost{median(flops), median(bytes)};
    const gpu::Cost most{world.max(cost.flops, "benchmark"), world.max(cost.bytes, "benchmark")};
    report(state, most, model::precision_of(precision), median(update));
    for (const char* counter : {"arrays_MB", "resident_MB"})
      state.counters[counter] = world.max(state.counters[counter], "benchmark");
    const double all =
        static_cast<double>(world.allreduce(static_cast<std::int64_t>(cost.flops), mpi::Op::sum, "benchmark"));
    state.counters["GF_all_ranks"] = 1e-9 * all;
    state.counters["placement_allows"] = all / most.flops;  // times faster than one rank, by operations
    const auto watched = run.next(true);
    state.counters["busy"] = -world.max(-watched.kernels / watched.update, "benchmark");  // of the idlest rank
    state.counters["update_s"] = median(update);
    state.counters["aggregate_s"] = median(aggregate);
    state.counters["validate_s"] = median(validate);
  }
}

}  // namespace

void register_rounds(mpi::Communicator& world) {
  for (const char name : {'a', 'b', 'c', 'd'})
    for (const auto precision : {config::Precision::kDouble, config::Precision::kMixed})
      benchmark::RegisterBenchmark(
          (std::string("round/") + name + (precision == config::Precision::kMixed ? "/mixed" : "")).c_str(),
          [name, precision, &world](benchmark::State& state) { rounds(state, name, precision, world); })
          ->UseManualTime()
          ->Repetitions(1)  // each is a median already
          ->Iterations(1)
          ->Unit(benchmark::kMillisecond);
}

}  // namespace fedpp::bench
