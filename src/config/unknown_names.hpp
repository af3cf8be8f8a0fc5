// What to say of sections and keys that there are not.
#pragma once

#include <string>
#include <vector>

#include "config/keys.hpp"

namespace fedpp::config {

/// "did you mean ...?" for a key that `section` does not have, or what it has.
std::string remedy_for_key(const std::string& name, const Section& section, const std::vector<Section>& all);

/// The same for a section.
std::string remedy_for_section(const std::string& name, const std::vector<Section>& all);

}  // namespace fedpp::config
