// fedpp import --columns: tables with headers, dates and words of their own (data/event_table.hpp).
#pragma once

#include <string>
#include <vector>

#include "data/event_table.hpp"

namespace fedpp::commands {

/// The columns that "sequence=patient" and so on name. Throws UserError with the text and what is possible.
data::EventColumns parse_columns(const std::vector<std::string>& texts);

/// Reads the tables, writes `out` and prints what it holds and the lines of a configuration that trains on it.
void import_table(const std::vector<std::string>& files, const data::EventColumns& columns, const data::TimeAxis& axis,
                  const std::string& windows, const std::string& out);

}  // namespace fedpp::commands
