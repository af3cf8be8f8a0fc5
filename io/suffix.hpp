// A file's kind by the end of its name, in any case: .csv and .CSV are one.
#pragma once

#include <algorithm>
#include <cctype>
#include <string_view>

namespace fedpp::io {

/// Whether `path` ends in `suffix` (given in lower case).
inline bool has_suffix(std::string_view path, std::string_view suffix) {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  return path.size() >= suffix.size() && std::equal(suffix.begin(), suffix.end(), path.end() - suffix.size(),
                                                    [&](char s, char p) { return same(p, s); });
}

/// Whether a file of events is HDF5 by its name.
inline bool is_hdf5(std::string_view path) { return has_suffix(path, ".h5") || has_suffix(path, ".hdf5"); }

}  // namespace fedpp::io
