#include "data/seen_types.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fedpp::data {

std::vector<int> keep_types(std::int64_t types, const std::vector<std::int64_t>& left_out) {
  std::vector<bool> is_left_out(static_cast<std::size_t>(types), false);
  for (const std::int64_t type : left_out)
    if (type >= 0 && type < types) is_left_out[static_cast<std::size_t>(type)] = true;
  std::vector<int> kept;
  for (int type = 0; type < types; ++type)
    if (!is_left_out[static_cast<std::size_t>(type)]) kept.push_back(type);
  return kept;
}

bool Plan::shared() const {
  if (dealt() || one_file_a_client() || clients_of_files()) return false;
  const auto count = static_cast<std::int64_t>(kept_types.size());
  return clients() > 1 && count > 0 && (sees_all() || clients() * options.types_per_client > count);
}

bool Plan::sees_all() const {
  return options.partition != config::Partition::kHeterogeneous || one_file_a_client() ||
         options.types_per_client >= static_cast<std::int64_t>(kept_types.size());
}

std::int64_t Plan::place_of(int type) const {
  const auto at = std::lower_bound(kept_types.begin(), kept_types.end(), type);
  return at != kept_types.end() && *at == type ? at - kept_types.begin() : -1;
}

bool Plan::sees(std::int64_t client, std::int64_t place) const {
  if (place < 0 || sees_all()) return place >= 0;
  const auto count = static_cast<std::int64_t>(kept_types.size());
  const std::int64_t first = client * options.types_per_client % count;
  return (place - first + count) % count < options.types_per_client;
}

std::vector<int> Plan::types_of(std::int64_t client) const {
  if (sees_all()) return kept_types;
  const auto count = static_cast<std::int64_t>(kept_types.size());
  std::vector<int> types;
  for (std::int64_t j = 0; j < options.types_per_client; ++j)
    types.push_back(kept_types[(client * options.types_per_client + j) % count]);
  return types;
}

UnseenTypes unseen_types(const Plan& plan) {
  if (plan.one_file_a_client()) return {};  // a client sees all of its file
  // Clients see the kept types in turn: together so many of the first.
  const auto kept = static_cast<std::int64_t>(plan.kept_types.size());
  const auto seen_places = plan.sees_all() ? kept : std::min(kept, plan.clients() * plan.options.types_per_client);
  std::vector<bool> seen(plan.type_events.size(), false);
  for (std::int64_t place = 0; place < seen_places; ++place) seen[plan.kept_types[place]] = true;
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

}  // namespace fedpp::data
