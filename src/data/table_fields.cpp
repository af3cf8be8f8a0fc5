#include "data/table_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "config/date.hpp"
#include "data/unix_time.hpp"
#include "io/number.hpp"
#include "io/shown.hpp"
#include "io/utf8.hpp"

namespace fedpp::data {
namespace {

std::optional<double> number_of(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  return io::number<double>(text);
}

}  // namespace

std::string_view word_of(const io::CsvTable& table, std::size_t column, const std::string& header) {
  const std::string_view text = table.text(column);
  if (text.empty()) throw table.error(fmt::format("column '{}' is empty; fill it in, or take the row out", header));
  if (!io::is_utf8(text))
    throw table.error(fmt::format("column '{}' is not UTF-8 text; save the table in this encoding", header));
  return text;
}

Moment TimeReader::read(const io::CsvTable& table, std::size_t column, const std::string& header) {
  const std::string_view text = word_of(table, column, header);
  if (!unix_unit_.empty()) return read_unix(table, header, text);
  const auto refuse = [&](const char* why) {
    throw table.error(fmt::format("{} {} {}", header, io::shown(text), why));
  };
  const auto date = config::parse_date(text);
  const auto number = date ? std::nullopt : number_of(text);
  if (!date && !number)
    refuse("is neither a number nor a date that exists; write it like 12.5, 2019-03-01 or 2019-03-01T06:30:00");
  if (number && !std::isfinite(*number)) refuse("is not finite; repair or take out the row");
  if (!dates_) {
    dates_ = date.has_value();
    offsets_ = date && date->offset;
  }
  if (*dates_ && number) refuse("is a number, but the times before are dates; write all of them alike");
  if (!*dates_ && date) refuse("is a date, but the times before are numbers; write all of them alike");
  if (number) return {0, *number};
  if (date->offset != offsets_)
    refuse(offsets_ ? "has no distance from UTC as the times before have (Z, +01:00); give it to all, or to none"
                    : "has a distance from UTC, and the times before have none; give it to all, or to none");
  first_ = std::min(first_, date->second);
  return {date->second.time_since_epoch().count(), 1e-9 * date->nanoseconds};
}

Moment TimeReader::read_unix(const io::CsvTable& table, const std::string& header, std::string_view text) {
  dates_ = true;
  const auto number = number_of(text);
  if (!number || !std::isfinite(*number))
    throw table.error(
        fmt::format("{} {} is no number, as Unix time is; repair or take out the row, or leave out --unix-time", header,
                    io::shown(text)));
  const std::int64_t ticks = *ticks_per_second(unix_unit_);
  const auto in_second = static_cast<double>(ticks);
  // A whole number is taken apart as such: of its 19 digits in ns a double keeps 16.
  const auto whole = io::whole_number(text);
  const std::int64_t whole_second = whole.value_or(0) / ticks;
  const double second = whole ? static_cast<double>(whole_second) : std::floor(*number / in_second);
  const double rest = whole ? static_cast<double>(*whole % ticks) : *number - second * in_second;
  if (config::date_at("1970-01-01", "s", second).empty())
    throw table.error(
        fmt::format("{} {} as Unix time in {} is outside the years 1 to 9999; name the unit that it counts, one of {}, "
                    "with --unix-time",
                    header, io::shown(text), unix_unit_, kUnixUnits));
  const auto seconds = static_cast<std::int64_t>(second);
  first_ = std::min(first_, std::chrono::sys_seconds(std::chrono::seconds(seconds)));
  return {seconds, rest / in_second};
}

}  // namespace fedpp::data
