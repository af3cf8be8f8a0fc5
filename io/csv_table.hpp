// A CSV table with a header whose columns come in any order: the rows' fields by column.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/line_reader.hpp"

namespace fedpp::io {

/// Fields are separated by commas (where the header has none, by semicolons or tabs), may have blanks around them and
/// plain double quotes; blank lines are skipped. The header's names may be in any case.
class CsvTable {
 public:
  /// Reads the header. Throws where a required column is missing, or a column that the caller knows comes twice.
  CsvTable(LineReader& reader, std::vector<std::string> required, std::vector<std::string> optional = {});

  /// The next row; false at the end. Throws where it has not as many fields as the header.
  bool next();
  /// Columns are numbered as given to the constructor, required ones first.
  bool has(std::size_t column) const { return position_[column] >= 0; }
  std::string_view text(std::size_t column) const { return fields_[static_cast<std::size_t>(position_[column])]; }
  /// The field as a number; throws "path:line: ..." with the column, the value and the remedy.
  double number(std::size_t column) const;
  std::int64_t integer(std::size_t column) const;
  /// Columns of the file that the caller does not know.
  const std::vector<std::string>& unknown() const { return unknown_; }

 private:
  void split(std::string_view line);
  LineReader& reader_;
  std::vector<std::string> names_, unknown_;
  std::vector<int> position_;
  std::size_t columns_ = 0;
  char separator_ = ',';
  std::vector<std::string_view> fields_;
};

}  // namespace fedpp::io
