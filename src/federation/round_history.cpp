#include "federation/round_history.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "io/parse_json.hpp"

namespace fedpp::federation {

RoundHistory::RoundHistory(const std::string& text) {
  const auto rounds = io::parse_json(text);
  const auto is_list = [](const nlohmann::json& round, const char* name) {
    return round.contains(name) && round[name].is_array();
  };
  const bool whole = rounds.is_array() && std::ranges::all_of(rounds, [&](const nlohmann::json& round) {
                       return is_list(round, "participants") && is_list(round, "left_out");
                     });
  if (!whole) throw std::invalid_argument("a list of rounds with their 'participants' and 'left_out' was expected");
  text_ = rounds.dump();
}

void RoundHistory::append(const nlohmann::json& round) {
  const std::string entry = round.dump();
  text_.pop_back();
  if (text_.size() > 1) text_ += ',';
  text_ += entry + ']';
}

nlohmann::json RoundHistory::entries() const { return nlohmann::json::parse(text_); }

}  // namespace fedpp::federation
