// JSON lines of events; input that begins with [ is read as a .json file, too.
#include "events.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static fedpp::fuzz::ScratchFile lines(".jsonl"), whole(".json");
  fedpp::fuzz::read_events(lines.put(data, size));
  fedpp::fuzz::read_events(whole.put(data, size));
  return 0;
}
