#include "federation/checkpoint_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "config/dump.hpp"
#include "federation/checkpoint.hpp"
#include "federation/checkpoint_groups.hpp"
#include "io/checkpoint_file.hpp"
#include "io/shown.hpp"

namespace fedpp::federation {

CheckpointSummary summarise_checkpoint(const std::string& path) {
  const io::File file = io::open_sealed(path, io::kCheckpoint);
  CheckpointSummary s;
  check_layout(file);
  if (file.has_attribute("layout")) s.layout = file.attribute<std::int64_t>("layout");
  s.version = io::visible(file.attribute<std::string>("version"));
  s.git = io::visible(file.attribute<std::string>("git"));
  s.rounds_done = file.attribute<std::int64_t>("next_round");
  s.clients = file.attribute<std::int64_t>("clients");
  s.seed = file.attribute<std::int64_t>("seed");
  s.best_round = file.attribute<std::int64_t>("best_round");
  s.best_score = file.read_scalar<double>("best_score");
  if (file.has_attribute("prior_from")) s.prior_from = io::visible(file.attribute<std::string>("prior_from"));
  const auto theta = read_posterior(file, "theta");
  s.parameters = theta.sd.size();
  if (!theta.sd.empty()) {
    const auto [low, high] = std::minmax_element(theta.sd.begin(), theta.sd.end());
    s.smallest_sd = *low;
    s.largest_sd = *high;
  }
  for (std::int64_t c = 0; c < s.clients; ++c)
    s.clients_started += file.group(group_name(c)).group("last").attribute<std::int64_t>("started") != 0;
  s.configuration = read_configuration(file);
  return s;
}

namespace {

template <class E>
void take_word(const nlohmann::ordered_json& configuration, const char* section, const char* key, E& to) {
  if (!configuration.contains(section) || !configuration[section].contains(key)) return;
  const auto& value = configuration[section][key];
  if (const auto word = config::from_word<E>(value.is_string() ? value.get<std::string>() : ""); word) to = *word;
}

/// The defaults, those that follow the protocol, mode or scope as they are under the configuration's.
config::Config usual_under(const nlohmann::ordered_json& configuration) {
  config::Config usual;
  take_word(configuration, "data", "protocol", usual.data.protocol);
  take_word(configuration, "federation", "mode", usual.federation.mode);
  take_word(configuration, "aggregation", "scope", usual.aggregation.scope);
  config::settle(usual);
  const config::Config defaults;
  usual.data.protocol = defaults.data.protocol;
  usual.federation.mode = defaults.federation.mode;
  usual.aggregation.scope = defaults.aggregation.scope;
  return usual;
}

}  // namespace

std::string to_text(const CheckpointSummary& s) {
  std::string text = fmt::format(
      "rounds done      {}\n"
      "best round       {}\n"
      "clients          {}, {} of them took part\n"
      "theta            P = {}, sd from {:.3g} to {:.3g}\n"
      "seed             {}\n"
      "written by       fedpp {} ({}), layout {}\n",
      s.rounds_done, s.best_round < 0 ? "none" : fmt::format("{} (validation {:.4f})", s.best_round + 1, s.best_score),
      s.clients, s.clients_started, s.parameters, s.smallest_sd, s.largest_sd, s.seed, s.version, s.git, s.layout);
  if (!s.prior_from.empty()) text += fmt::format("prior from       {}\n", s.prior_from);
  text += "configuration, where it is not the default\n";
  const auto configuration = nlohmann::ordered_json::parse(s.configuration);
  const auto unsettled = config::to_json(config::Config{});  // of a key without effect
  const auto settled = config::to_json(usual_under(configuration));
  for (const auto& [section, keys] : configuration.items())
    for (const auto& [key, value] : keys.items()) {
      const auto is_default = [&](const auto& defaults) {
        return defaults.contains(section) && defaults[section].contains(key) && defaults[section][key] == value;
      };
      if (!is_default(settled) && !is_default(unsettled))
        text += fmt::format("  {} = {}\n", io::visible(section + "." + key), io::visible(value.dump()));
    }
  return text;
}

}  // namespace fedpp::federation
