// The text formats behind read_sequences, one function each. Not for other layers: they call event_reader.hpp.
#pragma once

#include "io/event_reader.hpp"
#include "io/line_reader.hpp"

namespace fedpp::io {

void read_csv_sequences(LineReader& reader, const SequenceCallback& callback, std::int64_t max_sequences);

/// One object a line.
void read_json_lines(LineReader& reader, const SequenceCallback& callback, std::int64_t max_sequences);

/// An array of objects, or one object a line, by the first character.
void read_json(LineReader& reader, const SequenceCallback& callback, std::int64_t max_sequences);

std::vector<SequenceWindows> read_csv_windows(LineReader& reader);

}  // namespace fedpp::io
