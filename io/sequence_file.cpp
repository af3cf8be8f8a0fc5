#include "io/sequence_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "io/event_checks.hpp"
#include "io/guarded_read.hpp"
#include "io/suffix.hpp"

namespace fedpp::io {

namespace {

constexpr const char* kFormat = "fedpp sequences";
constexpr std::int64_t kFormatVersion = 1;
constexpr std::int64_t kBlockEvents = 1 << 17;

}  // namespace

struct SequenceFileWriter::State {
  State(const std::string& path, const std::vector<std::string>& sources, const std::string& time_unit,
        const SequenceNames& names)
      : partial(path), file(create_unsealed(partial)), client_count(static_cast<std::int64_t>(names.clients.size())) {
    file.set_attribute("format", kFormat);
    file.set_attribute("format_version", kFormatVersion);
    file.set_attribute("time_unit", time_unit);
    file.write("sources", sources);
    if (!names.time_origin.empty()) file.set_attribute("time_origin", names.time_origin);
    if (!names.types.empty()) file.write("type_name", names.types);
    if (client_count > 0) {
      file.write("client_name", names.clients);
      clients = std::make_unique<AppendableDataset<std::int64_t>>(file, "client");
    }
    ids = std::make_unique<AppendableDataset<std::int64_t>>(file, "sequence_id");
    offsets = std::make_unique<AppendableDataset<std::int64_t>>(file, "offsets");
    times = std::make_unique<AppendableDataset<double>>(file, "time");
    types = std::make_unique<AppendableDataset<std::int64_t>>(file, "type");
    offsets->append(std::int64_t{0});
  }

  /// The windows' arrays begin with the first sequence that has any; those before it have none.
  void begin_windows() {
    window_offsets = std::make_unique<AppendableDataset<std::int64_t>>(file, "window_sequence_offsets");
    window_starts = std::make_unique<AppendableDataset<double>>(file, "window_start");
    window_ends = std::make_unique<AppendableDataset<double>>(file, "window_end");
    for (std::uint64_t i = 0; i <= ids->size(); ++i) window_offsets->append(std::int64_t{0});
  }

  PartialFile partial;
  File file;
  std::int64_t client_count;
  std::unique_ptr<AppendableDataset<std::int64_t>> ids, offsets, types, clients, window_offsets;
  std::unique_ptr<AppendableDataset<double>> times, window_starts, window_ends;
  std::vector<std::string> sequence_names;
  std::unordered_set<std::int64_t> known;
  std::int64_t type_count = 0;
};

SequenceFileWriter::SequenceFileWriter(const std::string& path, const std::vector<std::string>& sources,
                                       const std::string& time_unit, const SequenceNames& names) {
  if (!is_hdf5(path))
    throw Error(path + ": a file of sequences must be named *.h5 or *.hdf5, by which it is known when it is read");
  state_ = std::make_unique<State>(path, sources, time_unit, names);
}
SequenceFileWriter::~SequenceFileWriter() = default;
SequenceFileWriter::SequenceFileWriter(SequenceFileWriter&&) noexcept = default;
SequenceFileWriter& SequenceFileWriter::operator=(SequenceFileWriter&&) noexcept = default;

std::int64_t SequenceFileWriter::sequences() const { return static_cast<std::int64_t>(state_->ids->size()); }
std::int64_t SequenceFileWriter::events() const { return static_cast<std::int64_t>(state_->times->size()); }

void SequenceFileWriter::append(const SequenceRecord& sequence, std::span<const Window> windows) {
  State& s = *state_;
  const auto refuse = [&](const std::string& why) {
    throw Error(fmt::format("{}: sequence {}: {}", s.partial.path(), sequence.id, why));
  };
  std::string problem = events_problem(sequence.times, sequence.types);
  if (problem.empty()) problem = windows_problem(windows);
  if (!problem.empty()) refuse(problem);
  if (sequence.times.empty() && windows.empty()) refuse("it has neither events nor windows; leave it out");
  if (s.client_count > 0 && (sequence.client < 0 || sequence.client >= s.client_count))
    refuse(fmt::format("client {} is none of the file's, 0 to {}", sequence.client, s.client_count - 1));
  if (!s.known.insert(sequence.id).second)
    refuse(
        "its number is there already; number the sequences of several files differently, or import each file for "
        "itself");

  if (!windows.empty() && !s.window_offsets) s.begin_windows();
  s.ids->append(sequence.id);
  if (s.clients) s.clients->append(sequence.client);
  s.sequence_names.push_back(sequence.name);
  s.times->append(std::span<const double>(sequence.times));
  for (const int type : sequence.types) {
    s.types->append(std::int64_t{type});
    s.type_count = std::max<std::int64_t>(s.type_count, type + std::int64_t{1});
  }
  s.offsets->append(static_cast<std::int64_t>(s.times->size()));
  if (!s.window_offsets) return;
  for (const Window& window : windows) {
    s.window_starts->append(window.start);
    s.window_ends->append(window.end);
  }
  s.window_offsets->append(static_cast<std::int64_t>(s.window_starts->size()));
}

void SequenceFileWriter::close() {
  State& s = *state_;
  if (s.ids->size() == 0) throw Error(s.partial.path() + ": not written: there are no sequences");
  s.file.set_attribute("sequences", sequences());
  s.file.set_attribute("events", events());
  s.file.set_attribute("types", s.type_count);
  s.ids->close();
  s.offsets->close();
  s.times->close();
  s.types->close();
  if (s.clients) s.clients->close();
  const auto named = [](const std::string& name) { return !name.empty(); };
  if (std::any_of(s.sequence_names.begin(), s.sequence_names.end(), named))
    s.file.write("sequence_name", s.sequence_names);
  if (s.window_offsets) {
    s.window_offsets->close();
    s.window_starts->close();
    s.window_ends->close();
  }
  s.file.close();
  commit(s.partial, kSequences);
}

namespace {

/// Offsets of n consecutive pieces that fill `total` elements.
void require_offsets(const std::string& path, const char* name, const std::vector<std::int64_t>& offsets,
                     std::size_t pieces, std::uint64_t total) {
  const bool good = offsets.size() == pieces + 1 && offsets.front() == 0 &&
                    std::is_sorted(offsets.begin(), offsets.end()) &&
                    static_cast<std::uint64_t>(offsets.back()) == total;
  if (!good)
    throw Error(
        fmt::format("{}: '{}' does not divide {} elements among {} sequences; the file is damaged, import it again",
                    path, name, total, pieces));
}

/// Makes sure that a file is ours and of a version that we read.
void require_sequences(const File& file) {
  const std::string& path = file.file();
  if (!file.has_attribute("format") || file.attribute<std::string>("format") != kFormat)
    throw Error(path + ": is not a file of sequences made by 'fedpp import'");
  const std::int64_t version = file.attribute<std::int64_t>("format_version");
  if (version != kFormatVersion)
    throw Error(fmt::format("{}: has format version {}, this program reads {}; import the data again", path, version,
                            kFormatVersion));
}

std::uint64_t extent(const File& file, const char* name) {
  const Shape shape = file.shape(name);
  if (shape.size() != 1)
    throw Error(fmt::format("{}: '{}' must have rank 1; the file is damaged, import it again", file.file(), name));
  return shape[0];
}

}  // namespace

bool is_sealed(const std::string& path) {
  constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
  std::string begin(kSignature.size(), '\0');
  std::ifstream(path, std::ios::binary).read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin != kSignature;
}

SequenceFileReader::SequenceFileReader(const std::string& path) : SequenceFileReader(path, open(path)) {}

File SequenceFileReader::open(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_fifo(path, ignored))  // opened, it would wait for its writer
    throw Error(path + ": is a pipe: data are read several times, name a file");
  if (is_sealed(path)) return open_sealed(path, kSequences);
  const TrialRead read_all = [&](File file) { SequenceFileReader(path, std::move(file)).touch_all(); };
  return open_guarded(path, read_all, "; write it anew, or import its source again: 'fedpp import' adds a checksum");
}

SequenceFileReader::SequenceFileReader(const std::string& path, File file) : path_(path), file_(std::move(file)) {
  require_sequences(file_);
  ids_ = file_.read_vector<std::int64_t>("sequence_id");
  offsets_ = file_.read_vector<std::int64_t>("offsets");
  time_unit_ = file_.attribute<std::string>("time_unit");
  sources_ = file_.read_vector<std::string>("sources");
  const std::uint64_t events = extent(file_, "time");
  if (extent(file_, "type") != events)
    throw Error(path + ": 'time' and 'type' differ in length; the file is damaged, import it again");
  require_offsets(path, "offsets", offsets_, ids_.size(), events);
  if (ids_.empty()) throw Error(path + ": has no sequences");
  std::unordered_set<std::int64_t> known;
  for (const std::int64_t id : ids_)
    if (!known.insert(id).second)
      throw Error(fmt::format("{}: sequence {} is there twice; import the data again", path, id));
  if (file_.exists("window_sequence_offsets")) {
    window_offsets_ = file_.read_vector<std::int64_t>("window_sequence_offsets");
    const std::uint64_t windows = extent(file_, "window_start");
    if (extent(file_, "window_end") != windows)
      throw Error(path + ": 'window_start' and 'window_end' differ in length; the file is damaged, import it again");
    require_offsets(path, "window_sequence_offsets", window_offsets_, ids_.size(), windows);
  }
  read_names();
}

void SequenceFileReader::read_names() {
  const auto require_each = [&](const char* name, std::size_t values) {
    if (values != ids_.size())
      throw Error(fmt::format("{}: '{}' has {} values for {} sequences; the file is damaged, import it again", path_,
                              name, values, ids_.size()));
  };
  if (file_.has_attribute("time_origin")) names_.time_origin = file_.attribute<std::string>("time_origin");
  if (file_.exists("type_name")) names_.types = file_.read_vector<std::string>("type_name");
  if (file_.exists("sequence_name")) {
    sequence_names_ = file_.read_vector<std::string>("sequence_name");
    require_each("sequence_name", sequence_names_.size());
  }
  if (!file_.exists("client")) return;
  names_.clients = file_.read_vector<std::string>("client_name");
  clients_ = file_.read_vector<std::int64_t>("client");
  require_each("client", clients_.size());
  for (const std::int64_t client : clients_)
    if (client < 0 || client >= static_cast<std::int64_t>(names_.clients.size()))
      throw Error(fmt::format("{}: client {} is none of the {} in 'client_name'; the file is damaged, import it again",
                              path_, client, names_.clients.size()));
}

void SequenceFileReader::require_index(std::int64_t index) const {
  if (index < 0 || index >= sequences())
    throw Error(fmt::format("{}: there is no sequence with index {}; the file has {}", path_, index, sequences()));
}

void SequenceFileReader::load_block(std::int64_t first, std::int64_t last) const {
  const std::int64_t end = std::max(last, std::min(first + kBlockEvents, events()));
  // Cleared first: a read that fails must not leave times and types of different blocks.
  block_times_.clear();
  block_types_ = file_.read_slice<std::int64_t>("type", first, end - first);
  block_times_ = file_.read_slice<double>("time", first, end - first);
  block_start_ = first;
}

void SequenceFileReader::hold(std::int64_t index) const {
  const std::int64_t first = offsets_[index], last = offsets_[index + 1];
  if (first < block_start_ || last > block_start_ + static_cast<std::int64_t>(block_times_.size()))
    load_block(first, last);
}

void SequenceFileReader::hold_windows(std::int64_t first, std::int64_t last) const {
  if (first >= window_block_start_ && last <= window_block_start_ + static_cast<std::int64_t>(block_ends_.size()))
    return;
  const std::int64_t end = std::max(last, std::min(first + kBlockEvents, window_offsets_.back()));
  block_ends_.clear();  // as in load_block()
  block_starts_ = file_.read_slice<double>("window_start", first, end - first);
  block_ends_ = file_.read_slice<double>("window_end", first, end - first);
  window_block_start_ = first;
}

/// Whether values are legal is said where they are asked for: a run may want the first few sequences only.
void SequenceFileReader::touch_all() const {
  for (std::int64_t i = 0; i < sequences(); ++i) hold(i);
  if (!has_windows()) return;
  for (std::int64_t first = 0; first < window_offsets_.back(); first += kBlockEvents) {
    const std::int64_t count = std::min(kBlockEvents, window_offsets_.back() - first);
    file_.read_slice<double>("window_start", first, count);
    file_.read_slice<double>("window_end", first, count);
  }
}

SequenceRecord SequenceFileReader::sequence(std::int64_t index) const {
  require_index(index);
  hold(index);
  const std::int64_t first = offsets_[index], last = offsets_[index + 1];
  const std::int64_t from = first - block_start_, to = last - block_start_;
  SequenceRecord record;
  record.id = ids_[index];
  if (!clients_.empty()) record.client = clients_[index];
  if (!sequence_names_.empty()) record.name = sequence_names_[index];
  if (from == to) return record;
  record.times.assign(block_times_.begin() + from, block_times_.begin() + to);
  for (std::int64_t i = from; i < to; ++i) {
    const std::string problem = type_problem(block_types_[i]);
    if (!problem.empty())
      throw Error(fmt::format("{}: sequence {}: event {}: {}", path_, record.id, i - from + 1, problem));
    record.types.push_back(static_cast<int>(block_types_[i]));
  }
  const std::string problem = events_problem(record.times, record.types);
  if (!problem.empty()) throw Error(fmt::format("{}: sequence {}: {}", path_, record.id, problem));
  return record;
}

std::vector<Window> SequenceFileReader::windows(std::int64_t index) const {
  require_index(index);
  if (!has_windows()) return {};
  const std::int64_t first = window_offsets_[index], last = window_offsets_[index + 1];
  if (first == last) return {};
  hold_windows(first, last);
  std::vector<Window> windows;
  for (std::int64_t i = first - window_block_start_; i < last - window_block_start_; ++i)
    windows.push_back({block_starts_[i], block_ends_[i]});
  const std::string problem = windows_problem(windows);
  if (!problem.empty()) throw Error(fmt::format("{}: sequence {}: {}", path_, ids_[index], problem));
  return windows;
}

void SequenceFileReader::for_each(const SequenceCallback& callback, std::int64_t max_sequences) const {
  const std::int64_t count = max_sequences > 0 ? std::min(max_sequences, sequences()) : sequences();
  for (std::int64_t i = 0; i < count; ++i) {
    SequenceRecord record = sequence(i);
    callback(record);
  }
}

SequenceSummary summarise(const std::string& path) {
  SequenceSummary summary;
  std::optional<SequenceFileReader> file;
  if (is_hdf5(path)) {
    file.emplace(path);
    summary.time_unit = file->time_unit();
    summary.names = file->names();
    summary.client_sequences.assign(summary.names.clients.size(), 0);
    summary.client_events.assign(summary.names.clients.size(), 0);
  }
  const auto add = [&](SequenceRecord& record) {
    if (file) summary.windows.add(record.times, file->windows(summary.sequences));
    const std::int64_t length = static_cast<std::int64_t>(record.times.size());
    summary.shortest = summary.sequences == 0 ? length : std::min(summary.shortest, length);
    summary.longest = std::max(summary.longest, length);
    ++summary.sequences;
    if (record.client >= 0) {
      ++summary.client_sequences[record.client];
      summary.client_events[record.client] += length;
    }
    summary.repeated += repeated_events(record);
    if (is_timeless(record) && summary.timeless++ == 0) summary.first_timeless_line = record.first_line;
    for (std::size_t i = 0; i < record.times.size(); ++i) {
      const double time = record.times[i];
      summary.first_time = summary.events == 0 ? time : std::min(summary.first_time, time);
      summary.last_time = summary.events == 0 ? time : std::max(summary.last_time, time);
      ++summary.events;
      if (i > 0) ++summary.gaps;
      if (i > 0 && time == record.times[i - 1]) ++summary.ties;
      const std::size_t type = static_cast<std::size_t>(record.types[i]);
      if (type >= summary.type_counts.size()) summary.type_counts.resize(type + 1, 0);
      ++summary.type_counts[type];
    }
  };
  if (file)
    file->for_each(add);
  else
    read_sequences(path, add);
  summary.types = static_cast<std::int64_t>(summary.type_counts.size());
  summary.mean_length = static_cast<double>(summary.events) / static_cast<double>(summary.sequences);
  return summary;
}

}  // namespace fedpp::io
