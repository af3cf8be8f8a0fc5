#include "io/json_lines.hpp"

#include <fstream>
#include <sstream>

namespace fedpp::io {

void JsonLinesWriter::append(const nlohmann::ordered_json& object) const {
  file_.append(object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

JsonLines parse_json_lines(const std::string& text) {
  JsonLines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.empty()) continue;
    auto object = nlohmann::json::parse(line, nullptr, false);
    if (object.is_object())
      lines.objects.push_back(std::move(object));
    else
      ++lines.unreadable;
  }
  return lines;
}

JsonLines read_json_lines(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  return parse_json_lines(text.str());
}

}  // namespace fedpp::io
