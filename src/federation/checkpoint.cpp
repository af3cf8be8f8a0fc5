#include "federation/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "config/error.hpp"
#include "config/version.hpp"
#include "federation/checkpoint_groups.hpp"
#include "federation/configuration_changes.hpp"
#include "federation/shared_file.hpp"
#include "io/atomic_file.hpp"
#include "io/checkpoint_file.hpp"
#include "io/error.hpp"
#include "model/mixing.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {

namespace {

void check_configuration(const CheckpointHeader& header, const config::Config& config, ReadFor purpose) {
  const auto changes = changes_since(header.configuration, config);
  const std::string differences = to_text(changes, true);
  const auto shape = std::find_if(changes.begin(), changes.end(), [](const auto& change) { return change.shape; });
  if (differences.empty() || (purpose == ReadFor::kChangedTraining && shape == changes.end())) return;
  throw UserError(
      fmt::format("{} was written under another configuration:{}\n{}", header.path, differences,
                  purpose == ReadFor::kResults ? "Leave these keys out: a trained model is evaluated as it was trained."
                  : shape != changes.end()
                      ? fmt::format("Restore these values, or train anew in another folder (--out): under another {} "
                                    "its weights have no meaning, so nothing can go on from them.",
                                    shape->key)
                      : "Restore these values, go on under the new ones all the same ('fedpp train ... --resume "
                        "--accept-changes'), or train anew in another folder (--out)."));
}

/// How a command takes this checkpoint instead of a damaged one.
std::string way_to_take(const std::string& path, ReadFor purpose) {
  switch (purpose) {
    case ReadFor::kResults:
      return "move the damaged one to another folder, and the command takes it";
    case ReadFor::kAdaptation:
      return fmt::format("start from it with 'fedpp adapt {} ...'", path);
    default:
      return fmt::format("go on from it with 'fedpp train ... --resume --checkpoint {}'", path);
  }
}

/// What to do about a checkpoint that is refused: the newest intact one beside it, if there is one.
std::string remedy_for(const std::string& path, ReadFor purpose) {
  const auto directory = std::filesystem::path(path).parent_path();
  std::error_code code;
  const auto intact =
      std::filesystem::is_directory(directory, code) ? io::newest_intact_checkpoint(directory.string()) : std::nullopt;
  if (!intact) return "; train anew in another folder (--out), or bring back a copy of it";
  return fmt::format("; the newest intact one is {}: {}", intact->path, way_to_take(intact->path, purpose));
}

/// The newest checkpoint is the one of the highest number.
void check_name(const std::string& path, std::int64_t next_round) {
  const auto number = io::round_in_name(path);
  if (number && *number != next_round)
    throw UserError(
        fmt::format("{}: its name says round {}, but it holds the state after round {}: name it {}, or give a copy "
                    "another name",
                    path, *number, next_round, io::checkpoint_name(next_round)));
}

std::string other_validation_data(const std::string& path, std::int64_t client) {
  return fmt::format(
      "client {}: its validation events or windows are not those that the rounds up to {} were ranked by: bring those "
      "files back, or go on with these and look for the best round anew ('fedpp train ... --resume --accept-changes')",
      client, path);
}

std::string other_training_data(const std::string& path, std::int64_t client) {
  return fmt::format(
      "client {}: its training events or windows are not those that {} was trained on: bring those files back; go on "
      "with data appended to them ('fedpp adapt --continue'), or with any ('fedpp train ... --resume "
      "--accept-changes'); or train anew in another folder (--out)",
      client, path);
}

/// Scores on other data do not compare: the best round is sought anew.
void forget_scores(RunState& state) {
  const auto patience = state.stopping.patience;
  state.stopping = {};
  state.stopping.patience = patience;
  state.best_theta = {};
  state.best_clients.clear();
  state.validation.clear();
  state.gains.clear();
}

/// The weights after the best round: those after the last under a second name, where the client took no part since.
void write_best(io::Group& client, const model::WeightState& best, const model::WeightState& last) {
  if (best == last) return client.link("best", "last");
  io::Group group = client.create_group("best");
  write_weights(group, best);
}

/// Collective. Rank 0 writes the shared part, then every rank in turn appends its clients; the last one, whose node sees
/// what all have written, seals it.
void write_partial(Session& session, const RunState& state, const io::PartialFile& partial) {
  auto& world = session.world();
  mpi::in_turn(world, [&] {
    if (world.is_root()) {
      io::File file = io::create_unsealed(partial);
      file.set_attribute("layout", kCheckpointLayout);
      file.set_attribute("oldest_reader", kCheckpointOldestReader);
      file.set_attribute("version", version());
      file.set_attribute("git", revision());
      file.set_attribute("next_round", state.next_round);
      file.set_attribute("clients", session.clients());
      file.set_attribute("seed", session.config().federation.seed);
      file.set_attribute("best_round", state.stopping.best_round);
      file.set_attribute("validations_since_best", state.stopping.validations_since_best);
      file.set_attribute("best_missing", state.stopping.best_missing);
      if (!state.prior_from.empty()) file.set_attribute("prior_from", state.prior_from);
      write_input_scale(file.create_group("inputs"), session.input_scale());
      file.write_scalar("best_score", state.stopping.best_score);
      file.write_scalar("bandwidth", state.bandwidth);
      file.write_scalar("configuration", archive(session.config()));
      file.write_scalar("rounds", state.rounds.text());
      write_posterior(file, "theta", state.theta.common);
      if (state.stopping.best_round >= 0) write_posterior(file, "best_theta", state.best_theta.common);
      file.close();
    }
    // Private state goes from its owner to the file, never through another rank.
    io::File file = io::File::open_append(partial);
    for (const auto& client : session.owned()) {
      io::Group group = file.create_group(group_name(client.data.id));
      io::Group last = group.create_group("last");
      write_weights(last, client.model.state);
      write_latent(last, client.model.state);
      write_own_prior(group, "prior", state.theta, client.data.id);
      write_own_prior(group, "best_prior", state.best_theta, client.data.id);
      write_upload(group, state.uploads, client.data.id);
      write_holdings(group, client.data);
      if (const auto best = state.best_clients.find(client.data.id); best != state.best_clients.end())
        write_best(group, best->second, client.model.state);
      write_gain(group, state.gains, client.data.id);
      write_validation(group, state.validation, client.data.id);
    }
    file.close();
    partial.flush();
    if (!world.turn_after()) io::seal(partial, io::kCheckpoint);
  });
}

/// Collective. Renamed, older ones deleted. What the run left of this round and later ones before it went
/// on from an earlier one gives way first: whenever this is interrupted, the newest checkpoint is of the course that
/// goes on. Returns their new paths on rank 0.
std::vector<std::string> commit(mpi::Communicator& world, io::PartialFile& partial, std::int64_t round,
                                std::int64_t keep) {
  std::vector<std::string> superseded;
  mpi::on_root(world, [&] {
    const std::string directory = io::folder_of(partial.path());
    superseded = io::supersede_checkpoints(directory, round);
    partial.commit();
    io::prune_checkpoints(directory, keep);
  });
  return superseded;
}

}  // namespace

void check_layout(const io::File& file) {
  if (!file.has_attribute("oldest_reader")) return;
  const auto needed = file.attribute<std::int64_t>("oldest_reader");
  if (needed > kCheckpointLayout)
    throw UserError(
        fmt::format("{}: has checkpoint layout {}, this program reads up to {}: use fedpp {} that wrote it, or a "
                    "newer one",
                    file.file(), needed, kCheckpointLayout,
                    file.has_attribute("version") ? file.attribute<std::string>("version") : ""));
}

std::vector<std::string> write_checkpoint(Session& session, const RunState& state, const std::string& directory,
                                          std::int64_t keep) {
  auto& world = session.world();
  io::PartialFile partial = begin_shared_file(world, directory + "/" + io::checkpoint_name(state.next_round));
  write_partial(session, state, partial);
  return commit(world, partial, state.next_round, keep);
}

CheckpointHeader read_header(const std::string& path, ReadFor purpose, mpi::Communicator& world) {
  mpi::on_root(world, [&] {
    try {
      io::verify(path, io::kCheckpoint);
    } catch (const io::Error& error) {
      throw UserError(error.what() + remedy_for(path, purpose));
    }
  });
  CheckpointHeader header{path, std::nullopt, 0, {}};
  mpi::together(world, [&] {
    const io::File file = io::File::open_read(path);
    check_layout(file);
    if (file.exists("inputs")) header.inputs = read_input_scale(file.group("inputs"));
    header.next_round = file.attribute<std::int64_t>("next_round");
    check_name(path, header.next_round);
    header.configuration = read_configuration(file);
  });
  return header;
}

bool is_of_other_mode(const CheckpointHeader& header, const config::Config& config) {
  return std::ranges::any_of(changes_since(header.configuration, config),
                             [](const auto& change) { return change.key == "federation.mode"; });
}

RunState read_checkpoint(Session& session, const CheckpointHeader& header, ReadFor purpose) {
  const bool accept_changes = purpose == ReadFor::kChangedTraining;
  const bool ranks_rounds =
      (purpose == ReadFor::kTraining || accept_changes) && session.config().federation.validate_every > 0;
  auto& world = session.world();
  RunState state;
  bool other_data = false;
  mpi::together(world, [&] {
    check_configuration(header, session.config(), purpose);
    const bool other_mode = is_of_other_mode(header, session.config());
    const auto sd_map = session.config().training.sd_map;
    const io::File file = io::File::open_read(header.path);
    state.next_round = header.next_round;
    if (file.has_attribute("prior_from")) state.prior_from = file.attribute<std::string>("prior_from");
    state.stopping.patience = session.config().federation.patience;
    state.stopping.best_round = file.attribute<std::int64_t>("best_round");
    state.stopping.validations_since_best = file.attribute<std::int64_t>("validations_since_best");
    state.stopping.best_score = file.read_scalar<double>("best_score");
    if (file.has_attribute("best_missing")) state.stopping.best_missing = file.attribute<std::int64_t>("best_missing");
    state.bandwidth = file.read_scalar<double>("bandwidth");
    if (world.is_root()) state.rounds = read_rounds(file);
    const std::size_t parameters = session.parameters();
    const bool has_best = state.stopping.best_round >= 0;
    state.theta = read_posterior(file, "theta", parameters);
    if (has_best) state.best_theta = read_posterior(file, "best_theta", parameters);
    for (auto& client : session.owned()) {
      const io::Group group = file.group(group_name(client.data.id));
      if (accept_changes) expect_holdings(group, client.data);
      if (!same_data(group, client.data, data::kTrain)) {
        if (!accept_changes) throw UserError(other_training_data(header.path, client.data.id));
        other_data = true;
      }
      if (ranks_rounds && !same_data(group, client.data, data::kValidation)) {
        if (!accept_changes) throw UserError(other_validation_data(header.path, client.data.id));
        other_data = true;
      }
      const io::Group last = group.group("last");
      client.model.state = {read_weights(last, parameters), read_latent(last, client.model.state)};
      if (has_best) state.best_clients[client.data.id] = read_weights(group.group("best"), parameters);
      if (other_mode) {
        model::forget_mixtures(client.model.state, sd_map);
        if (has_best) model::forget_mixtures(state.best_clients[client.data.id], sd_map);
      } else {
        read_upload(group, state.uploads, client.data.id, parameters);
      }
      read_own_prior(group, "prior", state.theta, client.data.id);
      if (has_best) read_own_prior(group, "best_prior", state.best_theta, client.data.id);
      read_gain(group, state.gains, client.data.id);
      read_validation(group, state.validation, client.data.id);
    }
  });
  if (world.any(other_data, "configuration")) forget_scores(state);
  return state;
}

std::optional<std::string> newest_intact_of(const config::Config& config, mpi::Communicator& world,
                                            std::vector<std::string>* refused) {
  std::string path;
  mpi::on_root(world, [&] {
    const auto& directory = config.output.directory;
    const auto intact = io::newest_intact_checkpoint(directory, refused);
    if (!intact && io::newest_checkpoint(directory))
      throw UserError(
          fmt::format("{} holds checkpoints, but none is intact ({}): look at it before anything is written "
                      "there ('fedpp checkpoint verify {}'), or train anew in another folder (--out)",
                      directory, refused->front(), directory));
    if (intact) path = intact->path;
  });
  world.broadcast(path, 0, "configuration");
  return path.empty() ? std::nullopt : std::optional(path);
}

std::string newest_checkpoint_of(const config::Config& config, mpi::Communicator& world) {
  std::string path;
  mpi::on_root(world, [&] {
    const auto newest = io::newest_checkpoint(config.output.directory);
    if (!newest) throw UserError(fmt::format("{} holds no checkpoint: train there first", config.output.directory));
    path = newest->path;
  });
  world.broadcast(path, 0, "configuration");
  return path;
}

}  // namespace fedpp::federation
