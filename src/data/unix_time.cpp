#include "data/unix_time.hpp"

#include <fmt/format.h>

#include "config/date.hpp"

namespace fedpp::data {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t ticks;  ///< in a second
};
constexpr Unit kUnits[] = {{"s", 1}, {"ms", 1'000}, {"us", 1'000'000}, {"ns", 1'000'000'000}};

constexpr double kYear1990 = 631152000, kYear2100 = 4102444800;  // s

}  // namespace

std::optional<std::int64_t> ticks_per_second(std::string_view unix_unit) {
  for (const Unit& unit : kUnits)
    if (unit.name == unix_unit) return unit.ticks;
  return std::nullopt;
}

std::string doubt_about_numbers(double first, double last) {
  for (const Unit& unit : kUnits) {
    const auto ticks = static_cast<double>(unit.ticks);
    const double from = first / ticks, to = last / ticks;
    if (!(kYear1990 <= from && from <= to && to < kYear2100)) continue;
    return fmt::format(
        "every time looks like Unix time in {0}, {1} to {2}, and is taken as a plain number: 'fedpp import' with "
        "--unix-time {0} --time-unit hour counts hours from a date instead",
        unit.name, config::date_at("1970-01-01", "s", from), config::date_at("1970-01-01", "s", to));
  }
  return "";
}

}  // namespace fedpp::data
