// Numbers in names, headers, options and tables.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace fedpp::io {

/// The number that the whole text is, without a leading plus or blanks; nothing where it is none or T cannot hold it.
template <class T>
std::optional<T> number(std::string_view text) {
  T value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// 0 or more.
inline std::optional<std::int64_t> whole_number(std::string_view text) {
  const auto value = number<std::int64_t>(text);
  return value && *value >= 0 ? value : std::nullopt;
}

}  // namespace fedpp::io
