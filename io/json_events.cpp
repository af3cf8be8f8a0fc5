// Events from JSON in the layout of EasyTPP: objects with arrays time_since_start and type_event.
#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "io/event_checks.hpp"
#include "io/event_formats.hpp"
#include "io/faults.hpp"
#include "io/shown.hpp"

namespace fedpp::io {

namespace {

using nlohmann::json;

std::string cut(const std::string& text, std::size_t longest) {
  return visible(text.size() <= longest ? text : text.substr(0, longest) + "...");
}

/// A value for a message, cut to a length that can be read. What containers hold is left out: they may be nested deeper
/// than the stack is.
std::string shown(const json& value) {
  if (value.is_array()) return "[...]";
  if (value.is_object()) return "{...}";
  return cut(value.dump(), 60);
}

/// Turns objects into records and hands them out.
class ObjectReader {
 public:
  ObjectReader(const LineReader& reader, const SequenceCallback& callback, std::int64_t max_sequences)
      : reader_(reader), callback_(callback), max_sequences_(max_sequences) {}

  /// Takes the text of one object that begins on `line`; false when enough sequences were read.
  bool take(std::string_view text, std::int64_t line) {
    faults_.read([&] {
      read(text, line);
      return true;
    });
    return ++count_ != max_sequences_;
  }

  /// \param end what is wrong with how the file ends, if anything is
  void finish(const std::string& end = "") {
    if (!end.empty()) faults_.add(end);
    faults_.throw_any();
    if (count_ == 0)
      throw Error(fmt::format("{}: the file has no sequences; expected objects with time_since_start and type_event",
                              reader_.path()));
  }

 private:
  void read(std::string_view text, std::int64_t line) {
    line_ = line;
    const json object = parse(text);
    if (!object.is_object()) fail("expected an object {\"time_since_start\": [...], \"type_event\": [...]}");
    SequenceRecord record;
    record.first_line = line;
    record.id = identifier(object);
    const auto [known, is_new] = first_line_.emplace(record.id, line);
    if (!is_new)
      fail(fmt::format("sequence {} appears again (it is also on line {}); give each its own seq_idx", record.id,
                       known->second));
    read_times(object, record);
    read_types(object, record);
    const std::string problem = events_problem(record.times, record.types);
    if (!problem.empty()) fail(fmt::format("sequence {}: {}", record.id, problem));
    if (!faults_.any()) callback_(record);
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw RowError(fmt::format("{}:{}: {}", reader_.path(), line_, what));
  }

  json parse(std::string_view text) const {
    try {
      return json::parse(text.begin(), text.end());
    } catch (const json::exception& error) {
      if (text.find("NaN") != std::string_view::npos || text.find("Infinity") != std::string_view::npos)
        fail("NaN or Infinity stands among the values; repair or remove these events");
      const std::string what = error.what();
      const std::size_t bracket = what.find("] ");
      fail(fmt::format("is not JSON: {}; expected objects with the arrays time_since_start and type_event",
                       cut(bracket == std::string::npos ? what : what.substr(bracket + 2), 200)));
    }
  }

  std::int64_t identifier(const json& object) const {
    const auto found = object.find("seq_idx");
    if (found == object.end()) return count_;
    const bool too_large = found->is_number_unsigned() && found->get<std::uint64_t>() > std::uint64_t{INT64_MAX};
    if (!found->is_number_integer() || too_large)
      fail(fmt::format("seq_idx {} is not an integer{}", shown(*found), too_large ? " of 63 bits" : ""));
    return found->get<std::int64_t>();
  }

  const json& array(const json& object, const char* key) const {
    const auto found = object.find(key);
    if (found == object.end())
      fail(fmt::format("key '{}' is missing; each object needs time_since_start and type_event", key));
    if (!found->is_array()) fail(fmt::format("'{}' is not an array", key));
    return *found;
  }

  void read_times(const json& object, SequenceRecord& record) const {
    const json& times = array(object, "time_since_start");
    if (times.empty()) fail(fmt::format("sequence {} has no events; remove it", record.id));
    record.times.reserve(times.size());
    for (const json& time : times) {
      if (!time.is_number())
        fail(fmt::format("sequence {}: event {}: time {} is not a number", record.id, record.times.size() + 1,
                         shown(time)));
      record.times.push_back(time.get<double>());
    }
  }

  void read_types(const json& object, SequenceRecord& record) const {
    const json& types = array(object, "type_event");
    record.types.reserve(types.size());
    for (const json& type : types) {
      const std::string at = fmt::format("sequence {}: event {}: ", record.id, record.types.size() + 1);
      if (!type.is_number_integer())
        fail(fmt::format("{}type {} is not an integer; write a whole number like 3", at, shown(type)));
      // An unsigned number above the signed range is above the largest type in any case.
      const bool huge =
          type.is_number_unsigned() && type.get<std::uint64_t>() > static_cast<std::uint64_t>(kLargestType);
      const std::string problem = type_problem(huge ? kLargestType + std::int64_t{1} : type.get<std::int64_t>());
      if (huge) fail(fmt::format("{}type {} is above {}; number the types from 0", at, type.dump(), kLargestType));
      if (!problem.empty()) fail(at + problem);
      record.types.push_back(type.get<int>());
    }
  }

  const LineReader& reader_;
  const SequenceCallback& callback_;
  std::int64_t max_sequences_, count_ = 0, line_ = 0;
  std::unordered_map<std::int64_t, std::int64_t> first_line_;
  Faults faults_;
};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// Cuts a JSON array, whose objects may go over several lines, into the texts of its objects.
class ArraySplitter {
 public:
  explicit ArraySplitter(ObjectReader& objects, const LineReader& reader) : objects_(objects), reader_(reader) {}

  /// Takes a line; false when enough sequences were read.
  bool take(std::string_view line) {
    for (const char c : line) {
      if (depth_ > 0) {
        text_ += c;
        if (in_string_) {
          if (escaped_)
            escaped_ = false;
          else if (c == '\\')
            escaped_ = true;
          else if (c == '"')
            in_string_ = false;
        } else if (c == '"') {
          in_string_ = true;
        } else if (c == '{' || c == '[') {
          ++depth_;
        } else if ((c == '}' || c == ']') && --depth_ == 0) {
          if (!objects_.take(text_, object_line_)) return false;
          text_.clear();
          state_ = kAfterObject;
        }
      } else if (!is_blank(c)) {
        outside(c);
      }
    }
    if (depth_ > 0) text_ += '\n';
    return true;
  }

  /// What is wrong with how the array ends; nothing if it does.
  std::string fault_at_end() const {
    return state_ == kAfterArray ? "" : reader_.error("the JSON array does not end; the file seems truncated").what();
  }

 private:
  enum State { kStart, kBeforeFirst, kBeforeObject, kAfterObject, kAfterArray };

  void outside(char c) {
    if (state_ == kStart && c == '[') {
      state_ = kBeforeFirst;
    } else if ((state_ == kBeforeFirst || state_ == kBeforeObject) && c == '{') {
      depth_ = 1;
      text_ = c;
      object_line_ = reader_.line_number();
    } else if (state_ == kAfterObject && c == ',') {
      state_ = kBeforeObject;
    } else if ((state_ == kAfterObject || state_ == kBeforeFirst) && c == ']') {
      state_ = kAfterArray;
    } else {
      throw reader_.error(
          fmt::format("{} is not expected here; the file must be one array of objects [{{...}}, {{...}}]",
                      io::shown(std::string_view(&c, 1))));
    }
  }

  ObjectReader& objects_;
  const LineReader& reader_;
  State state_ = kStart;
  std::string text_;
  std::int64_t object_line_ = 0;
  int depth_ = 0;
  bool in_string_ = false, escaped_ = false;
};

}  // namespace

void read_json_lines(LineReader& reader, const SequenceCallback& callback, std::int64_t max_sequences) {
  ObjectReader objects(reader, callback, max_sequences);
  std::string_view line;
  while (reader.next(line)) {
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    if (!objects.take(line, reader.line_number())) break;
  }
  objects.finish();
}

void read_json(LineReader& reader, const SequenceCallback& callback, std::int64_t max_sequences) {
  ObjectReader objects(reader, callback, max_sequences);
  ArraySplitter splitter(objects, reader);
  bool lines = false, known = false;
  std::string_view line;
  while (reader.next(line)) {
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos) continue;
    if (!known) lines = line[first] == '{';
    known = true;
    if (!(lines ? objects.take(line, reader.line_number()) : splitter.take(line))) return objects.finish();
  }
  objects.finish(known && !lines ? splitter.fault_at_end() : "");
}

}  // namespace fedpp::io
