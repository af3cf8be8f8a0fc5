// Whether text is UTF-8, as names in HDF5 and JSON have to be.
#pragma once

#include <cstddef>
#include <string_view>

namespace fedpp::io {

/// Bytes of the character that `text` begins with; 0 where it begins with no well-formed UTF-8 (RFC 3629: no
/// surrogates, nothing longer than needed).
inline std::size_t utf8_character(std::string_view text) {
  const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
  if (text.empty()) return 0;
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return 0;
  for (std::size_t k = 1; k < length; ++k)
    if (byte(k) >> 6 != 2) return 0;
  if (first == 0xE0 && second < 0xA0) return 0;
  if (first == 0xED && second > 0x9F) return 0;
  if (first == 0xF0 && second < 0x90) return 0;
  if (first == 0xF4 && second > 0x8F) return 0;
  return length;
}

/// Whether the bytes are well-formed UTF-8 without NUL.
inline bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_character(text);
    if (length == 0 || text[0] == '\0') return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace fedpp::io
