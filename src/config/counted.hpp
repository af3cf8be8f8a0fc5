// "1 client", "4 clients".
#pragma once

#include <cstdint>
#include <string>

namespace fedpp::config {

inline std::string counted(std::int64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace fedpp::config
