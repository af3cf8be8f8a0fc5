#include "federation/round_history.hpp"

#include <utility>

namespace fedpp::federation {

RoundHistory::RoundHistory(std::string text) : text_(std::move(text)) {
  (void)entries().get_ref<const nlohmann::json::array_t&>();
}

void RoundHistory::append(const nlohmann::json& round) {
  text_.pop_back();
  if (text_.size() > 1) text_ += ',';
  text_ += round.dump() + ']';
}

}  // namespace fedpp::federation
