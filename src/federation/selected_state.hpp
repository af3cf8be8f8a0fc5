// The state of a run that scores and predictions are of.
#pragma once

#include <cstdint>
#include <vector>

#include "federation/kept_state.hpp"
#include "federation/run_state.hpp"
#include "federation/session.hpp"

namespace fedpp::federation {

/// While it lives, the clients' weights are those of the best round, if that is wanted and one was validated, or else of
/// the last; afterwards those of the last again. Their latent functions stay: what is scored or predicted fits its own.
class SelectedState {
 public:
  SelectedState(Session& session, const RunState& state, KeptState wanted);
  ~SelectedState();
  SelectedState(const SelectedState&) = delete;
  SelectedState& operator=(const SelectedState&) = delete;

  KeptState which() const { return which_; }
  /// The rounds that it has behind it.
  std::int64_t rounds() const { return rounds_; }
  /// The one that belongs to it.
  const model::Priors& theta() const { return theta_; }

 private:
  void exchange() noexcept;

  Session& session_;
  KeptState which_;
  std::int64_t rounds_;
  const model::Priors& theta_;
  std::vector<model::WeightState> others_;  ///< of this rank's clients, where they are in the best round's
};

}  // namespace fedpp::federation
