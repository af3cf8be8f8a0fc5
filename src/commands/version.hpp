// fedpp --version
#pragma once

#include <string>

namespace fedpp::commands {

/// Version, git revision, and the libraries built with; starts none of them.
std::string version_text();

}  // namespace fedpp::commands
