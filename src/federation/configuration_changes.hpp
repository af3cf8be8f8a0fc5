// What differs between the configuration that a checkpoint was written under and the one that a run goes on under.
#pragma once

#include <string>
#include <vector>

#include "config/options.hpp"

namespace fedpp::federation {

/// Every key as JSON, for a checkpoint.
std::string archive(const config::Config& config);

struct ConfigurationChange {
  std::string key;        ///< section.key
  std::string now, then;  ///< values as JSON
  /// Whether it alters what training computes or which round it takes for the best. Not: how long it goes on (but under
  /// a schedule that ends with the last round), what is scored and written, how the machine is used, where files lie.
  bool binding = true;
  bool shape =
      false;  ///< whether the checkpoint's arrays have other sizes under it, so that nothing can go on from them
};

/// In the order of the configuration. A key that the checkpoint does not have had its default then: new keys keep what
/// was computed before they were there. A key that only a newer version knows counts as binding.
std::vector<ConfigurationChange> changes_since(const std::string& archived, const config::Config& now);

/// "\n  section.key = now (checkpoint: then)" for each that is `binding`.
std::string to_text(const std::vector<ConfigurationChange>& changes, bool binding);

}  // namespace fedpp::federation
