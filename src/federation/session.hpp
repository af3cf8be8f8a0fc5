// What a run on all ranks stands on: the plan of the data, who owns which client, this rank's clients and the prior.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/options.hpp"
#include "data/dataset.hpp"
#include "data/input_scale.hpp"
#include "data/realisation.hpp"
#include "evaluation/score.hpp"
#include "federation/strategies/strategy.hpp"
#include "model/client.hpp"
#include "mpi/communicator.hpp"
#include "mpi/placement.hpp"

namespace fedpp::federation {

/// One client on its owner.
struct OwnedClient {
  data::ClientData data;
  model::Client model;
};

class Session {
 public:
  /// Collective. Reads this rank's data, lays the clients out and sets them to the start of training. Throws UserError.
  /// \param trained scale of the inputs of a federation whose weights these clients are to use; else the data's own
  Session(const config::Config& config, mpi::Communicator& world,
          const std::optional<data::InputScale>& trained = std::nullopt);

  const config::Config& config() const { return config_; }
  mpi::Communicator& world() const { return world_; }
  const data::Plan& plan() const { return plan_; }
  const data::RealisationRules& rules() const { return rules_; }
  data::InputScale input_scale() const { return {plan_.clock, rules_.gaps, types_, type_names_}; }
  std::int64_t clients() const { return plan_.clients(); }
  std::uint64_t seed() const { return static_cast<std::uint64_t>(config_.federation.seed); }
  bool owns(std::int64_t client) const { return index_.contains(client); }
  OwnedClient& owned(std::int64_t client) { return owned_[index_.at(client)]; }
  const OwnedClient& owned(std::int64_t client) const { return owned_[index_.at(client)]; }
  std::vector<OwnedClient>& owned() { return owned_; }
  const std::vector<OwnedClient>& owned() const { return owned_; }
  /// How many of these clients this rank owns.
  std::size_t owned_of(const std::vector<std::int64_t>& clients) const {
    return static_cast<std::size_t>(std::ranges::count_if(clients, [&](std::int64_t c) { return owns(c); }));
  }
  const std::vector<std::int64_t>& hostile() const { return hostile_; }  ///< ascending (federation/attack.hpp)
  bool hostile(std::int64_t client) const { return std::binary_search(hostile_.begin(), hostile_.end(), client); }
  const mpi::Placement& placement() const { return placement_; }
  const Strategy& strategy() const { return *strategy_; }  ///< of federation.mode
  const model::WeightPosterior& initial_prior() const { return initial_prior_; }
  evaluation::Protocol protocol() const { return config_.data.protocol; }
  /// P.
  std::size_t parameters() const { return initial_prior_.mean.size(); }
  const data::LeftOut& left_out() const { return left_out_; }  ///< of all clients, over all ranks

  /// Collective. Throws UserError where a rank's device has no room for the kernels of a training.
  void check_device_room() const;

  /// Collective. values[c * each + k] of all clients on every rank, from the owners' values (ascending clients). Bits
  /// are kept: every entry has one owner, so the sum of bit patterns is a copy.
  std::vector<double> share(const std::vector<double>& mine, std::size_t each, std::string_view kind);

  /// The same of records that are doubles only, one a client.
  template <class Record>
  std::vector<Record> share(const std::vector<Record>& mine, std::string_view kind) {
    using Numbers = std::array<double, sizeof(Record) / sizeof(double)>;
    std::vector<double> numbers;
    for (const Record& record : mine)
      for (const double number : std::bit_cast<Numbers>(record)) numbers.push_back(number);
    numbers = share(numbers, std::tuple_size_v<Numbers>, kind);
    std::vector<Record> all;
    Numbers one;
    for (auto from = numbers.begin(); from != numbers.end(); from += one.size()) {
      std::copy_n(from, one.size(), one.begin());
      all.push_back(std::bit_cast<Record>(one));
    }
    return all;
  }

  /// Collective. Exact sum over the ranks of sums that each holds of its own clients' values.
  double exact_total(const std::vector<double>& values, std::string_view kind);

 private:
  /// Collective. Reads the data of the clients that this rank owns and makes their models.
  model::Embedding load(const std::optional<data::InputScale>& trained);

  /// Collective. The scale of the gaps over all clients' training tokens: the same bits on every rank and any number.
  data::GapScale gap_scale(const std::vector<data::ClientData>& clients);

  config::Config config_;
  mpi::Communicator& world_;
  data::Plan plan_;
  data::RealisationRules rules_;
  std::int64_t types_ = 0;
  std::vector<std::string> type_names_;
  std::vector<std::int64_t> hostile_;
  mpi::Placement placement_;
  std::vector<OwnedClient> owned_;
  std::map<std::int64_t, std::size_t> index_;
  model::WeightPosterior initial_prior_;
  data::LeftOut left_out_;
  std::unique_ptr<const Strategy> strategy_;
};

}  // namespace fedpp::federation
