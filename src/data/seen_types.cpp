#include "data/seen_types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace fedpp::data {

std::vector<int> keep_types(std::int64_t types, const std::vector<std::int64_t>& left_out) {
  std::vector<int> kept;
  for (int type = 0; type < types; ++type)
    if (std::find(left_out.begin(), left_out.end(), type) == left_out.end()) kept.push_back(type);
  return kept;
}

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

}  // namespace fedpp::data
