// CSV of events, plain and gzip.
#include "events.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static fedpp::fuzz::ScratchFile file(".csv");
  fedpp::fuzz::read_events(file.put(data, size));
  return 0;
}
