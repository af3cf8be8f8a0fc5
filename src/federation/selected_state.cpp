#include "federation/selected_state.hpp"

#include <utility>

namespace fedpp::federation {

SelectedState::SelectedState(Session& session, const RunState& state, KeptState wanted)
    : session_(session),
      which_(state.stopping.best_round >= 0 ? wanted : KeptState::kLast),
      rounds_(which_ == KeptState::kBest ? state.stopping.best_round + 1 : state.next_round),
      theta_(which_ == KeptState::kBest ? state.best_theta : state.theta) {
  if (which_ == KeptState::kLast) return;
  for (const auto& client : session.owned()) others_.push_back(state.best_clients.at(client.data.id));
  exchange();
}

SelectedState::~SelectedState() { exchange(); }

void SelectedState::exchange() noexcept {
  for (std::size_t k = 0; k < others_.size(); ++k)
    std::swap(session_.owned()[k].model.state.weight_state(), others_[k]);
}

}  // namespace fedpp::federation
