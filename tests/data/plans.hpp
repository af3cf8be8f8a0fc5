// A finished plan and all its clients, as one rank has them.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "data/dataset.hpp"

namespace fedpp::data::test {

inline std::vector<std::int64_t> all_clients(const Plan& plan) {
  std::vector<std::int64_t> clients(plan.clients());
  std::iota(clients.begin(), clients.end(), 0);
  return clients;
}

/// The options as config::read() would leave them for a kernel of time alone.
inline Plan made_plan(const config::Data& options, std::uint64_t seed = 1) {
  config::Config config;
  config.data = options;
  config.model.encoder = config::Encoder::kDeepKernel;
  config::settle(config);
  return make_plan(config.data, 100, seed);
}

inline Plan planned(const config::Data& options, std::uint64_t seed = 1) {
  Plan plan = made_plan(options, seed);
  finish_plan(plan, local_extents(plan, all_clients(plan)));
  return plan;
}

inline ClientData load_client(const Plan& plan, std::int64_t client) {
  return load_clients(plan, std::vector{client}).front();
}

inline std::vector<ClientData> load_all(const Plan& plan) { return load_clients(plan, all_clients(plan)); }

}  // namespace fedpp::data::test
