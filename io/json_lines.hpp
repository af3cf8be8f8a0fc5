// A file with one JSON object a line that grows while a program runs, and is read while it grows.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fedpp::io {

/// Ends a line of which a killed writer left half, so that the next one is whole. No error: as below.
void end_last_line(const std::string& path);

/// Appends. Each line goes to the system in one write, so that a reader sees at most one half of one.
class JsonLinesWriter {
 public:
  /// Begins a new line where a killed writer left half of one. A file that cannot be opened or written to is given up
  /// silently: it is a by-product, whose loss must not end a run.
  explicit JsonLinesWriter(const std::string& path);
  JsonLinesWriter(const JsonLinesWriter&) = delete;
  JsonLinesWriter& operator=(const JsonLinesWriter&) = delete;
  ~JsonLinesWriter();

  void append(const nlohmann::ordered_json& object);

 private:
  int fd_;
};

struct JsonLines {
  std::vector<nlohmann::json> objects;
  std::int64_t unreadable = 0;  ///< lines that are no JSON object: half-written, damaged
};

/// All objects of a text, in order.
JsonLines parse_json_lines(const std::string& text);

/// The same of a file; empty where there is none.
JsonLines read_json_lines(const std::string& path);

}  // namespace fedpp::io
