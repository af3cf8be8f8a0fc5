// Clients one by one, those left out whose predictions fail (model::PredictionError): one client's weights end nobody's
// run.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "federation/progress.hpp"
#include "federation/session.hpp"

namespace fedpp::federation {

enum class Unpredictable {
  kLeftOut,
  kRefused,  ///< named by the user
};

/// Collective. predict(c) for each of the clients that this rank owns, a step of the progress each. Returns those that
/// are left out, of all ranks, ascending. \throws UserError for one that is refused
std::vector<std::int64_t> for_predictable(Session& session, const std::vector<std::int64_t>& clients,
                                          Unpredictable unpredictable, Progress& progress,
                                          const std::function<void(std::int64_t)>& predict);

}  // namespace fedpp::federation
