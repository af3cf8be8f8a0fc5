// When sequences were observed, in one line: what 'fedpp import' and 'fedpp info' say of windows.
#pragma once

#include <string>

#include "io/window_counts.hpp"

namespace fedpp::commands {

/// "3 of 4 sequences observed for 26.5 hour in all, with 1 gap; 1 of them has no event". \param sequences of the file
std::string windows_text(const io::WindowCounts& windows, std::int64_t sequences, const std::string& time_unit);

}  // namespace fedpp::commands
