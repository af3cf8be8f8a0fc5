// Text from files, and lists of numbers, in messages and tables: text stays what it is called, says nothing to the
// terminal, and is short.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fedpp::io {

/// Control characters (below 0x20, 0x7f, U+0080 to U+009F) and bytes that are no UTF-8 as \xNN, all else as it is.
std::string visible(std::string_view text);

/// A value for a message: 'visible text', cut after 60 characters of it.
std::string shown(std::string_view text);

/// Numbers that follow each other by their ends: "0-3,8".
std::string ranges(const std::vector<int>& numbers);

}  // namespace fedpp::io
