// Keys of TOML that its parser does not survive.
#pragma once

#include <string_view>

namespace fedpp::config {

/// The line on which a dotted key has more parts than any key of ours may have, or 0. toml++ calls itself for each part
/// and does not survive very many. Strings and comments have no keys.
int line_of_deep_key(std::string_view text);

}  // namespace fedpp::config
