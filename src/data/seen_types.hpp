// Which types of event clients see, and which nobody does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace fedpp::data {

/// Of so many types those that are not left out, ascending.
std::vector<int> keep_types(std::int64_t types, const std::vector<std::int64_t>& left_out);

/// Types with events in the common files that no client sees, and these events.
struct UnseenTypes {
  std::int64_t types = 0, events = 0;
};
UnseenTypes unseen_types(const Plan& plan);

/// A line where there are such types; else "".
std::string to_text(const UnseenTypes& unseen);

}  // namespace fedpp::data
