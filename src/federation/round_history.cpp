#include "federation/round_history.hpp"

#include <nlohmann/json.hpp>

namespace fedpp::federation {

RoundHistory::RoundHistory(const std::string& text) {
  const auto rounds = nlohmann::json::parse(text);
  (void)rounds.get_ref<const nlohmann::json::array_t&>();
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
