#include "federation/session.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

#include "config/error.hpp"
#include "data/replaced_events.hpp"
#include "data/tempering.hpp"
#include "federation/attack.hpp"
#include "federation/machine.hpp"
#include "model/client_points.hpp"
#include "model/device_room.hpp"
#include "model/local_options.hpp"
#include "mpi/exact_reduce.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {

namespace {

/// Cost of each client before its data are read: its sequences' events. Equal where only the owner may look.
std::vector<double> costs_of_files(const data::Plan& plan) {
  std::vector<double> cost(plan.clients(), 1.0);
  if (plan.one_file_a_client()) return cost;
  for (std::int64_t c = 0; c < plan.clients(); ++c)
    for (const auto entry : plan.holdings[c]) cost[c] += static_cast<double>(plan.catalogue[entry].events);
  return cost;
}

/// Collective. Each rank reads the common files itself, from a disk of its own perhaps. Throws AgreedError.
void refuse_other_files(mpi::Communicator& world, const data::Plan& plan) {
  std::uint64_t of_rank_0 = plan.content;
  world.broadcast(std::span(&of_rank_0, 1), 0, "extents");
  mpi::together(world, [&] {
    if (plan.content != of_rank_0)
      throw UserError(
          "data.train, data.validation, data.test, data.windows: what this rank reads there is not what "
          "rank 0 reads: put the same files on every node, or where all nodes see them");
  });
}

/// Collective. Who holds what: the same on every rank.
data::Plan plan_of(const config::Config& config, mpi::Communicator& world) {
  data::Plan plan;
  mpi::together(world, [&] {
    plan = data::make_plan(config.data, config.model.window, static_cast<std::uint64_t>(config.federation.seed));
  });
  refuse_other_files(world, plan);
  return plan;
}

double most_loaded(const mpi::Placement& placement, const std::vector<double>& costs) {
  std::vector<double> load(placement.ranks(), 0.0);
  for (std::int64_t c = 0; c < placement.clients(); ++c) load[placement.rank_of(c)] += costs[c];
  return *std::max_element(load.begin(), load.end());
}

}  // namespace

Session::Session(const config::Config& config, mpi::Communicator& world, const std::optional<data::InputScale>& trained)
    : config_(config),
      world_(world),
      plan_(plan_of(config_, world)),
      hostile_(hostile_clients(config)),
      placement_(costs_of_files(plan_), world.size()),
      strategy_(make_strategy(config.federation)) {
  share_devices(world);
  // 1. The clock and the common window, from what each rank's clients know.
  data::LocalExtents extents;
  mpi::together(world, [&] { extents = data::local_extents(plan_, placement_.owned_by(world.rank())); });
  extents.start = world.min(extents.start, "extents");
  extents.end = world.max(extents.end, "extents");
  extents.longest = world.max(extents.longest, "extents");
  extents.types = world.allreduce(extents.types, mpi::Op::max, "extents");
  mpi::together(world, [&] {
    data::finish_plan(plan_, extents);
    if (trained) data::adopt(plan_, *trained, config.model.type_embedding > 0);
  });
  types_ = trained ? trained->types : plan_.extents.types;
  type_names_ = trained && !trained->type_names.empty() ? trained->type_names : plan_.type_names;
  rules_ = data::realisation_rules(plan_, config.model);
  rules_.marked = config.training.alignment > 0;

  // 2. This rank's data and models. Only now it is known what an epoch of a client costs (merged ties, types that it
  // does not see): where that moves the load by a twentieth, the clients are placed anew, if others may open their
  // files.
  auto embedding = load(trained);
  if (world.size() > 1 && !plan_.one_file_a_client()) {
    std::vector<double> mine;
    for (const auto& client : owned_) mine.push_back(model::epoch_cost(client.model, config.training.samples).flops);
    const auto costs = share(mine, 1, "extents");
    mpi::Placement better(costs, world.size());
    if (most_loaded(better, costs) < 0.95 * most_loaded(placement_, costs)) {
      placement_ = std::move(better);
      embedding = load(trained);
    }
  }
  initial_prior_ = model::initial_prior(config.model, embedding, seed());
}

model::Embedding Session::load(const std::optional<data::InputScale>& trained) {
  owned_.clear();
  index_.clear();
  std::vector<data::ClientData> clients;
  mpi::together(world_, [&] { clients = data::load_clients(plan_, placement_.owned_by(world_.rank())); });
  if (config_.attack.kind == config::AttackKind::kReplacedEvents)
    for (auto& client : clients)
      if (hostile(client.id)) data::replace_events(client, config_.attack.strength, seed());
  if (rules_.history) rules_.gaps = trained ? trained->gaps : gap_scale(clients);
  model::Embedding embedding;
  left_out_ = {};
  mpi::together(world_, [&] {  // a mistake in one client's data ends all ranks with its text
    embedding = model::make_embedding(config_.model, plan_.clock, rules_.gaps, types_);
    for (auto& client : clients) {
      client.tempering = data::tempering(client, plan_.clock, config_.model);
      left_out_ += client.left_out;
      auto model = model::make_client(client.id, embedding, data::training_realisations(client, rules_),
                                      config_.model.inducing, client.tempering);
      model::mini_batches(model, config_.training);  // too many are said here, by all ranks at once
      index_[client.id] = owned_.size();
      owned_.push_back({std::move(client), std::move(model)});
    }
  });
  auto counts = std::bit_cast<std::array<std::int64_t, 5>>(left_out_);
  world_.allreduce(std::span<std::int64_t>(counts), mpi::Op::sum, "extents");
  left_out_ = std::bit_cast<data::LeftOut>(counts);
  return embedding;
}

void Session::check_device_room() const {
  mpi::together(world_, [&] {
    if (!owned_.empty()) model::check_device_room(owned_.front().model.embedding.encoder, config_);
  });
}

std::vector<double> Session::share(const std::vector<double>& mine, std::size_t each, std::string_view kind) {
  std::vector<std::uint64_t> bits(static_cast<std::size_t>(clients()) * each, 0);
  for (std::size_t k = 0; k < owned_.size(); ++k)
    for (std::size_t j = 0; j < each; ++j)
      bits[static_cast<std::size_t>(owned_[k].data.id) * each + j] = std::bit_cast<std::uint64_t>(mine[k * each + j]);
  world_.allreduce(std::span<std::uint64_t>(bits), mpi::Op::sum, kind);
  std::vector<double> all;
  all.reserve(bits.size());
  for (const auto word : bits) all.push_back(std::bit_cast<double>(word));
  return all;
}

data::GapScale Session::gap_scale(const std::vector<data::ClientData>& clients) {
  std::vector<double> count, sum, squares;
  for (const auto& client : clients) {
    const auto sums = data::gap_sums(client, plan_.clock);
    count.push_back(sums.count);
    sum.push_back(sums.sum);
    squares.push_back(sums.squares);
  }
  return data::gap_scale({exact_total(count, "extents"), exact_total(sum, "extents"), exact_total(squares, "extents")});
}

double Session::exact_total(const std::vector<double>& values, std::string_view kind) {
  mpi::ExactSums sums(1, mpi::FixedPoint::two_words(), static_cast<std::uint64_t>(clients()) + 1);
  mpi::together(world_, [&] {
    for (const double value : values) sums.add(0, value);
  });
  mpi::allreduce(world_, sums, kind);
  return sums.value(0);
}

}  // namespace fedpp::federation
