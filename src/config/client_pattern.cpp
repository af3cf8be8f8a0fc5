#include "config/client_pattern.hpp"

namespace fedpp::config {
namespace {

const std::string kKey = "{client}";

}  // namespace

bool is_client_pattern(const std::string& path) { return path.find(kKey) != std::string::npos; }

std::string expand_client(const std::string& pattern, std::int64_t client) {
  std::string path = pattern;
  for (auto at = path.find(kKey); at != std::string::npos; at = path.find(kKey, at))
    path.replace(at, kKey.size(), std::to_string(client));
  return path;
}

}  // namespace fedpp::config
