#include "federation/participants.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace fedpp::federation {

std::vector<std::int64_t> draw_clients(std::int64_t clients, std::int64_t count, std::uint64_t seed,
                                       gpu::DrawPurpose purpose, std::uint64_t occasion) {
  assert(clients >= 0 && clients < (std::int64_t{1} << 32) && count >= 0 && count <= clients);
  // Every client draws a ticket; the lowest tickets win (ties, of probability 2^-64, by number).
  std::vector<std::pair<std::uint64_t, std::int64_t>> tickets;
  for (std::int64_t c = 0; c < clients; ++c) {
    const auto random =
        gpu::random_bits(seed, purpose, static_cast<std::uint32_t>(c), static_cast<std::uint32_t>(occasion),
                         static_cast<std::uint32_t>(occasion >> 32));
    tickets.emplace_back(gpu::Philox::bits64(random, 0), c);
  }
  std::nth_element(tickets.begin(), tickets.begin() + count, tickets.end());
  std::vector<std::int64_t> chosen;
  for (std::int64_t i = 0; i < count; ++i) chosen.push_back(tickets[i].second);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::vector<std::int64_t> sample_participants(std::int64_t clients, std::int64_t participants, std::uint64_t seed,
                                              std::int64_t round, std::int64_t straggling_period) {
  assert(round >= 0 && straggling_period >= 1);
  if (participants <= 0 || participants > clients) participants = clients;
  return draw_clients(clients, participants, seed, gpu::DrawPurpose::kParticipants,
                      static_cast<std::uint64_t>(round / straggling_period));
}

}  // namespace fedpp::federation
