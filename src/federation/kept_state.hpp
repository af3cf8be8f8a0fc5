// Which state of a trained run a command takes, and the words for it: --state, "state" in results.
#pragma once

#include "config/words.hpp"

namespace fedpp::federation {

/// Of the round with the best validation score (the last one where none was validated), or of the last round.
enum class KeptState { kBest, kLast };

}  // namespace fedpp::federation

namespace fedpp::config {

template <>
inline constexpr auto kWords<federation::KeptState> = words("best", "last");

}  // namespace fedpp::config
