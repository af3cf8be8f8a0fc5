// fedpp import --columns: tables with headers, dates and words of their own (data/event_table.hpp).
#pragma once

#include <string>
#include <vector>

#include "data/event_table.hpp"

namespace fedpp::commands {

/// The columns that "sequence=patient" and so on name. Throws UserError with the text and what is possible.
data::EventColumns parse_columns(const std::vector<std::string>& texts);

struct TableImport {
  std::vector<std::string> files;
  data::EventColumns columns;
  data::TimeAxis axis;
  std::string windows;                   ///< "": none
  std::vector<std::string> known_types;  ///< words whose numbers are given
  std::string out;
};

/// Reads the tables, writes `out` and prints what it holds and the lines of a configuration that trains on it.
void import_table(const TableImport& import);

}  // namespace fedpp::commands
