#include "io/json_lines.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace fedpp::io {

JsonLinesWriter::JsonLinesWriter(const std::string& path)
    : fd_(::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666)) {
  struct stat status{};
  if (fd_ < 0 || ::fstat(fd_, &status) != 0 || status.st_size == 0) return;
  char last = '\n';
  if (::pread(fd_, &last, 1, status.st_size - 1) == 1 && last != '\n' && ::write(fd_, "\n", 1) < 0) return;
}

JsonLinesWriter::~JsonLinesWriter() {
  if (fd_ >= 0) ::close(fd_);
}

void JsonLinesWriter::append(const nlohmann::ordered_json& object) {
  if (fd_ < 0) return;
  const std::string line = object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  if (::write(fd_, line.data(), line.size()) < 0) return;
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
