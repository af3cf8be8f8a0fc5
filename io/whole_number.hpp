// Whole numbers in names and headers.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace fedpp::io {

/// The number that the text is, 0 or more; nothing where it is anything else.
inline std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace fedpp::io
