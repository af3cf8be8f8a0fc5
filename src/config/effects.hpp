// Keys that mean something only under others: a value that cannot matter is a mistake, not a wish to pass over.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "config/options.hpp"

namespace fedpp::config {

struct WithoutEffect {
  std::string key;     ///< "section.key"
  std::string unless;  ///< what would give it an effect
};

/// The keys that are not at their defaults and change nothing.
std::vector<WithoutEffect> keys_without_effect(const Config& config);

/// Whether the key "section.key" has the value that it had by default in earlier versions (earlier_defaults()).
bool is_earlier_default(const std::string& key, const Config& config);

/// Of all sections: as many as a configuration that the program printed has.
std::size_t number_of_keys();

/// Those of a configuration that overrides made of `file` (nothing overridden) that no override took the effect from:
/// a comparison may override what a key of the file, or another override, depends on.
std::vector<WithoutEffect> keys_without_effect(const Config& config, const Config& file);

/// Puts those keys back to their defaults: for a configuration that was made from another run's.
void reset_keys_without_effect(Config& config);

/// Whether the key "section.key" can matter under the rest of the configuration.
bool has_effect(const std::string& key, const Config& config);

}  // namespace fedpp::config
