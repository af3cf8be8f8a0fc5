#include "federation/schedule.hpp"

#include <cmath>
#include <numbers>

namespace fedpp::federation {

double learning_rate_factor(config::Schedule schedule, std::int64_t round, std::int64_t rounds) {
  switch (schedule) {
    case config::Schedule::kConstant:
      break;
    case config::Schedule::kCosine:
      return 0.5 * (1 + std::cos(std::numbers::pi * static_cast<double>(round) / static_cast<double>(rounds)));
    case config::Schedule::kInverseSqrt:
      return 1 / std::sqrt(1.0 + static_cast<double>(round));
  }
  return 1.0;
}

bool EarlyStopping::enter(std::int64_t round, double score, std::int64_t missing) {
  const bool better = best_round < 0 || missing < best_missing || (missing == best_missing && score > best_score);
  if (std::isfinite(score) && better) {
    best_round = round;
    best_score = score;
    best_missing = missing;
    validations_since_best = 0;
    return true;
  }
  ++validations_since_best;
  return false;
}

}  // namespace fedpp::federation
