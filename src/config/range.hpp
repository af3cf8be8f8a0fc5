// The numbers that a key allows.
#pragma once

#include <limits>
#include <string>

namespace fedpp::config {

/// An interval of the real line; infinite ends are left out of its text.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_excluded = false;
  bool high_excluded = false;

  /// False for NaN, for infinities, and outside.
  bool contains(double x) const;
  /// Whether it leaves out any finite number.
  bool bounded() const;
  /// "at least 1", "above 0", "in (0, 1]", "any number".
  std::string text() const;
};

constexpr Range at_least(double low) { return {.low = low}; }
constexpr Range above(double low) { return {.low = low, .low_excluded = true}; }
constexpr Range between(double low, double high) { return {.low = low, .high = high}; }  // [ ]
constexpr Range above_up_to(double low, double high) {
  return {.low = low, .high = high, .low_excluded = true};
}  // ( ]
constexpr Range from_below(double low, double high) {
  return {.low = low, .high = high, .high_excluded = true};
}  // [ )
constexpr Range inside(double low, double high) {
  return {.low = low, .high = high, .low_excluded = true, .high_excluded = true};
}  // ( )

}  // namespace fedpp::config
