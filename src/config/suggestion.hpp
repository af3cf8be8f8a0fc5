// "did you mean ...?" for misspelt names.
#pragma once

#include <string>
#include <vector>

namespace fedpp::config {

/// Number of insertions, deletions, substitutions and swaps of neighbours that turn a into b (optimal string
/// alignment).
std::size_t edit_distance(const std::string& a, const std::string& b);

/// The candidate nearest to `name`, or "" where none is near: at most a third of the name's letters, and at least two,
/// may differ. The first of equally near candidates wins.
std::string nearest(const std::string& name, const std::vector<std::string>& candidates);

}  // namespace fedpp::config
