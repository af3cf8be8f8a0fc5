// One file a client: names with {client} in them.
#pragma once

#include <cstdint>
#include <string>

namespace fedpp::config {

bool is_client_pattern(const std::string& path);

/// The pattern with every {client} replaced by the client's number.
std::string expand_client(const std::string& pattern, std::int64_t client);

}  // namespace fedpp::config
