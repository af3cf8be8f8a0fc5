// What the clock is made of: the extents of the sequences.
#pragma once

#include "data/dataset.hpp"
#include "data/source_reader.hpp"

namespace fedpp::data {

/// Adds a sequence to the extents. The window of the protocols with separate test files comes from training files
/// alone.
void extend(LocalExtents& extents, const RawSequence& raw, Split role, bool chronological);

}  // namespace fedpp::data
