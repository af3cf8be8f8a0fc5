#include "federation/checkpoint_groups.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "config/error.hpp"
#include "federation/accepted_uploads.hpp"
#include "federation/data_checksum.hpp"
#include "io/parse_json.hpp"

namespace fedpp::federation {

std::string group_name(std::int64_t client) { return fmt::format("clients/{:06d}", client); }

void write_posterior(io::Group& group, const std::string& name, const model::WeightPosterior& posterior) {
  group.write(name + "_mean", posterior.mean);
  group.write(name + "_sd", posterior.sd);
}

model::WeightPosterior read_posterior(const io::Group& group, const std::string& name,
                                      std::optional<std::size_t> parameters) {
  model::WeightPosterior posterior{group.read_vector<double>(name + "_mean"), group.read_vector<double>(name + "_sd")};
  if (parameters) expect_size(group, name + "_mean", posterior.mean.size(), *parameters);
  expect_size(group, name + "_sd", posterior.sd.size(), parameters.value_or(posterior.mean.size()));
  if (const auto fault = fault_of(posterior.mean, posterior.sd); !fault.empty())
    throw UserError(
        fmt::format("{}: {}/{}_{}: fedpp writes no such checkpoint; ask for another copy, or take an earlier one",
                    group.file(), group.path() == "/" ? "" : group.path(), name, fault));
  return posterior;
}

namespace {

UserError not_ours(const io::Group& file, const std::string& name, const std::string& what) {
  return UserError(
      fmt::format("{}: '{}' is not what fedpp writes ({}): ask for another copy, or take an earlier checkpoint",
                  file.file(), name, what));
}

}  // namespace

RoundHistory read_rounds(const io::File& file) {
  const auto text = file.read_scalar<std::string>("rounds");
  try {
    RoundHistory rounds(text);
    for (const auto& round : rounds.entries())
      for (const char* list : {"participants", "left_out"})
        if (!round.contains(list) || !round[list].is_array())
          throw std::invalid_argument(fmt::format("'{}' of every round was expected", list));
    return rounds;
  } catch (const std::invalid_argument& error) {
    throw not_ours(file, "rounds", error.what());
  }
}

std::string read_configuration(const io::File& file) {
  auto text = file.read_scalar<std::string>("configuration");
  const auto sections = io::parse_json(text);
  if (!sections.is_object() || !std::ranges::all_of(sections, [](const auto& keys) { return keys.is_object(); }))
    throw not_ours(file, "configuration", "sections with keys were expected");
  return text;
}

void write_own_prior(io::Group& group, const std::string& name, const model::Priors& priors, std::int64_t client) {
  if (const auto own = priors.own.find(client); own != priors.own.end()) write_posterior(group, name, own->second);
}

void read_own_prior(const io::Group& group, const std::string& name, model::Priors& priors, std::int64_t client) {
  if (group.exists(name + "_mean")) priors.own[client] = read_posterior(group, name, priors.common.mean.size());
}

void write_upload(io::Group& group, const KeptUploads& uploads, std::int64_t client) {
  const auto upload = uploads.find(client);
  if (upload == uploads.end()) return;
  write_posterior(group, "upload", upload->second.posterior);
  group.write_scalar("upload_round", upload->second.round);
}

void read_upload(const io::Group& group, KeptUploads& uploads, std::int64_t client, std::size_t parameters) {
  if (group.exists("upload_round"))
    uploads[client] = {group.read_scalar<std::int64_t>("upload_round"), read_posterior(group, "upload", parameters)};
}

void write_gain(io::Group& group, const std::map<std::int64_t, Gain>& gains, std::int64_t client) {
  if (const auto gain = gains.find(client); gain != gains.end())
    group.write("gain", std::vector<double>{gain->second.nats, gain->second.events});
}

void read_gain(const io::Group& group, std::map<std::int64_t, Gain>& gains, std::int64_t client) {
  if (!group.exists("gain")) return;
  const auto gain = group.read_vector<double>("gain");
  expect_size(group, "gain", gain.size(), 2);
  gains[client] = {gain[0], gain[1]};
}

void write_validation(io::Group& group, const std::map<std::int64_t, evaluation::Score>& scores, std::int64_t client) {
  if (const auto score = scores.find(client); score != scores.end())
    group.write("validation", std::vector<double>{score->second.headline, score->second.plug_in, score->second.events});
}

void read_validation(const io::Group& group, std::map<std::int64_t, evaluation::Score>& scores, std::int64_t client) {
  if (!group.exists("validation")) return;
  const auto score = group.read_vector<double>("validation");
  expect_size(group, "validation", score.size(), 3);
  scores[client] = {score[0], score[1], score[2]};
}

namespace {

/// M, of a state that has latent functions.
std::size_t inducing_of(const model::LatentState& state) {
  return state.v_mean.empty() ? 0 : state.v_factor.size() / state.v_mean.size();
}

/// A state of the same latent functions where inference starts.
model::LatentState at_start(const model::LatentState& like) {
  const std::size_t m = inducing_of(like);
  model::LatentState state;
  model::start_latent(state, m ? like.v_mean.size() / m : 0, m);
  return state;
}

/// Columns of lower triangles [M x M] from their diagonals down, and back.
std::vector<double> triangles_of(const std::vector<double>& squares, std::size_t m) {
  std::vector<double> triangles;
  for (std::size_t column = 0; column * m < squares.size(); ++column) {
    const auto begin = squares.begin() + static_cast<std::ptrdiff_t>(column * m);
    triangles.insert(triangles.end(), begin + static_cast<std::ptrdiff_t>(column % m),
                     begin + static_cast<std::ptrdiff_t>(m));
  }
  return triangles;
}
std::vector<double> squares_of(const std::vector<double>& triangles, std::size_t columns, std::size_t m) {
  std::vector<double> squares(columns * m, 0.0);
  auto from = triangles.begin();
  for (std::size_t column = 0; column < columns; ++column)
    for (std::size_t row = column % m; row < m; ++row) squares[column * m + row] = *from++;
  return squares;
}

}  // namespace

void write_latent(io::Group& group, const model::LatentState& state) {
  group.write_scalar("rate", state.rate);
  group.write_scalar("offset", state.offset);
  // Of many clients most may not have taken part yet.
  if (const auto start = at_start(state); state.v_mean == start.v_mean && state.v_factor == start.v_factor) return;
  group.write("v_mean", state.v_mean);
  group.write("v_triangle", triangles_of(state.v_factor, inducing_of(state)));
}

void write_weights(io::Group& group, const model::WeightState& state) {
  group.set_attribute("started", static_cast<std::int64_t>(state.started));
  group.set_attribute("steps", state.steps);
  if (!state.started) return;
  write_posterior(group, "weights", state.weights);
  group.write("raw", state.raw);
  group.write("first_mean", state.first_mean);
  group.write("second_mean", state.second_mean);
  group.write("first_raw", state.first_raw);
  group.write("second_raw", state.second_raw);
  if (!state.mixing.empty()) group.write("mixing", state.mixing);
  if (!state.core.mean.empty()) write_posterior(group, "core", state.core);
}

namespace {

std::vector<std::int64_t> types_of(const data::ClientData& client) {
  std::vector<std::int64_t> types(client.types.begin(), client.types.end());
  std::sort(types.begin(), types.end());
  return types;
}

std::vector<std::int64_t> sequences_of(const data::ClientData& client) {
  std::vector<std::int64_t> ids;
  for (const auto& sequence : client.sequences) ids.push_back(sequence.id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

void expect_all(const io::Group& group, const std::string& name, const std::vector<std::int64_t>& now,
                const data::ClientData& client) {
  const auto then = group.read_vector<std::int64_t>(name);
  std::vector<std::int64_t> missing;
  std::set_difference(then.begin(), then.end(), now.begin(), now.end(), std::back_inserter(missing));
  if (missing.empty()) return;
  throw UserError(fmt::format(
      "client {} is not the one of {}: it lacks the {} {} of then. Data may be appended to its sequences, and "
      "sequences to its own file (data.client_files) or its rows of a table (data.partition = \"file\"); sequences added "
      "to other common files are dealt anew among the clients. Give every client a file of its own, or fit new clients "
      "('fedpp adapt' without --continue)",
      client.id, group.file(), name, fmt::join(missing, ", ")));
}

const char* checksum_name(data::Split split) { return split == data::kTrain ? "training_data" : "validation_data"; }

std::int64_t checksum(const data::ClientData& client, data::Split split) {
  return static_cast<std::int64_t>(data_checksum(client, split));
}

}  // namespace

void write_holdings(io::Group& group, const data::ClientData& client) {
  group.write("types", types_of(client));
  group.write("sequences", sequences_of(client));
  for (const auto split : {data::kTrain, data::kValidation})
    group.set_attribute(checksum_name(split), checksum(client, split));
}

void expect_holdings(const io::Group& group, const data::ClientData& client) {
  expect_all(group, "types", types_of(client), client);
  expect_all(group, "sequences", sequences_of(client), client);
}

bool same_data(const io::Group& group, const data::ClientData& client, data::Split split) {
  const char* name = checksum_name(split);
  return !group.has_attribute(name) || group.attribute<std::int64_t>(name) == checksum(client, split);
}

void write_input_scale(io::Group group, const data::InputScale& inputs) {
  group.set_attribute("elapsed", static_cast<std::int64_t>(inputs.clock.elapsed));
  group.set_attribute("origin", inputs.clock.origin);
  group.set_attribute("scale", inputs.clock.scale);
  group.set_attribute("window", inputs.clock.window);
  group.set_attribute("gap_mean", inputs.gaps.mean);
  group.set_attribute("gap_sd", inputs.gaps.sd);
  group.set_attribute("types", inputs.types);
  if (!inputs.type_names.empty()) group.write("type_names", inputs.type_names);
}

data::InputScale read_input_scale(const io::Group& group) {
  const auto number = [&](const char* name, bool positive) {
    const auto value = group.attribute<double>(name);
    if (!std::isfinite(value) || (positive && value <= 0))
      throw not_ours(group, std::string("inputs/") + name,
                     fmt::format("{}: a {} number was expected", value, positive ? "positive" : "finite"));
    return value;
  };
  return {{group.attribute<std::int64_t>("elapsed") != 0, number("origin", false), number("scale", true),
           number("window", true)},
          {number("gap_mean", false), number("gap_sd", true)},
          group.attribute<std::int64_t>("types"),
          group.exists("type_names") ? group.read_vector<std::string>("type_names") : std::vector<std::string>{}};
}

void expect_size(const io::Group& group, const std::string& name, std::size_t is, std::size_t wanted) {
  if (is != wanted)
    throw UserError(fmt::format(
        "{}: {}/{} has {} entries where this configuration and data need {}: restore those that it was written under, "
        "or train anew in another folder (--out)",
        group.file(), group.path() == "/" ? "" : group.path(), name, is, wanted));
}

model::WeightState read_weights(const io::Group& group, std::size_t parameters) {
  model::WeightState state;
  state.started = group.attribute<std::int64_t>("started") != 0;
  state.steps = group.attribute<std::int64_t>("steps");
  if (!state.started) return state;
  state.weights = read_posterior(group, "weights", parameters);
  const auto by_weight = [&](const char* name) {
    auto values = group.read_vector<double>(name);
    expect_size(group, name, values.size(), parameters);
    return values;
  };
  state.raw = by_weight("raw");
  state.first_mean = by_weight("first_mean");
  state.second_mean = by_weight("second_mean");
  state.first_raw = by_weight("first_raw");
  state.second_raw = by_weight("second_raw");
  if (group.exists("mixing")) state.mixing = group.read_vector<double>("mixing");
  if (group.exists("core_mean")) state.core = read_posterior(group, "core", parameters);
  return state;
}

namespace {

/// q(v), whose factors layouts before 6 hold as squares.
void read_variational(const io::Group& group, model::LatentState& state) {
  const std::size_t functions = state.v_mean.size(), m = inducing_of(state), squares = state.v_factor.size();
  state.v_mean = group.read_vector<double>("v_mean");
  expect_size(group, "v_mean", state.v_mean.size(), functions);
  const bool as_squares = group.exists("v_factor");
  const char* name = as_squares ? "v_factor" : "v_triangle";
  auto factors = group.read_vector<double>(name);
  expect_size(group, name, factors.size(), as_squares ? squares : functions * (m + 1) / 2);
  state.v_factor = as_squares ? std::move(factors) : squares_of(factors, functions, m);
}

}  // namespace

model::LatentState read_latent(const io::Group& group, const model::LatentState& like) {
  model::LatentState state = at_start(like);
  state.rate = group.read_scalar<double>("rate");
  state.offset = group.read_scalar<double>("offset");
  if (group.exists("v_mean")) read_variational(group, state);
  const auto finite = [](double x) { return std::isfinite(x); };
  if (!finite(state.rate) || state.rate <= 0)
    throw not_ours(group, group.path() + "/rate", "a positive number was expected");
  if (!finite(state.offset) || !std::ranges::all_of(state.v_mean, finite) ||
      !std::ranges::all_of(state.v_factor, finite))
    throw not_ours(group, group.path(), "finite numbers were expected in offset, v_mean and v_factor");
  return state;
}

}  // namespace fedpp::federation
