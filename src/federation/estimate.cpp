// fedpp train --estimate: what a training would take, from sizes and a short calibration.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "federation/describe.hpp"
#include "federation/estimated_memory.hpp"
#include "federation/measured_rates.hpp"
#include "federation/memory.hpp"
#include "federation/next_events.hpp"
#include "federation/participants.hpp"
#include "federation/run.hpp"
#include "federation/schedule.hpp"
#include "federation/session.hpp"
#include "gpu/runtime.hpp"
#include "model/client_points.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {

namespace {

/// Seconds of the whole run, of each round and of each pass after the last the slowest rank.
struct Times {
  double own_update = 0;            ///< of this rank alone
  double update = 0, validate = 0;  ///< all rounds together
  double score = 0, trivial_models = 0, next_events = 0, curves = 0;
};

/// Collective.
Times times_of(const Session& session, const Rates& rates) {
  auto& world = session.world();
  const auto& config = session.config();
  const auto& f = config.federation;
  const auto flops = [](const OwnedClient& client, std::int64_t samples) {
    return model::epoch_cost(client.model, samples).flops;
  };
  Times times;
  std::vector<std::int64_t> updates(static_cast<std::size_t>(f.rounds), 0), validations = updates;  // nanoseconds
  std::set<std::int64_t> started, scored;
  for (std::int64_t round = 0; round < f.rounds; ++round) {
    double update = 0, validate = 0;
    const auto participants =
        sample_participants(session.clients(), f.participants, session.seed(), round, f.straggling_period);
    for (const auto c : participants) {
      started.insert(c);
      scored.erase(c);
      if (session.owns(c)) update += rates.update * flops(session.owned(c), config.training.samples);
    }
    times.own_update += update;
    updates[round] = static_cast<std::int64_t>(1e9 * update);
    if (!is_validated(f, round)) continue;
    for (const auto& client : session.owned()) {  // as RoundValidation does
      const auto c = client.data.id;
      const bool in_turn = !started.contains(c) && has_its_turn(f, session.clients(), c, round);
      const bool is_new = scored.insert(c).second;
      if (is_new || in_turn || session.strategy().scores_received()) validate += rates.validate * flops(client, 1);
    }
    validations[round] = static_cast<std::int64_t>(1e9 * validate);
  }
  for (auto* of_rounds : {&updates, &validations}) {
    world.allreduce(std::span<std::int64_t>(*of_rounds), mpi::Op::max, "estimate");
    double& sum = of_rounds == &updates ? times.update : times.validate;
    for (const auto x : *of_rounds) sum += 1e-9 * static_cast<double>(x);
  }
  double operations = 0, curves = 0;
  for (const auto& client : session.owned()) {
    operations += flops(client, 1);
    curves += client.data.id < config.evaluation.curve_clients ? 1 : 0;
  }
  times.score = world.max(rates.score * operations, "estimate");
  times.trivial_models = world.max(rates.trivial_models * operations, "estimate");
  times.next_events = world.max(rates.next_events * operations, "estimate");
  times.curves = world.max(rates.curve * curves, "estimate");
  return times;
}

/// What follows the rounds, each pass that the configuration asks for.
std::string after_the_rounds(const config::Config& config, const Times& times) {
  std::vector<std::string> passes{fmt::format("scores {:.3g} s", times.score)};
  if (config.federation.validate_every > 0) passes.back() += " (and again, if the best round is not the last)";
  if (config.evaluation.trivial_models) passes.push_back(fmt::format("trivial models {:.3g} s", times.trivial_models));
  if (config.evaluation.next_event) passes.push_back(fmt::format("next events {:.3g} s", times.next_events));
  if (config.evaluation.curve_clients > 0) passes.push_back(fmt::format("curves {:.3g} s", times.curves));
  return fmt::format("{}", fmt::join(passes, ", "));
}

/// What a client's local update takes: seconds and operations, of one round.
struct Update {
  double seconds, operations;
};

/// Mean operations of the local updates of a round, of the rank that has most, on 1, 2, 4, ... ranks, not more than a
/// round's participants, over the first rounds. They are counted, not measured: a rank that was interrupted while its
/// clients were measured changes nothing here.
std::vector<std::pair<int, double>> on_other_ranks(const Session& session, const std::vector<double>& operations) {
  constexpr std::int64_t kMostRounds = 200;
  const auto& f = session.config().federation;
  const auto rounds = std::min(f.rounds, kMostRounds);
  std::vector<std::vector<std::int64_t>> participants;
  for (std::int64_t round = 0; round < rounds; ++round)
    participants.push_back(
        sample_participants(session.clients(), f.participants, session.seed(), round, f.straggling_period));
  std::vector<std::pair<int, double>> result;
  for (int ranks = 1; ranks <= static_cast<int>(participants.front().size()); ranks *= 2) {
    // Where only an owner may open a client's file, clients are placed before it is known what they cost.
    const mpi::Placement placement(
        session.plan().one_file_a_client() ? std::vector<double>(operations.size(), 1.0) : operations, ranks);
    double sum = 0;
    for (const auto& those : participants) {
      std::vector<double> load(static_cast<std::size_t>(ranks), 0.0);
      for (const auto c : those) load[static_cast<std::size_t>(placement.rank_of(c))] += operations[c];
      sum += *std::max_element(load.begin(), load.end());
    }
    result.emplace_back(ranks, sum / static_cast<double>(rounds));
  }
  return result;
}

/// Seconds of the slowest rank, where every rank is as fast as these are on the mean; without what ranks say to each
/// other.
void print_other_ranks(const Session& session, const std::vector<Update>& updates) {
  double seconds = 0, operations = 0;
  std::vector<double> of_clients;
  for (const auto& update : updates) {
    seconds += update.seconds;
    operations += update.operations;
    of_clients.push_back(update.operations);
  }
  const auto others = on_other_ranks(session, of_clients);
  if (others.size() < 2) return;
  fmt::print("\n{:>5} {:>15} {:>12}\n", "ranks", "update s/round", "times faster");
  for (const auto& [ranks, slowest] : others)
    fmt::print("{:>5} {:>15.3g} {:>12.1f}\n", ranks, slowest * seconds / operations, others.front().second / slowest);
}

}  // namespace

int run_estimate(const config::Config& config, mpi::Communicator& world) {
  const gpu::Runtime runtime(world.node_rank(), config::word(config.backend.dense));
  const auto start = std::chrono::steady_clock::now();
  Session session(config, world);
  const double load =
      world.max(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), "estimate");
  session.check_device_room();

  // 1. Memory.
  ValidationWindows windows(session);
  if (config.federation.validate_every > 0)
    for (const auto& client : session.owned()) windows.of(client, data::ValidationHalf::kRounds);
  std::optional<evaluation::GapGrid> gaps;
  if (config.evaluation.next_event) gaps = next_event_grid(session);
  const auto* asked_gaps = gaps ? &*gaps : nullptr;
  const auto memory = estimated_memory(session, asked_gaps);

  // 2. Time. Measuring may take as much memory as the run.
  const double available = available_bytes(), wanted = world.node_size() * (memory.process - resident_bytes());
  const double lacking = world.max(wanted - available, "estimate");  // on the fullest node
  const bool fits = lacking <= 0;
  Rates rates;
  if (fits) mpi::together(world, [&] { rates = measured_rates(session, windows, asked_gaps); });
  const Times times = times_of(session, rates);
  std::vector<Update> own_updates;
  for (const auto& client : session.owned()) {
    const double operations = model::epoch_cost(client.model, config.training.samples).flops;
    own_updates.push_back({rates.update * operations, operations});
  }
  const auto updates = session.share(own_updates, "estimate");

  // 3. One line a rank, then the sums.
  const auto rounds = config.federation.rounds;
  const auto lines =
      world.gather(fmt::format("{:>4} {:>8} {:>14.1f} {:>16.1f} {:>15}\n", world.rank(), session.owned().size(),
                               1e-6 * memory.arrays, 1e-6 * memory.process,
                               fits ? fmt::format("{:.3f}", times.own_update / static_cast<double>(rounds)) : "-"),
                   0, "estimate");
  std::vector<std::string> fullest;
  if (!fits)
    fullest =
        world.gather(wanted - available == lacking ? fmt::format("on {}, which has {:.0f} MB left, they want {:.0f} MB",
                                                                 mpi::node_name(), 1e-6 * available, 1e-6 * wanted)
                                                   : "",
                     0, "estimate");
  const auto text = describe(session);
  if (!world.is_root()) return 0;
  fmt::print("{}\n\n{:>4} {:>8} {:>14} {:>16} {:>15}\n", text, "rank", "clients", "arrays MB", "process MB",
             "update s/round");
  for (const auto& line : lines) fmt::print("{}", line);
  if (!fits) {
    fmt::print(
        "\nNot measured, since the ranks' memory is more than is free ({}): take more nodes or fewer ranks a node, a "
        "smaller model.inducing, training.samples or evaluation.samples, or cut long sequences into pieces (fedpp "
        "import --cut-events).\n",
        *std::ranges::find_if(fullest, [](const std::string& line) { return !line.empty(); }));
    return 0;
  }
  fmt::print(
      "\nEstimated: {:.3g} s for {} rounds (local updates {:.3g} s, validation {:.3g} s); then {}; loading took {:.3g} s.\n",
      times.update + times.validate, rounds, times.update, times.validate, after_the_rounds(config, times), load);
  if (const auto idle = idle_ranks(session); !idle.empty()) fmt::print("{}\n", idle);
  print_other_ranks(session, updates);
  return 0;
}

}  // namespace fedpp::federation
