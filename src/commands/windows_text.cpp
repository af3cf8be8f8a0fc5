#include "commands/windows_text.hpp"

#include <fmt/format.h>

#include "config/counted.hpp"

namespace fedpp::commands {

std::string windows_text(const io::WindowCounts& windows, std::int64_t sequences, const std::string& time_unit) {
  std::string text = windows.sequences < sequences ? fmt::format("{} of ", windows.sequences) : "";
  text += fmt::format("{} observed for {:.10g} {} in all, with {}", config::counted(sequences, "sequence"),
                      windows.observed, time_unit.empty() ? "file unit" : time_unit,
                      windows.gaps > 0 ? config::counted(windows.gaps, "gap") : "no gaps");
  if (windows.empty > 0)
    text += fmt::format("; {} of them {} no event", windows.empty, windows.empty == 1 ? "has" : "have");
  return text;
}

}  // namespace fedpp::commands
