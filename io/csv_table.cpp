#include "io/csv_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "io/shown.hpp"

namespace fedpp::io {

namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

/// Header names in any case: 'Time' is time.
std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

/// The separator that the header tells outside of quotes: a comma, or where it has none, a semicolon or a tab.
char separator_of(std::string_view header) {
  std::string plain;
  bool quoted = false;
  for (const char c : header) {
    if (c == '"') quoted = !quoted;
    if (!quoted) plain += c;
  }
  for (const char c : {',', ';', '\t'})
    if (plain.find(c) != std::string::npos) return c;
  return ',';
}

/// from_chars knows no leading plus.
std::string_view without_plus(std::string_view text) {
  return text.size() > 1 && text[0] == '+' && text[1] != '-' ? text.substr(1) : text;
}

}  // namespace

CsvTable::CsvTable(LineReader& reader, std::vector<std::string> required, std::vector<std::string> optional,
                   std::string remedy)
    : reader_(reader), names_(std::move(required)), remedy_(std::move(remedy)) {
  const std::size_t required_count = names_.size();
  names_.insert(names_.end(), optional.begin(), optional.end());
  position_.assign(names_.size(), -1);

  const std::string expected =
      fmt::format("{}{}{}", fmt::join(names_.begin(), names_.begin() + required_count, ","),
                  optional.empty() ? "" : "[,", optional.empty() ? "" : fmt::format("{}]", fmt::join(optional, ",")));
  if (!next_record())
    throw Error(fmt::format("{}: the file is empty; expected a header line {}", reader_.path(), expected));
  columns_ = fields_.size();
  for (std::size_t i = 0; i < columns_; ++i) {
    const auto known = std::find_if(names_.begin(), names_.end(), [&, name = lower(fields_[i])](const auto& wanted) {
      return lower(wanted) == name;
    });
    if (known == names_.end()) {
      unknown_.emplace_back(fields_[i]);
      continue;
    }
    int& position = position_[static_cast<std::size_t>(known - names_.begin())];
    if (position >= 0) throw error(fmt::format("column '{}' comes twice in the header", *known));
    position = static_cast<int>(i);
  }
  for (std::size_t k = 0; k < required_count; ++k)
    if (position_[k] < 0)
      throw error(fmt::format("column '{}' is missing: the header is {}; expected {}{}", names_[k],
                              shown(fmt::format("{}", fmt::join(fields_, std::string(1, separator_)))), expected,
                              remedy_));
}

RowError CsvTable::error(const std::string& what) const {
  return RowError(fmt::format("{}:{}: {}", reader_.path(), line_number_, what));
}

bool CsvTable::next_record() {
  std::string_view line;
  do {
    if (!reader_.next(line)) return false;
  } while (trimmed(line).empty());
  line_number_ = reader_.line_number();
  if (columns_ == 0) separator_ = separator_of(line);
  if (line.find('"') == std::string_view::npos)
    split(line);
  else
    split_quoted(line);
  return true;
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

void CsvTable::split_quoted(std::string_view line) {
  std::vector<std::size_t> ends;  // of the fields, in content_, which may move while it grows
  content_.clear();
  const auto skip_blanks = [&] {
    while (!line.empty() && line.front() != separator_ && (line.front() == ' ' || line.front() == '\t'))
      line.remove_prefix(1);
  };
  for (bool last = false; !last;) {
    skip_blanks();
    if (line.starts_with('"')) {
      line.remove_prefix(1);
      while (true) {
        const std::size_t quote = line.find('"');
        content_ += line.substr(0, quote);
        if (quote == std::string_view::npos) {
          content_ += '\n';
          if (!reader_.next(line)) throw error("a quoted field begins here and does not end; close it by \"");
          continue;
        }
        line.remove_prefix(quote + 1);
        if (!line.starts_with('"')) break;
        content_ += '"';
        line.remove_prefix(1);
      }
      skip_blanks();
      if (!line.empty() && line.front() != separator_)
        throw error(
            fmt::format("{} follows the end of a quoted field; write a quote inside of quotes twice", shown(line)));
    } else {
      content_ += trimmed(line.substr(0, line.find(separator_)));
    }
    ends.push_back(content_.size());
    const std::size_t separator = line.find(separator_);
    last = separator == std::string_view::npos;
    if (!last) line.remove_prefix(separator + 1);
  }
  fields_.clear();
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    fields_.push_back(std::string_view(content_).substr(begin, end - begin));
    begin = end;
  }
}

bool CsvTable::next() {
  if (!next_record()) return false;
  if (fields_.size() != columns_)
    throw error(fmt::format("{} has {} field{}; the header has {}",
                            shown(fmt::format("{}", fmt::join(fields_, std::string(1, separator_)))), fields_.size(),
                            fields_.size() == 1 ? "" : "s", columns_));
  return true;
}

double CsvTable::number(std::size_t column) const {
  const std::string_view field = text(column), digits = without_plus(field);
  double value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code == std::errc::result_out_of_range)
    throw error(fmt::format("{} {} is outside the range of double precision; choose another unit", names_[column],
                            shown(field)));
  if (code != std::errc() || end != digits.data() + digits.size())
    throw error(fmt::format("{} {} is not a number; write it like 12.5 or 1.25e1{}{}", names_[column], shown(field),
                            field.find(',') == std::string_view::npos ? "" : ", with a point for the decimals",
                            remedy_));
  return value;
}

std::int64_t CsvTable::integer(std::size_t column) const {
  const std::string_view field = text(column), digits = without_plus(field);
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code == std::errc::result_out_of_range)
    throw error(fmt::format("{} {} is too large for a 64-bit integer; number from 0", names_[column], shown(field)));
  if (code != std::errc() || end != digits.data() + digits.size())
    throw error(
        fmt::format("{} {} is not an integer; write a whole number like 3{}", names_[column], shown(field), remedy_));
  return value;
}

}  // namespace fedpp::io
