// A file with one JSON object a line that grows while a program runs, and is read while it grows.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "io/appended_file.hpp"

namespace fedpp::io {

/// Appends. A file that cannot be opened or written to is given up silently.
class JsonLinesWriter {
 public:
  /// \throws Error as AppendedFile
  explicit JsonLinesWriter(const std::string& path) : file_(path) {}

  void append(const nlohmann::ordered_json& object) const;

 private:
  AppendedFile file_;
};

struct JsonLines {
  std::vector<nlohmann::json> objects;
  std::int64_t unreadable = 0;  ///< lines that are no JSON object: half-written, damaged
};

/// All objects of a text, in order.
JsonLines parse_json_lines(const std::string& text);

/// The same of a file; empty where there is none. Throws Error where it is no regular file.
JsonLines read_json_lines(const std::string& path);

}  // namespace fedpp::io
