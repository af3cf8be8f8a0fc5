// Numbers in tables for a terminal.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>

namespace fedpp::evaluation {

/// x in the given format ("{:.4f}"), "-" where there is none (NaN).
inline std::string number_text(double x, const char* format) {
  return std::isnan(x) ? "-" : fmt::format(fmt::runtime(format), x);
}

}  // namespace fedpp::evaluation
