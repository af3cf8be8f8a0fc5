// Dates of the calendar in configuration files and tables, and the units of time that they can be counted in.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace fedpp::config {

/// A point in time as ISO 8601 writes it.
struct Date {
  std::chrono::sys_seconds second;  ///< in UTC where `offset`, else by the clock of whoever wrote it
  int nanoseconds = 0;              ///< after it, below 10^9
  bool offset = false;              ///< it ended in Z or in a distance from UTC
};

/// "2019-03-01", with a time "2019-03-01T06:30" or "2019-03-01 06:30:00", its seconds with at most nine decimals
/// "06:30:00.25", and then a distance from UTC: "Z", "+01:00", "+0100" or "+01". Nothing where it is anything else, a
/// day or time that does not exist, or outside the years 1 to 9999.
std::optional<Date> parse_date(std::string_view text);

/// As 2019-03-01, or with a time that is not midnight 2019-03-01T06:30:00; "" outside the years 1 to 9999.
std::string to_text(std::chrono::sys_seconds second);
/// Always with the time.
std::string to_text_with_time(std::chrono::sys_seconds second);

/// The units of time that dates can be counted in, for messages: "s, min, hour, day, week".
inline constexpr std::string_view kTimeUnits = "s, min, hour, day, week";

/// Seconds that one of them lasts; nothing for any other.
std::optional<int> seconds_of(std::string_view unit);

/// The date of a time counted in a unit of these from an origin that parse_date knows, as 2019-03-01T06:30:00, rounded
/// down; "" outside the years 1 to 9999, and where origin or unit is another.
std::string date_at(std::string_view origin, std::string_view unit, double time);

/// The other way around: the time of a date by the origin's clock, in the unit; nothing where origin or unit is another.
std::optional<double> time_of(const Date& date, std::string_view origin, std::string_view unit);

}  // namespace fedpp::config
