// What the rounds of a run left for people, an entry for each (docs/results.md): the `rounds` of result.json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace fedpp::federation {

/// Grows with rounds and participants, and goes into every checkpoint: rank 0 alone keeps it (empty elsewhere), as the
/// text that a checkpoint holds, so that a round formats its own entry only.
class RoundHistory {
 public:
  RoundHistory() = default;
  /// Of a checkpoint. \throws std::invalid_argument where this is no array
  explicit RoundHistory(const std::string& text);

  void append(const nlohmann::json& round);
  /// A JSON array, as dump() writes it.
  const std::string& text() const { return text_; }
  nlohmann::json entries() const;

 private:
  std::string text_ = "[]";
};

}  // namespace fedpp::federation
