#include "config/range.hpp"

#include <fmt/format.h>

#include <cmath>

namespace fedpp::config {

bool Range::contains(double x) const {
  if (!std::isfinite(x)) return false;
  return (low_excluded ? x > low : x >= low) && (high_excluded ? x < high : x <= high);
}

bool Range::bounded() const { return std::isfinite(low) || std::isfinite(high); }

std::string Range::text() const {
  const bool from = std::isfinite(low), to = std::isfinite(high);
  if (from && to) return fmt::format("in {}{}, {}{}", low_excluded ? '(' : '[', low, high, high_excluded ? ')' : ']');
  if (from) return fmt::format("{} {}", low_excluded ? "above" : "at least", low);
  if (to) return fmt::format("{} {}", high_excluded ? "below" : "at most", high);
  return "any number";
}

}  // namespace fedpp::config
