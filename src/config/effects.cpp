#include "config/effects.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "config/keys.hpp"

namespace fedpp::config {
namespace {

struct Dependency {
  std::string_view key;
  bool (*holds)(const Config&);
  std::string_view unless;
};

bool dealt(const Config& c) { return c.data.client_files.empty(); }
bool cut(const Config& c) { return c.data.protocol == Protocol::kChronological; }
bool exchanges(const Config& c) { return c.federation.mode != Mode::kLocal; }
bool personal(const Config& c) { return c.aggregation.scope != Scope::kGlobal; }
/// Whether the estimator is another than the mean of a round's uploads.
bool is_robust(const Config& c) {
  const auto& a = c.aggregation;
  const auto uploads =
      c.federation.participants > 0 ? std::min(c.federation.participants, c.data.clients) : c.data.clients;
  if (a.estimator == Estimator::kMedian) return uploads > 2;
  // As order_statistics.cpp rounds.
  return a.estimator == Estimator::kTrimmedMean && a.trim * static_cast<double>(uploads) * (1 + 1e-12) >= 1;
}
bool attacked(const Config& c) { return c.attack.kind != AttackKind::kNone; }

const Dependency kDependencies[] = {
    {"data.drop_before", [](const Config& c) { return c.data.drop; }, "data.drop = true"},
    {"data.partition", dealt,
     "clients are dealt the files of data.train (a client of data.client_files sees all types)"},
    {"data.types_per_client", [](const Config& c) { return dealt(c) && c.data.partition == Partition::kHeterogeneous; },
     "clients are dealt the files of data.train with data.partition = \"heterogeneous\""},
    {"data.deal",
     [](const Config& c) {
       return (dealt(c) && c.data.partition != Partition::kFile) || c.data.protocol == Protocol::kPublishedCode;
     },
     "clients are dealt the files of data.train"},
    {"data.split_at", cut, "data.protocol = \"chronological\""},
    {"data.train_share", cut, "data.protocol = \"chronological\""},
    {"data.validation_share", cut, "data.protocol = \"chronological\""},
    {"model.width", [](const Config& c) { return c.model.encoder != Encoder::kRbf; },
     "model.encoder is another than \"rbf\""},
    {"model.start_weight_scale", [](const Config& c) { return c.model.encoder != Encoder::kRbf; },
     "model.encoder is another than \"rbf\""},
    {"model.layers", [](const Config& c) { return reads_types(c.model); }, "model.encoder = \"lstm\" or \"attention\""},
    {"model.type_embedding", [](const Config& c) { return reads_types(c.model); },
     "model.encoder = \"lstm\" or \"attention\", which see the types of past events"},
    {"model.time_input", [](const Config& c) { return reads_types(c.model); },
     "model.encoder = \"lstm\" or \"attention\""},
    {"model.tempering",
     [](const Config& c) { return c.model.tempering != Tempering::kFixed || c.model.temperature < 1; },
     "model.temperature is below 1"},
    {"model.mean_sd", [](const Config& c) { return c.model.mean == PriorMean::kLinear; }, "model.mean = \"linear\""},
    {"model.temperature", [](const Config& c) { return c.model.tempering == Tempering::kFixed; },
     "model.tempering = \"fixed\""},
    {"federation.proximal",
     [](const Config& c) {
       return c.federation.mode == Mode::kFedprox || c.federation.mode == Mode::kDitto ||
              c.federation.mode == Mode::kApple;
     },
     "federation.mode = \"fedprox\", \"ditto\" or \"apple\""},
    {"federation.mixing_rate",
     [](const Config& c) { return c.federation.mode == Mode::kFedala || c.federation.mode == Mode::kApple; },
     "federation.mode = \"fedala\" or \"apple\""},
    {"federation.straggling_period",
     [](const Config& c) { return c.federation.participants > 0 && c.federation.participants < c.data.clients; },
     "federation.participants samples some of the clients"},
    {"federation.mix_lambda", [](const Config& c) { return c.federation.client_start == ClientStart::kMix; },
     "federation.client_start = \"mix\""},
    {"aggregation.weights", exchanges, "federation.mode exchanges something"},
    {"aggregation.fraction_bits", exchanges, "federation.mode exchanges something"},
    {"aggregation.mmd_bandwidth", [](const Config& c) { return c.aggregation.divergence == Divergence::kMmd; },
     "aggregation.divergence = \"mmd\""},
    {"aggregation.estimator", [](const Config& c) { return exchanges(c) && is_robust(c); },
     "federation.mode exchanges something and it is another than the mean: a median of at least three uploads a round, a "
     "trimmed mean that takes at least one off at each end (aggregation.trim times federation.participants)"},
    {"aggregation.trim", [](const Config& c) { return c.aggregation.estimator == Estimator::kTrimmedMean; },
     "aggregation.estimator = \"trimmed-mean\""},
    {"aggregation.similarity", personal, "aggregation.scope is another than \"global\""},
    {"aggregation.probe_points", personal, "aggregation.scope is another than \"global\""},
    {"aggregation.keep_uploads", personal, "aggregation.scope is another than \"global\""},
    {"attack.kind", [](const Config& c) { return exchanges(c) || c.attack.kind == AttackKind::kReplacedEvents; },
     "federation.mode exchanges uploads to attack"},
    {"attack.share", attacked, "attack.kind is another than \"none\""},
    {"attack.strength", attacked, "attack.kind is another than \"none\""},
};

std::map<std::string, Key> keys_by_name(Config& config) {
  std::map<std::string, Key> keys;
  for (const Section& section : sections(config))
    for (const Key& key : section.keys) keys.emplace(key.full_name(), key);
  return keys;
}

void copy_key(const std::string& name, Config from, Config& to) {
  const auto source = keys_by_name(from).at(name);
  std::visit(Overloaded{[&](ChosenWord& chosen) { chosen.set(std::get<ChosenWord>(source.target).get()); },
                        [&](auto* member) { *member = *std::get<decltype(member)>(source.target); }},
             keys_by_name(to).at(name).target);
}

}  // namespace

std::vector<WithoutEffect> keys_without_effect(const Config& config) {
  Config copy = config, defaults;
  const auto now = keys_by_name(copy), usual = keys_by_name(defaults);
  std::vector<WithoutEffect> keys;
  for (const Dependency& d : kDependencies) {
    const std::string key(d.key);
    if (!d.holds(config) && now.at(key).value_text() != usual.at(key).value_text())
      keys.push_back({key, std::string(d.unless)});
  }
  return keys;
}

bool is_earlier_default(const std::string& key, const Config& config) {
  Config copy = config, earlier = earlier_defaults();
  return keys_by_name(copy).at(key).value_text() == keys_by_name(earlier).at(key).value_text();
}

std::size_t number_of_keys() {
  Config config;
  return keys_by_name(config).size();
}

std::vector<WithoutEffect> keys_without_effect(const Config& config, const Config& file) {
  std::vector<WithoutEffect> keys;
  for (const WithoutEffect& idle : keys_without_effect(config)) {
    Config alone = file;
    copy_key(idle.key, config, alone);
    settle(alone);
    if (!has_effect(idle.key, alone)) keys.push_back(idle);
  }
  return keys;
}

void reset_keys_without_effect(Config& config) {
  // One that is reset may have been what another needed.
  for (auto idle = keys_without_effect(config); !idle.empty(); idle = keys_without_effect(config))
    copy_key(idle.front().key, Config{}, config);
}

bool has_effect(const std::string& key, const Config& config) {
  for (const Dependency& d : kDependencies)
    if (d.key == key && !d.holds(config)) return false;
  return true;
}

}  // namespace fedpp::config
