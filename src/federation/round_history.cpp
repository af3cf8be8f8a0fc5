#include "federation/round_history.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "io/parse_json.hpp"

namespace fedpp::federation {

RoundHistory::RoundHistory(const std::string& text) {
  const auto rounds = io::parse_json(text);
  if (!rounds.is_array()) throw std::invalid_argument("a list was expected");
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
