// result.json as 'fedpp compare' reads it: anything may stand there, and what is taken compares with itself.
#include "config/error.hpp"
#include "federation/comparison.hpp"
#include "input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fedpp;
  static fuzz::ScratchFile file(".json");
  try {
    const auto run = federation::read_finished_run(file.put(data, size));
    fuzz::promise(federation::compare({run, run}).ends_with("All settings are the same.\n"), "a run is like itself");
  } catch (const UserError&) {
  }
  return 0;
}
