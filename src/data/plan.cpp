// Who holds what: files, dealing, clock.
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "config/client_pattern.hpp"
#include "config/date.hpp"
#include "config/error.hpp"
#include "data/dataset.hpp"
#include "data/random.hpp"
#include "data/source_reader.hpp"

namespace fedpp::data {
namespace {

using Entries = std::vector<std::uint32_t>;

// Lengths whose inverses and squares are normal numbers, with room for counts.
constexpr double kShortest = 1e-100, kLongest = 1e100;

void check_options(const config::Data& options) {
  const bool chronological = options.protocol == config::Protocol::kChronological;
  if (options.clients < 1)
    throw UserError(fmt::format("data.clients = {}: at least one client is needed", options.clients));
  if (options.types_per_client < 1)
    throw UserError(
        fmt::format("data.types_per_client = {}: a client sees at least one type", options.types_per_client));
  if (!(options.local_fraction > 0 && options.local_fraction <= 1))
    throw UserError(fmt::format("data.local_fraction = {}: choose a share in (0, 1]", options.local_fraction));
  if (!std::isfinite(options.drop_before))
    throw UserError(fmt::format("data.drop_before = {}: a finite time is needed", options.drop_before));
  if (!chronological && options.realisation != config::Realisation::kPooled)
    throw UserError(
        fmt::format("data.realisation = '{}' with data.protocol = '{}': the streams scored are other users' than "
                    "those learned from, so they must share one intensity: set data.realisation = \"pooled\"",
                    config::word(options.realisation), config::word(options.protocol)));
  if (!chronological && options.clock == config::Clock::kElapsed)
    throw UserError(
        fmt::format("data.clock = 'elapsed' with data.protocol = '{}': its streams share one window of file time: "
                    "set data.clock = \"calendar\" or \"auto\"",
                    config::word(options.protocol)));
  if (options.client_files.empty()) {
    if (options.train.empty())
      throw UserError("data.train names no file: give at least one, or data.client_files, one file a client");
    if (!chronological && options.test.empty())
      throw UserError(
          fmt::format("data.test names no file: data.protocol = '{}' scores streams that are not trained on",
                      config::word(options.protocol)));
    return;
  }
  if (!options.train.empty()) throw UserError("data.train and data.client_files exclude each other: leave one empty");
  if (options.client_files.find("{client}") == std::string::npos)
    throw UserError(
        fmt::format("data.client_files = '{}': put {{client}} where the client's number (from 0) stands in the "
                    "file's name",
                    options.client_files));
  for (const auto* list : {&options.validation, &options.test, &options.windows})
    for (const std::string& path : *list)
      if (path.find("{client}") == std::string::npos)
        throw UserError(
            fmt::format("'{}' in data.validation, data.test or data.windows: with data.client_files every client has "
                        "its own files, so put {{client}} into the name",
                        path));
  if (!chronological && options.test.empty())
    throw UserError(
        fmt::format("data.test names no file: data.protocol = '{}' with data.client_files needs a pattern with "
                    "{{client}} for every client's test sequences",
                    config::word(options.protocol)));
}

std::vector<Source> list_sources(const config::Data& options) {
  std::vector<Source> sources;
  std::size_t named = 0;
  auto add = [&](const std::string& path, Split role, bool used) {
    Source source{path, "", role};
    if (!options.windows.empty() && named < options.windows.size()) source.windows = options.windows[named];
    ++named;
    if (used) sources.push_back(source);
  };
  if (options.client_files.empty())
    for (const std::string& path : options.train) add(path, kTrain, true);
  else
    add(options.client_files, kTrain, true);
  for (const std::string& path : options.validation)
    add(path, kValidation, options.protocol != config::Protocol::kPopulation);
  for (const std::string& path : options.test) add(path, kTest, true);
  if (!options.windows.empty() && options.windows.size() != named)
    throw UserError(
        fmt::format("data.windows names {} tables for {} data files: give one for each training, validation and "
                    "test file in that order, or none",
                    options.windows.size(), named));
  return sources;
}

/// The clients of a file as indices into plan.client_names: a name is one client in all files. Empty where the file
/// holds no clients. `known`: the index of each name so far.
std::vector<std::int64_t> add_clients(Plan& plan, const io::SequenceNames& names,
                                      std::unordered_map<std::string, std::int64_t>& known) {
  std::vector<std::int64_t> indices;
  for (const std::string& name : names.clients) {
    const auto [client, is_new] = known.emplace(name, static_cast<std::int64_t>(plan.client_names.size()));
    if (is_new) plan.client_names.push_back(name);
    indices.push_back(client->second);
  }
  return indices;
}

/// A type's number has one name in all files.
void add_types(Plan& plan, const io::SequenceNames& names, const std::string& path) {
  if (const auto type = first_other_name(names.types, plan.type_names))
    throw UserError(fmt::format(
        "{}: type {} is '{}', but '{}' in a data file before it: import its table again with --like and that file",
        path, *type, names.types[*type], plan.type_names[*type]));
  if (names.types.size() > plan.type_names.size()) plan.type_names = names.types;
}

bool same_date(const std::string& a, const std::string& b) {
  const auto one = config::parse_date(a), other = config::parse_date(b);
  return !one || !other || one->second == other->second;
}

/// Files whose times count from a date count from the same one in the same unit, and the configuration does not say
/// otherwise. `first`: what the first of them said, with its path.
void check_axis(const config::Data& options, const FileMeaning& file, const std::string& path,
                std::optional<std::pair<FileMeaning, std::string>>& first) {
  const std::string &origin = file.names.time_origin, &unit = file.time_unit;
  if (origin.empty()) return;
  if (!first) first.emplace(file, path);
  const auto& [other, other_path] = *first;
  if (!same_date(origin, other.names.time_origin) || unit != other.time_unit)
    throw UserError(fmt::format(
        "{}: times count in {} from {}, but those of {} in {} from {}: import its table again with --like and that file",
        path, unit, origin, other_path, other.time_unit, other.names.time_origin));
  if (!options.time_origin.empty() && !same_date(origin, options.time_origin))
    throw UserError(
        fmt::format("data.time_origin = \"{}\": the times of {} count from {}: set data.time_origin = \"{}\"",
                    options.time_origin, path, origin, origin));
  if (options.time_unit != config::Data{}.time_unit && options.time_unit != unit)
    throw UserError(fmt::format("data.time_unit = \"{}\": the times of {} count in {}: set data.time_unit = \"{}\"",
                                options.time_unit, path, unit, unit));
}

/// Where the files say who holds what, they say how many clients there are.
void require_clients(const Plan& plan) {
  if (!plan.clients_of_files()) return;
  const auto found = static_cast<std::int64_t>(plan.client_names.size());
  if (found != plan.clients())
    throw UserError(
        fmt::format("data.clients = {}: with data.partition = \"file\" clients are those of {}{}: set "
                    "data.clients = {}",
                    plan.clients(), plan.sources.front().path, plan.sources.size() > 1 ? ", ..." : "", found));
}

/// Before anything is made for every client.
void require_sequences(const Plan& plan) {
  if (!plan.options.deal || plan.clients_of_files()) return;
  const bool chronological = plan.options.protocol == config::Protocol::kChronological;
  const auto sequences = std::count_if(plan.catalogue.begin(), plan.catalogue.end(), [&](const CatalogueEntry& entry) {
    return chronological || plan.sources[entry.source].role == kTrain;
  });
  if (sequences > 0 && plan.clients() > sequences)
    throw UserError(
        fmt::format("data.clients = {}: dealing the {} sequences of {}{} leaves clients without a training sequence: "
                    "lower data.clients, bring more sequences, or set data.deal = false",
                    plan.clients(), sequences, plan.sources.front().path, plan.sources.size() > 1 ? ", ..." : ""));
}

/// Adds a sequence to the extents. The window of the protocols with separate test files comes from training files
/// alone.
void extend(LocalExtents& extents, const RawSequence& raw, Split role, bool chronological) {
  for (int type : raw.types) extents.types = std::max<std::int64_t>(extents.types, type + 1);
  if (!chronological && role != kTrain) return;
  double start, end;
  if (raw.has_windows) {
    if (raw.windows.empty()) return;
    start = raw.windows.front().start;
    end = raw.windows.back().end;
  } else {
    if (raw.times.empty()) return;
    start = raw.times.front();
    end = raw.times.back();
  }
  extents.start = std::min(extents.start, start);
  extents.end = std::max(extents.end, end);
  extents.longest = std::max(extents.longest, end - start);
}

std::vector<int> keep_types(std::int64_t types, const std::vector<std::int64_t>& left_out) {
  std::vector<int> kept;
  for (int type = 0; type < types; ++type)
    if (std::find(left_out.begin(), left_out.end(), type) == left_out.end()) kept.push_back(type);
  return kept;
}

bool contains(const std::vector<int>& types, int type) { return std::binary_search(types.begin(), types.end(), type); }

/// Deals the entries in turn to the holders, in a seeded order.
void deal_round(Plan& plan, Entries entries, const std::vector<std::int64_t>& holders, Purpose purpose,
                std::int64_t key) {
  if (holders.empty()) return;
  Random random(plan.seed, purpose, key);
  random.shuffle(entries);
  for (std::size_t i = 0; i < entries.size(); ++i) plan.holdings[holders[i % holders.size()]].push_back(entries[i]);
}

/// Deals the sequences of one role. Sequences of a single type go to the clients that see it; where the files hold
/// sequences of several types, all go round all clients, and each client sees its types' events of those it gets.
void deal_pool(Plan& plan, const Entries& pool, bool by_type, Purpose purpose) {
  std::vector<std::int64_t> everybody(plan.clients());
  for (std::int64_t c = 0; c < plan.clients(); ++c) everybody[c] = c;
  auto give = [&](const Entries& entries, const std::vector<std::int64_t>& holders, std::int64_t key) {
    if (plan.dealt()) return deal_round(plan, entries, holders, purpose, key);
    for (std::int64_t holder : holders)
      plan.holdings[holder].insert(plan.holdings[holder].end(), entries.begin(), entries.end());
  };
  if (!by_type) return give(pool, everybody, -1);

  std::vector<std::vector<int>> types(plan.clients());
  for (std::int64_t c = 0; c < plan.clients(); ++c) {
    types[c] = plan.types_of(c);
    std::sort(types[c].begin(), types[c].end());
  }
  for (int type : plan.kept_types) {
    Entries of_type;
    for (std::uint32_t entry : pool)
      if (plan.catalogue[entry].type == type) of_type.push_back(entry);
    std::vector<std::int64_t> holders;
    for (std::int64_t c = 0; c < plan.clients(); ++c)
      if (contains(types[c], type)) holders.push_back(c);
    give(of_type, holders, type);
  }
  // Observed without an event: their type cannot be known.
  Entries silent;
  for (std::uint32_t entry : pool)
    if (plan.catalogue[entry].type == RawSequence::kNoEvents) silent.push_back(entry);
  give(silent, everybody, -1);
}

void deal(Plan& plan) {
  plan.holdings.assign(plan.clients(), {});
  if (plan.clients_of_files()) {
    for (std::uint32_t entry = 0; entry < plan.catalogue.size(); ++entry)
      plan.holdings[plan.catalogue[entry].client].push_back(entry);
    return;
  }
  const bool chronological = plan.options.protocol == config::Protocol::kChronological;
  const bool several = std::any_of(plan.catalogue.begin(), plan.catalogue.end(), [](const CatalogueEntry& entry) {
    return entry.type == RawSequence::kSeveralTypes;
  });
  const bool by_type = plan.options.partition == config::Partition::kHeterogeneous && !several;
  for (Split role : {kTrain, kValidation, kTest}) {
    Entries pool;
    for (std::uint32_t i = 0; i < plan.catalogue.size(); ++i)
      if (chronological || plan.sources[plan.catalogue[i].source].role == role) pool.push_back(i);
    deal_pool(plan, pool, by_type, role == kTest ? Purpose::kDealTest : Purpose::kDealTrain);
    if (chronological) break;
  }
  for (Entries& held : plan.holdings) std::sort(held.begin(), held.end());
}

}  // namespace

bool Plan::shared() const {
  if (dealt() || one_file_a_client() || clients_of_files()) return false;
  std::set<int> seen;
  for (std::int64_t c = 0; c < clients(); ++c)
    for (const int type : types_of(c))
      if (!seen.insert(type).second) return true;
  return false;
}

std::vector<int> Plan::types_of(std::int64_t client) const {
  const auto count = static_cast<std::int64_t>(kept_types.size());
  if (options.partition != config::Partition::kHeterogeneous || one_file_a_client() ||
      options.types_per_client >= count)
    return kept_types;
  std::vector<int> types;
  for (std::int64_t j = 0; j < options.types_per_client; ++j)
    types.push_back(kept_types[(client * options.types_per_client + j) % count]);
  return types;
}

std::optional<std::size_t> first_other_name(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (a[i] != b[i]) return i;
  return std::nullopt;
}

UnseenTypes unseen_types(const Plan& plan) {
  if (plan.one_file_a_client()) return {};  // a client sees all of its file
  std::vector<bool> seen(plan.type_events.size(), false);
  const auto period = static_cast<std::int64_t>(plan.kept_types.size());  // after so many clients the types repeat
  for (std::int64_t c = 0; c < std::min(plan.clients(), period); ++c)
    for (const int type : plan.types_of(c)) seen[type] = true;
  UnseenTypes unseen;
  for (std::size_t type = 0; type < seen.size(); ++type) {
    if (seen[type] || plan.type_events[type] == 0) continue;
    ++unseen.types;
    unseen.events += plan.type_events[type];
  }
  return unseen;
}

std::string to_text(const UnseenTypes& unseen) {
  if (unseen.types == 0) return "";
  return fmt::format(
      "types of events that no client sees: {}, with {} events (data.clients x data.types_per_client is below the "
      "number of types)",
      unseen.types, unseen.events);
}

Plan make_plan(const config::Data& options, double window, std::uint64_t seed) {
  check_options(options);
  if (!(window > 0 && std::isfinite(window)))
    throw UserError(fmt::format("model.window = {}: a positive length is needed", window));
  Plan plan;
  plan.options = options;
  plan.seed = seed;
  plan.origin = options.drop ? options.drop_before : 0.0;
  plan.sources = list_sources(options);
  const bool chronological = options.protocol == config::Protocol::kChronological;
  plan.clock.elapsed =
      options.clock == config::Clock::kElapsed || (options.clock == config::Clock::kAuto && chronological);
  plan.clock.window = window;
  if (plan.one_file_a_client()) return plan;

  std::unordered_map<std::string, std::int64_t> client_indices;
  std::optional<std::pair<FileMeaning, std::string>> dated;
  for (std::size_t s = 0; s < plan.sources.size(); ++s) {
    const std::string& path = plan.sources[s].path;
    const FileMeaning file = read_meaning(path);
    const std::vector<std::int64_t> clients = add_clients(plan, file.names, client_indices);
    add_types(plan, file.names, path);
    check_axis(options, file, path, dated);
    read_source(plan.sources[s], options, [&](RawSequence& raw) {
      if (plan.clients_of_files() && raw.client < 0)
        throw UserError(fmt::format(
            "{}: data.partition = \"file\", but the file does not say which client sequence {} belongs to: make it by "
            "'fedpp import' with --columns client=..., or choose another data.partition",
            path, raw.id));
      extend(plan.extents, raw, plan.sources[s].role, chronological);
      plan.type_events.resize(static_cast<std::size_t>(plan.extents.types), 0);
      for (const int type : raw.types) ++plan.type_events[type];
      CatalogueEntry entry;
      entry.source = static_cast<std::int32_t>(s);
      entry.position = raw.position;
      entry.events = static_cast<std::int64_t>(raw.times.size());
      entry.type = raw.only_type;
      if (raw.client >= 0) entry.client = clients.at(raw.client);
      plan.named_sequences = plan.named_sequences || !raw.name.empty();
      plan.catalogue.push_back(entry);
    });
  }
  require_clients(plan);
  require_sequences(plan);
  plan.kept_types = keep_types(plan.extents.types, options.leave_out_types);
  deal(plan);
  return plan;
}

LocalExtents local_extents(const Plan& plan, std::span<const std::int64_t> owned) {
  if (!plan.one_file_a_client()) return plan.extents;
  LocalExtents extents;
  for (std::int64_t client : owned)
    for (const Source& source : plan.sources)
      read_source(
          {config::expand_client(source.path, client), config::expand_client(source.windows, client), source.role},
          plan.options, [&](RawSequence& raw) {
            extend(extents, raw, source.role, plan.options.protocol == config::Protocol::kChronological);
          });
  return extents;
}

void finish_plan(Plan& plan, const LocalExtents& all) {
  plan.extents = all;
  plan.kept_types = keep_types(all.types, plan.options.leave_out_types);
  if (plan.kept_types.empty() && plan.options.drop)
    throw UserError(
        fmt::format("data.drop_before = {}: no event{} comes then or later: name an earlier time, in {} of the file",
                    plan.options.drop_before,
                    plan.options.leave_out_types.empty() ? "" : " of a type that data.leave_out_types leaves",
                    plan.options.time_unit));
  if (plan.kept_types.empty()) throw UserError("data.leave_out_types leaves no type of event: keep at least one");
  const double length = plan.clock.elapsed ? all.longest : all.end - all.start;
  if (!(length > 0))
    throw UserError(fmt::format(
        "{}{}: no time passes in the {} data ({} kept types): give sequences with events at different "
        "times, or a windows table (data.windows)",
        plan.sources.front().path, plan.sources.size() > 1 ? ", ..." : "",
        plan.options.protocol == config::Protocol::kChronological ? "whole" : "training", plan.kept_types.size()));
  if (!(length > kShortest && length < kLongest))
    throw UserError(fmt::format(
        "{}{}: the {} data last {:.3g} {}, {}: give the times in another unit, or leave out those that are "
        "no times",
        plan.sources.front().path, plan.sources.size() > 1 ? ", ..." : "",
        plan.options.protocol == config::Protocol::kChronological ? "whole" : "training", length,
        plan.options.time_unit, length < 1 ? "too short for rates to be numbers" : "too long for rates to be numbers"));
  plan.clock.origin = plan.clock.elapsed ? 0.0 : all.start;
  plan.clock.scale = plan.clock.window / length;
  plan.window = {all.start, all.end};
  plan.finished = true;
}

}  // namespace fedpp::data
