// Fields of a table as words and as times.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "io/csv_table.hpp"

namespace fedpp::data {

/// A field that must not be empty, as text.
std::string_view word_of(const io::CsvTable& table, std::size_t column, const std::string& header);

/// A time as the table has it: of a date the seconds since 1970 and their fraction, else no seconds and the number.
struct Moment {
  std::int64_t seconds = 0;
  double rest = 0;
};

/// Reads times that are all numbers or all dates: the first one decides.
class TimeReader {
 public:
  /// `unix_unit`: numbers are dates, Unix time in this unit (unix_time.hpp); "": they are numbers.
  explicit TimeReader(const std::string& unix_unit = "") : unix_unit_(unix_unit) {}

  Moment read(const io::CsvTable& table, std::size_t column, const std::string& header);

  bool dates() const { return dates_.value_or(false); }
  /// The midnight before the earliest date that was read.
  std::chrono::sys_seconds first_midnight() const { return std::chrono::floor<std::chrono::days>(first_); }

 private:
  Moment read_unix(const io::CsvTable& table, const std::string& header, std::string_view text);

  std::string unix_unit_;
  std::optional<bool> dates_;
  bool offsets_ = false;
  std::chrono::sys_seconds first_ = std::chrono::sys_seconds::max();
};

}  // namespace fedpp::data
