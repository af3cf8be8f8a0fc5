#include "io/window_counts.hpp"

namespace fedpp::io {

void WindowCounts::add(std::span<const double> times, std::span<const Window> windows) {
  if (windows.empty()) return;
  ++sequences;
  if (times.empty()) ++empty;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    observed += windows[i].end - windows[i].start;
    if (i > 0 && windows[i].start > windows[i - 1].end) ++gaps;
  }
  std::size_t window = 0;  // the first that ends at or after the time
  for (const double time : times) {
    while (window < windows.size() && windows[window].end < time) ++window;
    if (window == windows.size() || time < windows[window].start) ++outside;
  }
}

}  // namespace fedpp::io
