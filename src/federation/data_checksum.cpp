#include "federation/data_checksum.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <span>
#include <vector>

namespace fedpp::federation {

std::uint64_t data_checksum(const data::ClientData& client, data::Split split, std::uint64_t seed) {
  std::vector<double> content;
  for (const auto& sequence : client.sequences) {
    const auto& events = sequence.events[split];
    content.push_back(static_cast<double>(events.size()));
    content.insert(content.end(), events.begin(), events.end());
    for (const auto& window : sequence.windows[split]) content.insert(content.end(), {window.start, window.end});
  }
  return XXH3_64bits_withSeed(content.data(), content.size() * sizeof(double), seed);
}

std::string test_data(Session& session) {
  std::uint64_t sum = 0;  // modulo 2^64, so in any order
  for (const auto& client : session.owned())
    sum += data_checksum(client.data, data::kTest, static_cast<std::uint64_t>(client.data.id));
  session.world().allreduce(std::span<std::uint64_t>(&sum, 1), mpi::Op::sum, "metrics");
  return fmt::format("{:016x}", sum);
}

}  // namespace fedpp::federation
