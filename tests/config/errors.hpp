// The text of the UserError that an expression throws.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "config/error.hpp"
#include "config/read.hpp"

namespace fedpp::config {

inline const std::string kMinimal = "[data]\ntrain = [\"a.csv\"]\n";

/// Reads `text` (as "run.toml" in /deck) and returns the error's text; fails the test where there is none.
inline std::string error_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    read_text(text, "run.toml", "/deck", overrides);
  } catch (const UserError& error) {
    return error.what();
  }
  ADD_FAILURE() << "no error for\n" << text;
  return "";
}

/// The error that `kMinimal` with one override gives.
inline std::string error_with(const std::vector<std::string>& overrides) { return error_of(kMinimal, overrides); }

}  // namespace fedpp::config
