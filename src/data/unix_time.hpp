// Unix time: dates as numbers counted from 1970-01-01 in UTC, as databases and programs write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fedpp::data {

/// The units that it is counted in, for messages: "s, ms, us, ns".
inline constexpr std::string_view kUnixUnits = "s, ms, us, ns";

/// How many of them a second has; nothing for any other.
std::optional<std::int64_t> ticks_per_second(std::string_view unix_unit);

/// "" or what to say of times from `first` to `last` that were read as plain numbers, but in one of the units are all of
/// the years 1990 to 2099.
std::string doubt_about_numbers(double first, double last);

}  // namespace fedpp::data
