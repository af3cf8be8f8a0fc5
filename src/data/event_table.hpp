// Tables as other programs export them - columns of their own names, dates, words, rows in any order - as the sequences
// that training reads: numbers, and times from an origin.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "io/event_reader.hpp"
#include "io/sequence_file.hpp"

namespace fedpp::data {

/// The headers of the columns that say something of an event, in any case. Type and client that are not named are the
/// columns "type" and "client" where the first file has them; all files must have the same.
struct EventColumns {
  std::string sequence = "sequence", time = "time";
  std::optional<std::string> type, client;
};

/// What the times of a table mean.
struct TimeAxis {
  std::string unit;                                ///< of the result; where times are dates one of config::kTimeUnits
  std::optional<std::chrono::sys_seconds> origin;  ///< date of time 0; none: the midnight before the first date
  std::string unix_unit;  ///< numbers are Unix time in this unit (unix_time.hpp), which is dates; "": they are numbers
  std::string like;       ///< the file whose axis this is, for messages; "": no file's
};

/// The sequences of a table in the order in which they are first met.
struct EventTable {
  std::vector<io::SequenceRecord> sequences;
  std::vector<std::size_t> files;  ///< [sequences] in which of the files each is first met, at its `first_line`; the
                                   ///< number of files: in the table of windows
  std::vector<std::vector<io::Window>> windows;  ///< [sequences]; empty where there is no table of windows
  io::SequenceNames names;
};

/// Reads CSV tables (plain or gzip), all events into memory. Columns that are not named are passed over. The events of a
/// sequence are sorted by time, those at equal times as the rows come.
///
/// - Times are all numbers, or all dates as config::parse_date knows them, or all Unix time. All dates have a distance from UTC or none.
/// - Types (to io::kLargestType) and sequences that are whole numbers throughout stay these numbers. Else they are
///   words, numbered from 0 as they are first met, so that rows appended later change no number.
/// - Clients are numbered from 0 in the order of their names (whole numbers: of their values). With clients a sequence
///   is what has the same client and sequence name, and is numbered as first met.
///
/// \param windows table of when sequences were observed, with columns `start` and `end` beside those of the sequence and
///   the client, called as in the files, rows in any order; "": none. Sequences that it alone names have no events.
/// \param known_types words whose numbers are given, from 0: those of a table that this one goes with
/// \throws UserError with file, line, value and remedy
EventTable read_event_table(const std::vector<std::string>& files, const EventColumns& columns, const TimeAxis& axis,
                            const std::string& windows = "", const std::vector<std::string>& known_types = {});

}  // namespace fedpp::data
