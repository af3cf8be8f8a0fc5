#include "federation/validation_windows.hpp"

namespace fedpp::federation {

const std::vector<data::Realisation>& ValidationWindows::of(const OwnedClient& client, data::ValidationHalf half) {
  const bool halves = session_.config().federation.client_start == config::ClientStart::kOptimised;
  if (!halves) half = data::ValidationHalf::kRounds;
  const std::pair key{client.data.id, half};
  auto found = windows_.find(key);
  if (found == windows_.end())
    found = windows_
                .emplace(key, data::held_out_realisations(
                                  halves ? data::with_validation_half(client.data, half, session_.seed()) : client.data,
                                  session_.rules(), data::kValidation))
                .first;
  return found->second;
}

}  // namespace fedpp::federation
