#include "io/csv_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace fedpp::io {

namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  text = text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  return text;
}

/// Header names in any case: 'Time' is time.
std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

/// The separator that the header tells: a comma, or where it has none, a semicolon or a tab.
char separator_of(std::string_view header) {
  for (const char c : {',', ';', '\t'})
    if (header.find(c) != std::string_view::npos) return c;
  return ',';
}

/// A field for a message, cut to a length that can be read.
std::string shown(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  return text.size() <= kLongest ? fmt::format("'{}'", text) : fmt::format("'{}...'", text.substr(0, kLongest));
}

/// from_chars knows no leading plus.
std::string_view without_plus(std::string_view text) {
  return text.size() > 1 && text[0] == '+' && text[1] != '-' ? text.substr(1) : text;
}

}  // namespace

CsvTable::CsvTable(LineReader& reader, std::vector<std::string> required, std::vector<std::string> optional)
    : reader_(reader), names_(std::move(required)) {
  const std::size_t required_count = names_.size();
  names_.insert(names_.end(), optional.begin(), optional.end());
  position_.assign(names_.size(), -1);

  const std::string expected =
      fmt::format("{}{}{}", fmt::join(names_.begin(), names_.begin() + required_count, ","),
                  optional.empty() ? "" : "[,", optional.empty() ? "" : fmt::format("{}]", fmt::join(optional, ",")));
  std::string_view line;
  do {
    if (!reader_.next(line))
      throw Error(fmt::format("{}: the file is empty; expected a header line {}", reader_.path(), expected));
  } while (trimmed(line).empty());
  separator_ = separator_of(line);
  split(line);
  columns_ = fields_.size();
  for (std::size_t i = 0; i < columns_; ++i) {
    const auto known = std::find(names_.begin(), names_.end(), lower(fields_[i]));
    if (known == names_.end()) {
      unknown_.emplace_back(fields_[i]);
      continue;
    }
    int& position = position_[static_cast<std::size_t>(known - names_.begin())];
    if (position >= 0) throw reader_.error(fmt::format("column '{}' comes twice in the header", *known));
    position = static_cast<int>(i);
  }
  for (std::size_t k = 0; k < required_count; ++k)
    if (position_[k] < 0)
      throw reader_.error(
          fmt::format("column '{}' is missing: the header is {}; expected {}", names_[k], shown(line), expected));
}

void CsvTable::split(std::string_view line) {
  fields_.clear();
  while (true) {
    const std::size_t end = line.find(separator_);
    fields_.push_back(trimmed(line.substr(0, end)));
    if (end == std::string_view::npos) return;
    line.remove_prefix(end + 1);
  }
}

bool CsvTable::next() {
  std::string_view line;
  do {
    if (!reader_.next(line)) return false;
  } while (trimmed(line).empty());
  split(line);
  if (fields_.size() != columns_)
    throw reader_.error(fmt::format("{} has {} field{}; the header has {}", shown(line), fields_.size(),
                                    fields_.size() == 1 ? "" : "s", columns_));
  return true;
}

double CsvTable::number(std::size_t column) const {
  const std::string_view field = text(column), digits = without_plus(field);
  double value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code == std::errc::result_out_of_range)
    throw reader_.error(fmt::format("{} {} is outside the range of double precision; choose another unit",
                                    names_[column], shown(field)));
  if (code != std::errc() || end != digits.data() + digits.size())
    throw reader_.error(
        fmt::format("{} {} is not a number; write it like 12.5 or 1.25e1{}", names_[column], shown(field),
                    field.find(',') == std::string_view::npos ? "" : ", with a point for the decimals"));
  return value;
}

std::int64_t CsvTable::integer(std::size_t column) const {
  const std::string_view field = text(column), digits = without_plus(field);
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code == std::errc::result_out_of_range)
    throw reader_.error(
        fmt::format("{} {} is too large for a 64-bit integer; number from 0", names_[column], shown(field)));
  if (code != std::errc() || end != digits.data() + digits.size())
    throw reader_.error(
        fmt::format("{} {} is not an integer; write a whole number like 3", names_[column], shown(field)));
  return value;
}

}  // namespace fedpp::io
