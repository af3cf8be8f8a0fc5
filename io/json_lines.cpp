#include "io/json_lines.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace fedpp::io {

void end_last_line(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC);
  if (fd < 0) return;
  struct stat status{};
  char last = '\n';
  const bool read = ::fstat(fd, &status) == 0 && status.st_size > 0 && ::pread(fd, &last, 1, status.st_size - 1) == 1;
  if (read && last != '\n' && ::write(fd, "\n", 1) < 0) last = '\n';  // a by-product: no error
  ::close(fd);
}

JsonLinesWriter::JsonLinesWriter(const std::string& path) {
  end_last_line(path);
  fd_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
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
