#include "federation/participants.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "gpu/philox.hpp"

namespace fedpp::federation {

namespace {
// Top four bits of the counter's last word say what a draw is for; 1 to 3 belong to the epochs' draws (gpu/random.cpp).
constexpr std::uint32_t kPurposeParticipants = 4u << 28;
}  // namespace

std::vector<std::int64_t> sample_participants(std::int64_t clients, std::int64_t participants, std::uint64_t seed,
                                              std::int64_t round, std::int64_t straggling_period) {
  assert(clients >= 0 && clients < (std::int64_t{1} << 32) && round >= 0 && straggling_period >= 1);
  if (participants <= 0 || participants > clients) participants = clients;
  const auto block = static_cast<std::uint64_t>(round / straggling_period);
  // Every client draws a ticket; the lowest tickets win (ties, of probability 2^-64, by number).
  std::vector<std::pair<std::uint64_t, std::int64_t>> tickets;
  for (std::int64_t c = 0; c < clients; ++c) {
    const auto random = gpu::Philox::block({{static_cast<std::uint32_t>(c), static_cast<std::uint32_t>(block),
                                             static_cast<std::uint32_t>(block >> 32), kPurposeParticipants}},
                                           gpu::Philox::key(seed));
    tickets.emplace_back(gpu::Philox::bits64(random, 0), c);
  }
  std::nth_element(tickets.begin(), tickets.begin() + participants, tickets.end());
  std::vector<std::int64_t> chosen;
  for (std::int64_t i = 0; i < participants; ++i) chosen.push_back(tickets[i].second);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace fedpp::federation
