#include "io/json_lines.hpp"

#include <sstream>

#include "io/parse_json.hpp"
#include "io/text_file.hpp"

namespace fedpp::io {

void JsonLinesWriter::append(const nlohmann::ordered_json& object) const {
  file_.append(object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

JsonLines parse_json_lines(const std::string& text) {
  JsonLines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.empty()) continue;
    auto object = parse_json(line);
    if (object.is_object())
      lines.objects.push_back(std::move(object));
    else
      ++lines.unreadable;
  }
  return lines;
}

JsonLines read_json_lines(const std::string& path) { return parse_json_lines(read_text(path).value_or("")); }

}  // namespace fedpp::io
