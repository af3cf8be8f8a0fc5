// fedpp train, from the configuration to the scores.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "config/dump.hpp"
#include "config/effects.hpp"
#include "config/error.hpp"
#include "config/notes.hpp"
#include "config/version.hpp"
#include "federation/adaptation.hpp"
#include "federation/checkpoint.hpp"
#include "federation/configuration_changes.hpp"
#include "federation/data_checksum.hpp"
#include "federation/describe.hpp"
#include "federation/finished_run.hpp"
#include "federation/machine.hpp"
#include "federation/machines_fault.hpp"
#include "federation/output_folder.hpp"
#include "federation/phase_table.hpp"
#include "federation/phases.hpp"
#include "federation/progress.hpp"
#include "federation/report.hpp"
#include "federation/round_loop.hpp"
#include "federation/run.hpp"
#include "federation/run_state.hpp"
#include "federation/stop_signal.hpp"
#include "gpu/device.hpp"
#include "gpu/runtime.hpp"
#include "io/atomic_file.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {

namespace {

/// Beside the results, for a user to give again: what an override left without effect would be refused in a file.
void archive_configuration(config::Config config, mpi::Communicator& world) {
  config::reset_keys_without_effect(config);
  mpi::on_root(world, [&] { io::write_file(config.output.directory + "/config.toml", config::dump(config)); });
}

/// Collective. A signal came before the first round: this start has changed nothing and leaves no file.
bool stopped_at_the_start(mpi::Communicator& world) {
  const int signal = stop_signal_of_any(world);
  if (signal != 0 && world.is_root())
    fmt::print(stderr, "fedpp: signal {}: stopped before the first round; start it again with the same command\n",
               signal);
  return signal != 0;
}

/// Collective. The results of just this training are there: a job that is submitted again has nothing to do. Whether the
/// training and validation data are still those of the checkpoint was seen when it was read.
bool has_finished(Session& session, const RunState& state) {
  auto& world = session.world();
  const std::string data = test_data(session);
  bool finished = false;
  mpi::together(world,
                [&] { finished = world.is_root() && holds_results_of(session.config(), state.next_round, data); });
  return world.any(finished, "agreement");
}

/// Collective. With 'adapt --continue' rounds come on top of those done.
void add_rounds_done(config::Config& config, const CheckpointHeader& header, mpi::Communicator& world) {
  auto& rounds = config.federation.rounds;
  mpi::together(world, [&] {
    if (rounds > config::kMostRounds - header.next_round)
      throw UserError(fmt::format(
          "--rounds {} (federation.rounds) on top of the {} that {} has done: more than {} rounds: ask for fewer",
          rounds, header.next_round, header.path, config::kMostRounds));
  });
  rounds += header.next_round;
}

/// The start of training, or where the checkpoint of `header` leaves it.
RunState starting_state(Session& session, const TrainingRequest& request,
                        const std::optional<CheckpointHeader>& header) {
  const auto& config = session.config();
  if (request.start == Start::kAdapt) return adopt_prior(session, *header, request.state);
  if (request.start == Start::kContinue) return continue_clients(session, *header, request.state);
  if (request.start == Start::kResume) {
    auto state =
        read_checkpoint(session, *header, request.accept_changes ? ReadFor::kChangedTraining : ReadFor::kTraining);
    mpi::together(session.world(), [&] {
      if (state.next_round > config.federation.rounds)
        throw UserError(
            fmt::format("federation.rounds = {}, but {} has done {}: ask for at least as many, or train into another "
                        "folder (--out)",
                        config.federation.rounds, header->path, state.next_round));
    });
    return state;
  }
  RunState state;
  state.theta = session.initial_prior();
  state.stopping.patience = config.federation.patience;
  state.bandwidth = config.aggregation.mmd_bandwidth > 0 ? config.aggregation.mmd_bandwidth : config.model.prior_sd;
  return state;
}

std::string describe_start(const TrainingRequest& request, const CheckpointHeader& header) {
  const auto round = fmt::format("{} round", config::word(request.state));
  if (request.start == Start::kAdapt) return fmt::format("prior: theta of {}, {}", header.path, round);
  if (request.start == Start::kContinue)
    return fmt::format("continued from {}, {}; {} rounds done", header.path, round, header.next_round);
  return fmt::format("resumed from {} after round {}", header.path, header.next_round);
}

/// What a person should know about a run that goes on under other settings.
std::string describe_changes(const CheckpointHeader& header, const config::Config& config) {
  const auto changes = changes_since(header.configuration, config);
  std::string text;
  if (const auto accepted = to_text(changes, true); !accepted.empty())
    text += "changed since the checkpoint, as accepted by --accept-changes:" + accepted;
  if (const auto free = to_text(changes, false); !free.empty())
    text +=
        (text.empty() ? "" : "\n") +
        ("changed since the checkpoint (how long it goes on, what is scored and written, how the machine is used, where files lie):" +
         free);
  return text;
}

void record_start(Progress& progress, const Session& session, const RunState& state) {
  const auto& config = session.config();
  progress.record({{"event", "start"},
                   {"version", version()},
                   {"git", revision()},
                   {"where", whereabouts()},
                   {"ranks", session.world().size()},
                   {"clients", session.clients()},
                   {"rounds", config.federation.rounds},
                   {"done", state.next_round},
                   {"time_unit", config.data.time_unit}});
}

/// What the numbers of the rounds' lines are.
void explain_rounds(Progress& progress, const config::Config& config) {
  progress.line("ELBO: nats per training event above a constant rate, of all clients that took part");
  if (config.federation.validate_every > 0)
    progress.line(
        "validation: nats per validation event, to rank rounds by; it does not compare with the test score, "
        "which is of other events");
}

/// Collective; rank 0 knows who was left out.
bool nothing_accepted(const RunState& state, mpi::Communicator& world) {
  bool all = false;
  mpi::on_root(world, [&] {
    const auto none = [](const nlohmann::json& round) {
      return round.at("left_out").size() >= round.at("participants").size();
    };
    const auto rounds = state.rounds.entries();
    all = !rounds.empty() && std::all_of(rounds.begin(), rounds.end(), none);
  });
  return world.any(all, "metrics");
}

}  // namespace

int run_training(const config::Config& given, const TrainingRequest& asked, mpi::Communicator& world) {
  if (stopped_at_the_start(world)) return kExitRequeue;
  config::Config config = given;
  TrainingRequest request = asked;

  // 1. What it starts from, checked before anything is written.
  std::optional<CheckpointHeader> header;
  if (request.start == Start::kAdapt || request.start == Start::kContinue) {
    header = read_header(request.checkpoint, ReadFor::kAdaptation, world);
    mpi::together(world, [&] { check_adaptable(*header, config, request.start == Start::kContinue); });
    if (request.start == Start::kContinue) add_rounds_done(config, *header, world);
  }
  const gpu::Runtime runtime(world.node_rank(), config::word(config.backend.dense));
  const auto ranks = examine_ranks(world, [] { return gpu::examine_device(); });
  const OutputFolder folder(config, request, world);
  std::vector<std::string> passed_over;
  if (request.automatic) {
    const auto intact = newest_intact_of(config, world, &passed_over);
    request.start = intact ? Start::kResume : Start::kInitialPrior;
    request.checkpoint = intact.value_or("");
  }
  if (request.start == Start::kResume)
    header = read_header(request.checkpoint.empty() ? newest_checkpoint_of(config, world) : request.checkpoint,
                         ReadFor::kTraining, world);
  Phases phases;
  std::optional<gpu::Profile> profile;
  if (request.profile) profile.emplace();

  // 2. Data and clients, on the inputs' scale that the weights were trained on; the state. A mistake in the
  // configuration, the data or the checkpoint leaves no file and replaces none.
  Session session = phases.time("load", [&] { return Session(config, world, header ? header->inputs : std::nullopt); });
  session.check_device_room();
  RunState state = phases.time("start", [&] { return starting_state(session, request, header); });
  if (stopped_at_the_start(world)) return kExitRequeue;
  as_the_machines_fault([&] { archive_configuration(config, world); });
  Progress progress(world, config.output.progress, config.output.directory);
  progress.line(describe(session));
  for (const auto& note : config::notes(config)) progress.line(note);
  for (const auto& rank : ranks.lines) progress.note(rank);
  for (const auto& warning : ranks.warnings) progress.line(warning);
  if (const auto text = idle_ranks(session); !text.empty()) progress.line(text);
  for (const auto& reason : passed_over) progress.line("passed over: " + reason);
  if (header) progress.line(describe_start(request, *header));
  if (request.start == Start::kResume)
    if (const auto text = describe_changes(*header, config); !text.empty()) progress.line(text);
  if (!folder.locked())
    progress.line("this file system has no locks: nothing keeps a second run out of " + config.output.directory);
  record_start(progress, session, state);
  if (request.automatic && header && has_finished(session, state)) {
    progress.line("its results are there: nothing to do ('fedpp train ... --resume' computes them anew)");
    progress.record({{"event", "finished"}, {"round", state.next_round}});
    return 0;
  }
  if (const auto text = beyond_window(session); !text.empty()) progress.line(text);
  explain_rounds(progress, config);

  const auto print_profile = [&] {
    if (profile) progress.line(phase_table(world, profile->entries()));
  };
  const auto stopped = [&](const std::string& where) {
    print_profile();
    progress.line(fmt::format("stopped by a signal {}; go on with --resume", where));
    progress.record({{"event", "stopped"}, {"round", state.next_round}});
    return kExitRequeue;
  };

  // 3. The rounds.
  if (!run_rounds(session, state, progress, phases)) return stopped(fmt::format("after round {}", state.next_round));

  // 4. Scores, curves, tables.
  try {
    as_the_machines_fault([&] { report(session, state, progress, phases); });
  } catch (const mpi::AgreedError& error) {
    if (error.kind != mpi::ErrorKind::kInterrupted) throw;
    return stopped("after the last round, before its results were whole");
  }
  print_profile();
  const bool nothing = nothing_accepted(state, world);
  if (nothing)
    progress.line(
        "no upload of any round was accepted, so nothing was learned: the lines 'left out of round' above say why; a "
        "smaller training.learning_rate or model.prior_sd helps where weights are not finite or K(z,z) has no factor");
  progress.record({{"event", "finished"}, {"round", state.next_round}});
  return nothing ? kExitNothingLearned : 0;
}

}  // namespace fedpp::federation
