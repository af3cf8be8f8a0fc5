#include "config/deep_key.hpp"

namespace fedpp::config {

int line_of_deep_key(std::string_view text) {
  constexpr int kMostParts = 64;
  int line = 1, dots = 0;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++line;
    if (quote) {
      if (c == '\\' && quote == '"') {
        ++i;  // what is escaped ends no string
        if (i < text.size() && text[i] == '\n') ++line;
      } else if (c == quote) {
        quote = 0;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#') {
      while (i + 1 < text.size() && text[i + 1] != '\n') ++i;
    } else if (c == '.') {
      if (++dots >= kMostParts) return line;
    } else if (std::string_view("=[]{},\n").find(c) != std::string_view::npos) {
      dots = 0;
    }
  }
  return 0;
}

}  // namespace fedpp::config
