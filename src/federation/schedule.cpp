#include "federation/schedule.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "config/error.hpp"

namespace fedpp::federation {

double learning_rate_factor(std::string_view schedule, std::int64_t round, std::int64_t rounds) {
  if (schedule == "constant") return 1.0;
  if (schedule == "cosine") {
    return 0.5 * (1 + std::cos(std::numbers::pi * static_cast<double>(round) / static_cast<double>(rounds)));
  }
  if (schedule == "inverse-sqrt") return 1 / std::sqrt(1.0 + static_cast<double>(round));
  throw UserError(fmt::format("training.schedule = '{}': choose constant, cosine or inverse-sqrt", schedule));
}

bool EarlyStopping::enter(std::int64_t round, double score) {
  if (std::isfinite(score) && score > best_score) {
    best_round = round;
    best_score = score;
    validations_since_best = 0;
    return true;
  }
  ++validations_since_best;
  return false;
}

}  // namespace fedpp::federation
