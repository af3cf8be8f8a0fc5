#include "config/date.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace fedpp::config {
namespace {

namespace chrono = std::chrono;

constexpr int kFirstYear = 1, kLastYear = 9999;  // of the calendars that draw the dates

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes a date apart from its front.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// Exactly so many digits, at most `largest`; -1 where that is not what comes.
  int number(std::size_t digits, int largest) {
    if (rest_.size() < digits) return -1;
    int value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      if (!is_digit(rest_[i])) return -1;
      value = 10 * value + (rest_[i] - '0');
    }
    rest_.remove_prefix(digits);
    return value <= largest ? value : -1;
  }
  /// Decimals of a second as nanoseconds: one to nine digits.
  int nanoseconds() {
    int value = 0, digits = 0;
    for (; digits < 9 && !rest_.empty() && is_digit(rest_.front()); ++digits) {
      value = 10 * value + (rest_.front() - '0');
      rest_.remove_prefix(1);
    }
    if (digits == 0) return -1;
    for (; digits < 9; ++digits) value *= 10;
    return value;
  }

 private:
  std::string_view rest_;
};

bool in_calendar(chrono::sys_seconds second) {
  const int year = static_cast<int>(chrono::year_month_day(chrono::floor<chrono::days>(second)).year());
  return kFirstYear <= year && year <= kLastYear;
}

}  // namespace

std::optional<Date> parse_date(std::string_view text) {
  Cursor cursor(text);
  const int year = cursor.number(4, kLastYear);
  if (!cursor.take('-')) return std::nullopt;
  const int month = cursor.number(2, 12);
  if (!cursor.take('-')) return std::nullopt;
  const int day = cursor.number(2, 31);
  if (year < kFirstYear || month < 0 || day < 0) return std::nullopt;
  const chrono::year_month_day calendar{chrono::year(year), chrono::month(static_cast<unsigned>(month)),
                                        chrono::day(static_cast<unsigned>(day))};
  if (!calendar.ok()) return std::nullopt;
  Date date;
  date.second = chrono::sys_days(calendar);
  if (cursor.at_end()) return date;

  if (!cursor.take('T') && !cursor.take(' ')) return std::nullopt;
  const int hour = cursor.number(2, 23);
  if (!cursor.take(':')) return std::nullopt;
  const int minute = cursor.number(2, 59);
  const int second = cursor.take(':') ? cursor.number(2, 59) : 0;
  if (second >= 0 && cursor.take('.')) date.nanoseconds = cursor.nanoseconds();
  if (hour < 0 || minute < 0 || second < 0 || date.nanoseconds < 0) return std::nullopt;
  date.second += chrono::hours(hour) + chrono::minutes(minute) + chrono::seconds(second);
  if (cursor.at_end()) return date;

  date.offset = true;
  if (cursor.take('Z')) return cursor.at_end() ? std::optional(date) : std::nullopt;
  const bool ahead = cursor.take('+');
  if (!ahead && !cursor.take('-')) return std::nullopt;
  const int hours = cursor.number(2, 23);
  const int minutes = cursor.take(':') || !cursor.at_end() ? cursor.number(2, 59) : 0;
  if (hours < 0 || minutes < 0 || !cursor.at_end()) return std::nullopt;
  const chrono::minutes distance = chrono::hours(hours) + chrono::minutes(minutes);
  date.second -= ahead ? distance : -distance;
  return in_calendar(date.second) ? std::optional(date) : std::nullopt;
}

std::string to_text(chrono::sys_seconds second) {
  if (second != chrono::floor<chrono::days>(second)) return to_text_with_time(second);
  return to_text_with_time(second).substr(0, std::string_view("2019-03-01").size());
}

std::string to_text_with_time(chrono::sys_seconds second) {
  if (!in_calendar(second)) return "";
  const auto midnight = chrono::floor<chrono::days>(second);
  const chrono::year_month_day day{midnight};
  const chrono::hh_mm_ss time(second - midnight);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(day.year()),
                     static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()), time.hours().count(),
                     time.minutes().count(), time.seconds().count());
}

std::optional<int> seconds_of(std::string_view unit) {
  struct Unit {
    std::string_view name;
    int seconds;
  };
  constexpr Unit kUnits[] = {{"s", 1}, {"min", 60}, {"hour", 3600}, {"day", 86400}, {"week", 604800}};
  for (const Unit& known : kUnits)
    if (known.name == unit) return known.seconds;
  return std::nullopt;
}

std::string date_at(std::string_view origin, std::string_view unit, double time) {
  const auto zero = parse_date(origin);
  const auto seconds = seconds_of(unit);
  if (!zero || !seconds) return "";
  double since = time * *seconds;
  // A whole second as a number of days is rounded: what is as good as one is one.
  const double nearest = std::round(since);
  if (*seconds != 1 && std::abs(since - nearest) <= 8 * std::numeric_limits<double>::epsilon() * std::abs(since))
    since = nearest;
  constexpr double kTenThousandYears = 86400.0 * 366 * 10000;
  if (!(std::abs(since) < kTenThousandYears)) return "";
  return to_text_with_time(zero->second + chrono::seconds(static_cast<std::int64_t>(std::floor(since))));
}

std::optional<double> time_of(const Date& date, std::string_view origin, std::string_view unit) {
  const auto zero = parse_date(origin);
  const auto seconds = seconds_of(unit);
  if (!zero || !seconds) return std::nullopt;
  const auto since = static_cast<double>((date.second - zero->second).count());
  return (since + 1e-9 * date.nanoseconds) / *seconds;
}

}  // namespace fedpp::config
