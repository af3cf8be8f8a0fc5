// JSON from files, which anybody may have written.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace fedpp::io {

/// Levels of JSON that are read. Ours has six; nlohmann's parser knows no limit, but copies and prints by recursion,
/// so that a hundred thousand brackets overflow the stack.
inline constexpr int kDeepestJson = 64;

/// A text's value; one that is_discarded() where it is no JSON, or goes deeper.
/// \tparam Json nlohmann::json or ordered_json
template <class Json = nlohmann::json>
Json parse_json(std::string_view text) {
  bool deep = false;
  const auto look = [&deep](int depth, typename Json::parse_event_t, const Json&) {
    deep = deep || depth > kDeepestJson;
    return !deep;
  };
  auto value = Json::parse(text.begin(), text.end(), look, /*allow_exceptions=*/false);
  return deep ? Json(Json::value_t::discarded) : value;
}

}  // namespace fedpp::io
