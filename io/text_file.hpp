// A whole text of a run's folder.
#pragma once

#include <optional>
#include <string>

#include "io/error.hpp"

namespace fedpp::io {

/// All of a file; nothing where there is none that may be read. Throws Error where it is no regular file (a pipe would
/// wait for its writer, a device never end) or reading fails.
std::optional<std::string> read_text(const std::string& path);

}  // namespace fedpp::io
