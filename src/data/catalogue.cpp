#include "data/catalogue.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "config/date.hpp"
#include "config/error.hpp"
#include "data/extents.hpp"
#include "data/source_reader.hpp"
#include "io/shown.hpp"

namespace fedpp::data {
namespace {

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
        "{}: type {} is {}, but {} in a data file before it: import its table again with --like and that file", path,
        *type, io::shown(names.types[*type]), io::shown(plan.type_names[*type])));
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

/// Of text or numbers, and of what came before.
template <class Items>
std::uint64_t hashed(const Items& items, std::uint64_t before) {
  return XXH3_64bits_withSeed(items.data(), items.size() * sizeof(*items.data()), before);
}

std::uint64_t hashed(const FileMeaning& file, std::uint64_t before) {
  for (const auto& names : {file.names.clients, file.names.types})
    for (const std::string& name : names) before = hashed(name, before);
  return hashed(file.time_unit, hashed(file.names.time_origin, before));
}

std::uint64_t hashed(const RawSequence& raw, std::uint64_t before) {
  const std::array own{raw.client};
  return hashed(raw.name, hashed(own, hashed(raw.windows, hashed(raw.types, hashed(raw.times, before)))));
}

}  // namespace

std::optional<std::size_t> first_other_name(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (a[i] != b[i]) return i;
  return std::nullopt;
}

void read_catalogue(Plan& plan) {
  const bool chronological = plan.options.protocol == config::Protocol::kChronological;
  std::unordered_map<std::string, std::int64_t> client_indices;
  std::optional<std::pair<FileMeaning, std::string>> dated;
  for (std::size_t s = 0; s < plan.sources.size(); ++s) {
    const std::string& path = plan.sources[s].path;
    const FileMeaning file = read_meaning(path);
    const std::vector<std::int64_t> clients = add_clients(plan, file.names, client_indices);
    add_types(plan, file.names, path);
    check_axis(plan.options, file, path, dated);
    plan.content = hashed(file, plan.content);
    read_source(plan.sources[s], plan.options, [&](RawSequence& raw) {
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
      plan.content = hashed(raw, plan.content);
      plan.named_sequences = plan.named_sequences || !raw.name.empty();
      plan.catalogue.push_back(entry);
    });
  }
}

}  // namespace fedpp::data
