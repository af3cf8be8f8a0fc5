// Tables of observation windows.
#include <cmath>

#include "input.hpp"
#include "io/event_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fedpp;
  static fuzz::ScratchFile file(".csv");
  try {
    for (const auto& sequence : io::read_windows(file.put(data, size))) {
      fuzz::promise(!sequence.windows.empty(), "a sequence has windows");
      for (std::size_t i = 0; i < sequence.windows.size(); ++i) {
        const auto& window = sequence.windows[i];
        fuzz::promise(std::isfinite(window.start) && std::isfinite(window.end) && window.start < window.end,
                      "a window has a length");
        fuzz::promise(i == 0 || sequence.windows[i - 1].end <= window.start, "windows are increasing and disjoint");
      }
    }
  } catch (const io::Error& error) {
    fuzz::promise(*error.what() != '\0', "an error has a text");
  }
  return 0;
}
