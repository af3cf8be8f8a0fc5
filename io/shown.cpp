#include "io/shown.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "io/utf8.hpp"

namespace fedpp::io {

namespace {

constexpr std::size_t kLongest = 60;

unsigned byte(char c) { return static_cast<unsigned char>(c); }

}  // namespace

std::string visible(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_character(text);
    const unsigned first = byte(text[0]);
    const bool is_c1 = length == 2 && first == 0xC2 && byte(text[1]) < 0xA0;
    if (length == 0 || first < 0x20 || first == 0x7F || is_c1)
      out += fmt::format("\\x{:02x}", is_c1 ? byte(text[1]) : first);
    else
      out += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::string shown(std::string_view text) {
  std::size_t end = 0;
  for (std::size_t n = 0; n < kLongest && end < text.size(); ++n)
    end += std::max<std::size_t>(utf8_character(text.substr(end)), 1);
  return fmt::format("'{}{}'", visible(text.substr(0, end)), end < text.size() ? "..." : "");
}

std::string ranges(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    const std::size_t first = k;
    while (k + 1 < numbers.size() && numbers[k + 1] == numbers[k] + 1) ++k;
    text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[first]);
    if (k > first) text += fmt::format("-{}", numbers[k]);
  }
  return text;
}

}  // namespace fedpp::io
