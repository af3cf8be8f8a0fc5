#include "federation/adaptation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "config/date.hpp"
#include "config/error.hpp"
#include "federation/checkpoint_groups.hpp"
#include "federation/configuration_changes.hpp"
#include "model/fit_latent.hpp"
#include "model/local_options.hpp"
#include "model/mixing.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {

namespace {

/// theta of the best round, or of the last; with the bandwidth of the last aggregation.
RunState read_theta(const io::File& file, const Session& session, KeptState wanted) {
  RunState state;
  const bool validated = file.attribute<std::int64_t>("best_round") >= 0;
  const std::string name = wanted == KeptState::kBest && validated ? "best_theta" : "theta";
  state.theta = read_posterior(file, name, session.parameters());
  state.bandwidth = file.read_scalar<double>("bandwidth");
  state.stopping.patience = session.config().federation.patience;
  return state;
}

/// Adam's first steps follow the latent functions: they are brought to where the weights put them before.
void fit_latent_functions(Session& session, const model::Priors& theta) {
  const auto& config = session.config();
  std::vector<model::Client*> clients;
  for (auto& client : session.owned()) clients.push_back(&client.model);
  mpi::together(session.world(), [&] {
    model::fit_latent(clients, theta, model::local_options(config), static_cast<int>(config.evaluation.e_steps),
                      session.seed());
  });
}

bool was_local(const CheckpointHeader& header) {
  const auto then = nlohmann::json::parse(header.configuration).value("federation", nlohmann::json::object());
  return then.value("mode", "") == config::word(config::Mode::kLocal);
}

/// What the client would have sent in this state; nothing if it had not taken part.
std::optional<model::WeightPosterior> upload_of(const model::WeightState& state, const Strategy& strategy) {
  if (!state.started) return std::nullopt;
  const auto& own = strategy.downloads_uploads() ? state.core : state.weights;
  return own.mean.empty() ? std::nullopt : std::optional(own);
}

/// The clock that the weights know: another unit stretches every gap, another origin shifts every hour of the day.
void check_axis_of_time(const CheckpointHeader& header, const config::Config& config) {
  const auto then = nlohmann::json::parse(header.configuration).value("data", nlohmann::json::object());
  const auto text_then = [&](const char* key, const std::string& otherwise) {
    const auto value = then.find(key);
    return value != then.end() && value->is_string() ? value->get<std::string>() : otherwise;
  };
  const auto refuse = [&](const char* key, const std::string& now, const std::string& before) {
    throw UserError(
        fmt::format("data.{} = \"{}\", but the weights in {} were trained with \"{}\": import the table as the data "
                    "before it ('fedpp import TABLE --columns ... --like OLD.h5')",
                    key, now, header.path, before));
  };
  const auto unit = text_then("time_unit", config::Data{}.time_unit);
  const bool named = unit != config::Data{}.time_unit && config.data.time_unit != config::Data{}.time_unit;
  if (named && unit != config.data.time_unit) refuse("time_unit", config.data.time_unit, unit);
  const auto origin = text_then("time_origin", "");
  const auto begins_then = config::parse_date(origin), begins = config::parse_date(config.data.time_origin);
  if (begins_then && begins && config.data.clock == config::Clock::kCalendar && begins_then->second != begins->second)
    refuse("time_origin", config.data.time_origin, origin);
}

}  // namespace

void check_adaptable(const CheckpointHeader& header, const config::Config& config, bool same_clients) {
  const auto folder = std::filesystem::path(header.path).parent_path();
  if (!header.inputs)
    throw UserError(
        fmt::format("{0} was written by a version that did not keep the scale of the encoder's inputs: one more round "
                    "in its folder writes a checkpoint that has it ('fedpp train {1}/config.toml --out {1} "
                    "--resume --set federation.rounds={2}')",
                    header.path, folder.empty() ? "." : folder.string(), header.next_round + 1));
  std::vector<std::string> keys{"model.encoder",    "model.width", "model.layers",  "model.type_embedding",
                                "model.time_input", "model.mean",  "model.periods", "model.window"};
  if (same_clients) keys.insert(keys.end(), {"data.clients", "training.sd_map"});
  auto changes = changes_since(header.configuration, config);
  std::erase_if(changes, [&](const ConfigurationChange& change) {
    return std::find(keys.begin(), keys.end(), change.key) == keys.end();
  });
  check_axis_of_time(header, config);
  if (const std::string differences = to_text(changes, /*binding=*/true); !differences.empty())
    throw UserError(fmt::format("the weights in {} belong to another {}:{}\nRestore these values{}.", header.path,
                                same_clients ? "model or federation" : "model", differences,
                                same_clients ? ", or fit new clients without --continue" : ""));
}

RunState adopt_prior(Session& session, const CheckpointHeader& header, KeptState wanted) {
  RunState state;
  mpi::together(session.world(), [&] {
    const auto file = io::File::open_read(header.path);
    state = read_theta(file, session, wanted);
    // No barycentre has these sds at all weights.
    if (was_local(header) && !file.has_attribute("prior_from") && state.theta.common.sd == session.initial_prior().sd)
      throw UserError(fmt::format(
          "theta in {} is the initial distribution, since nothing was shared (federation.mode = \"local\"): "
          "adapt a run of another mode",
          header.path));
  });
  state.prior_from = header.path;
  fit_latent_functions(session, state.theta);
  return state;
}

RunState continue_clients(Session& session, const CheckpointHeader& header, KeptState wanted) {
  RunState state;
  mpi::together(session.world(), [&] {
    const io::File file = io::File::open_read(header.path);
    state = read_theta(file, session, wanted);
    state.next_round = header.next_round;
    if (session.world().is_root()) state.rounds = read_rounds(file);
    if (file.has_attribute("prior_from")) state.prior_from = file.attribute<std::string>("prior_from");
    const bool other_mode = is_of_other_mode(header, session.config());
    const auto best_round = file.attribute<std::int64_t>("best_round");
    const bool rolled_back = wanted == KeptState::kBest && best_round >= 0 && best_round != header.next_round - 1;
    for (auto& client : session.owned()) {
      const io::Group group = file.group(group_name(client.data.id));
      expect_holdings(group, client.data);
      const bool best_one = wanted == KeptState::kBest && group.exists("best");
      read_own_prior(group, best_one ? "best_prior" : "prior", state.theta, client.data.id);
      client.model.state.weight_state() = read_weights(group.group(best_one ? "best" : "last"), session.parameters());
      if (other_mode)
        model::forget_mixtures(client.model.state, session.config().training.sd_map);
      else
        read_upload(group, state.uploads, client.data.id, session.parameters());
      // The uploads in the file are those of the last round.
      if (auto upload = state.uploads.find(client.data.id); rolled_back && upload != state.uploads.end()) {
        if (auto own = upload_of(client.model.state, session.strategy()))
          upload->second.posterior = std::move(*own);
        else
          state.uploads.erase(upload);
      }
    }
  });
  fit_latent_functions(session, state.theta);
  return state;
}

std::string beyond_window(Session& session) {
  const auto& clock = session.plan().clock;
  double first = std::numeric_limits<double>::infinity(), last = -first;
  for (const auto& client : session.owned())
    for (const auto& sequence : client.data.sequences)
      for (const auto& windows : sequence.windows)
        for (const auto& window : windows) {
          first = std::min(first, data::to_model(clock, sequence, window.start));
          last = std::max(last, data::to_model(clock, sequence, window.end));
        }
  first = session.world().min(first, "extents") / clock.window;
  last = session.world().max(last, "extents") / clock.window;
  constexpr double kRounding = 1e-9, kLong = 10;
  if (first >= -kRounding && last <= 1 + kRounding) return "";
  std::string text = fmt::format(
      "The data reach from {:.3g} to {:.3g} of the window that the weights were trained on: outside 0 to 1 the encoder "
      "extrapolates",
      first, last);
  // Nothing learned reaches there, or hardly anything: most often because the times mean something else.
  const bool apart = !clock.elapsed && (last < kRounding || first > 1 - kRounding), longer = last - first > kLong;
  if (!apart && !longer) return text;
  const double length = clock.window / clock.scale;
  const double zero = clock.elapsed ? 0 : session.plan().origin + clock.origin;
  return text +
         fmt::format(
             ". WARNING: the data ({:.10g} to {:.10g} {}) {} that window ({:.10g} to {:.10g}): are their times in "
             "another unit, or from another origin? 'fedpp import TABLE --like OLD.h5' counts them as before",
             zero + first * length, zero + last * length, session.config().data.time_unit,
             apart ? "have no time in common with" : "are much longer than", zero, zero + length);
}

}  // namespace fedpp::federation
