// Tables of words and dates ('fedpp import --columns').
#include <cmath>

#include "config/error.hpp"
#include "data/event_table.hpp"
#include "input.hpp"
#include "io/event_reader.hpp"
#include "io/utf8.hpp"

namespace {

using namespace fedpp;

void check(const data::EventTable& table) {
  const auto clients = static_cast<std::int64_t>(table.names.clients.size());
  const auto types = table.names.types.empty() ? io::kLargestType + 1 : static_cast<int>(table.names.types.size());
  fuzz::promise(!table.sequences.empty(), "a table without sequences is refused");
  for (const auto* names : {&table.names.clients, &table.names.types})
    for (const auto& name : *names) fuzz::promise(!name.empty() && io::is_utf8(name), "a name is text");
  for (const auto& sequence : table.sequences) {
    fuzz::promise(!sequence.times.empty() && sequence.times.size() == sequence.types.size(), "one type an event");
    fuzz::promise(clients > 0 ? sequence.client >= 0 && sequence.client < clients : sequence.client == -1,
                  "a sequence belongs to a client where there are any");
    for (std::size_t i = 0; i < sequence.times.size(); ++i) {
      fuzz::promise(std::isfinite(sequence.times[i]), "times are finite");
      fuzz::promise(i == 0 || sequence.times[i - 1] <= sequence.times[i], "times do not decrease");
      fuzz::promise(sequence.types[i] >= 0 && sequence.types[i] < types, "types are in range");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static fuzz::ScratchFile file(".csv");
  data::TimeAxis hours;
  hours.unit = "hour";
  try {
    check(data::read_event_table({file.put(data, size)}, {}, hours));
  } catch (const UserError& error) {
    fuzz::promise(*error.what() != '\0', "an error has a text");
  }
  return 0;
}
