// The validation windows of a rank's clients, laid out once: a run reads them in every round, and they stay what they are.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "data/validation_halves.hpp"
#include "federation/session.hpp"

namespace fedpp::federation {

class ValidationWindows {
 public:
  explicit ValidationWindows(const Session& session) : session_(session) {}

  /// Those that a choice is made on: all of them, or, where federation.client_start = "optimised" needs two choices, its
  /// half. The reference stays valid.
  const std::vector<data::Realisation>& of(const OwnedClient& client, data::ValidationHalf half);

 private:
  const Session& session_;
  std::map<std::pair<std::int64_t, data::ValidationHalf>, std::vector<data::Realisation>> windows_;
};

}  // namespace fedpp::federation
