// A CSV table with a header whose columns come in any order: the rows' fields by column.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/faults.hpp"
#include "io/line_reader.hpp"

namespace fedpp::io {

/// Fields are separated by commas (where the header has none, by semicolons or tabs) and may have blanks around them.
/// One that begins with a double quote ends with the next and holds what lies between: separators, line ends, and
/// quotes written twice (RFC 4180). Blank lines are skipped. The header's names may be in any case.
class CsvTable {
 public:
  /// Reads the header. Throws where a required column is missing or a column that the caller knows comes twice.
  /// `remedy` ends the text about missing columns and about fields that are no numbers.
  CsvTable(LineReader& reader, std::vector<std::string> required, std::vector<std::string> optional = {},
           std::string remedy = "");

  /// The next row; false at the end. Throws where it has not as many fields as the header, or a quoted field does not
  /// end.
  bool next();
  /// The line on which the row begins.
  std::int64_t line_number() const { return line_number_; }
  /// An error that starts with the file and that line: "path:line: ".
  RowError error(const std::string& what) const;
  /// Columns are numbered as given to the constructor, required ones first.
  bool has(std::size_t column) const { return position_[column] >= 0; }
  std::string_view text(std::size_t column) const { return fields_[static_cast<std::size_t>(position_[column])]; }
  /// The field as a number; throws "path:line: ..." with the column, the value and the remedy.
  double number(std::size_t column) const;
  std::int64_t integer(std::size_t column) const;
  /// Columns of the file that the caller does not know.
  const std::vector<std::string>& unknown() const { return unknown_; }

 private:
  /// The fields of the next line that is not blank, and of the lines that a quoted field of it goes on over.
  bool next_record();
  void split(std::string_view line);
  void split_quoted(std::string_view line);
  LineReader& reader_;
  std::int64_t line_number_ = 0;
  std::vector<std::string> names_, unknown_;
  std::string remedy_;
  std::vector<int> position_;
  std::size_t columns_ = 0;
  char separator_ = ',';
  std::vector<std::string_view> fields_;  // of the reader's line, or of content_
  std::string content_;                   // of the fields of a record with quotes, one behind the other
};

}  // namespace fedpp::io
