// Whether text is UTF-8, as names in HDF5 and JSON have to be.
#pragma once

#include <string_view>

namespace fedpp::io {

/// Whether the bytes are well-formed UTF-8 (RFC 3629: no surrogates, nothing longer than needed) without NUL.
inline bool is_utf8(std::string_view text) {
  const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned first = byte(i), second = byte(i + 1);
    if (first == 0) return false;
    if (first < 0x80) {
      ++i;
      continue;
    }
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4) return false;
    for (std::size_t k = 1; k < length; ++k)
      if (byte(i + k) >> 6 != 2) return false;
    if (first == 0xE0 && second < 0xA0) return false;
    if (first == 0xED && second > 0x9F) return false;
    if (first == 0xF0 && second < 0x90) return false;
    if (first == 0xF4 && second > 0x8F) return false;
    i += length;
  }
  return true;
}

}  // namespace fedpp::io
