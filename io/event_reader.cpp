#include "io/event_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <string_view>

#include "io/event_formats.hpp"
#include "io/sequence_file.hpp"
#include "io/suffix.hpp"

namespace fedpp::io {

namespace {

enum class Format { kCsv, kJsonLines, kJson, kHdf5 };

struct Suffix {
  std::string_view text;
  Format format;
};
constexpr Suffix kSuffixes[] = {{".csv", Format::kCsv},         {".csv.gz", Format::kCsv},
                                {".jsonl", Format::kJsonLines}, {".jsonl.gz", Format::kJsonLines},
                                {".json", Format::kJson},       {".json.gz", Format::kJson},
                                {".h5", Format::kHdf5},         {".hdf5", Format::kHdf5}};

Format format_of(const std::string& path) {
  std::string known;
  for (const Suffix& suffix : kSuffixes) {
    if (has_suffix(path, suffix.text)) return suffix.format;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", suffix.text);
  }
  throw Error(fmt::format("{}: the format is not known from the file's name; it must end in one of {}", path, known));
}

/// Runs a parser. Damaged gzip data often inflates to garbage before its checksum tells: where the parser fails, the
/// rest of the file is read too, so that the damage is reported instead of one of its effects.
template <class Parser>
auto parse(const std::string& path, Parser parser) {
  LineReader reader(path);
  try {
    return parser(reader);
  } catch (const Error&) {
    if (has_suffix(path, ".gz")) {
      std::string_view line;
      while (reader.next(line)) {
      }
    }
    throw;
  }
}

}  // namespace

void read_sequences(const std::string& path, const SequenceCallback& callback, std::int64_t max_sequences) {
  switch (format_of(path)) {
    case Format::kCsv:
      return parse(path, [&](LineReader& reader) { read_csv_sequences(reader, callback, max_sequences); });
    case Format::kJsonLines:
      return parse(path, [&](LineReader& reader) { read_json_lines(reader, callback, max_sequences); });
    case Format::kJson:
      return parse(path, [&](LineReader& reader) { read_json(reader, callback, max_sequences); });
    case Format::kHdf5:
      return SequenceFileReader(path).for_each(callback, max_sequences);
  }
}

std::int64_t repeated_events(const SequenceRecord& sequence) {
  const auto& times = sequence.times;
  std::int64_t repeated = 0;
  std::vector<int> types;  // at one time
  for (std::size_t first = 0, last; first < times.size(); first = last) {
    for (last = first + 1; last < times.size() && times[last] == times[first];) ++last;
    if (last == first + 1) continue;
    types.assign(sequence.types.begin() + first, sequence.types.begin() + last);
    std::ranges::sort(types);
    repeated += std::ranges::ssize(std::ranges::unique(types));  // what is left over behind one of each
  }
  return repeated;
}

std::vector<SequenceWindows> read_windows(const std::string& path) {
  switch (format_of(path)) {
    case Format::kCsv:
      return parse(path, [](LineReader& reader) { return read_csv_windows(reader); });
    case Format::kHdf5: {
      const SequenceFileReader file(path);
      std::vector<SequenceWindows> all;
      for (std::int64_t i = 0; i < file.sequences(); ++i) {
        std::vector<Window> windows = file.windows(i);
        if (!windows.empty()) all.push_back({file.ids()[i], std::move(windows), 0});
      }
      return all;
    }
    default:
      throw Error(path +
                  ": windows are a CSV table sequence,start,end (.csv, .csv.gz), or part of an HDF5 file made by "
                  "'fedpp import'");
  }
}

}  // namespace fedpp::io
