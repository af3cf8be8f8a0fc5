#include "io/text_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "io/open_file.hpp"

namespace fedpp::io {

std::optional<std::string> read_text(const std::string& path) {
  if (::access(path.c_str(), R_OK) != 0) return std::nullopt;
  const OpenFile file(path, O_RDONLY);
  std::string text(file.size(), '\0');
  text.resize(file.read(0, text.data(), text.size()));
  return text;
}

}  // namespace fedpp::io
