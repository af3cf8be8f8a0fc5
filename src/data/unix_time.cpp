#include "data/unix_time.hpp"

#include <fmt/format.h>

#include "config/date.hpp"

namespace fedpp::data {
namespace {

struct Unit {
  std::string_view name;
  double ticks;  ///< in a second
};
constexpr Unit kUnits[] = {{"s", 1}, {"ms", 1e3}, {"us", 1e6}, {"ns", 1e9}};

constexpr double kYear1990 = 631152000, kYear2100 = 4102444800;  // s

}  // namespace

std::optional<double> ticks_per_second(std::string_view unix_unit) {
  for (const Unit& unit : kUnits)
    if (unit.name == unix_unit) return unit.ticks;
  return std::nullopt;
}

std::string doubt_about_numbers(double first, double last) {
  for (const Unit& unit : kUnits) {
    const double from = first / unit.ticks, to = last / unit.ticks;
    if (!(kYear1990 <= from && from <= to && to < kYear2100)) continue;
    return fmt::format(
        "every time looks like Unix time in {0}, {1} to {2}, and is taken as a plain number: 'fedpp import' with "
        "--unix-time {0} --time-unit hour counts hours from a date instead",
        unit.name, config::date_at("1970-01-01", "s", from), config::date_at("1970-01-01", "s", to));
  }
  return "";
}

}  // namespace fedpp::data
