#include "data/deal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "config/error.hpp"
#include "data/random.hpp"
#include "data/source_reader.hpp"

namespace fedpp::data {
namespace {

using Entries = std::vector<std::uint32_t>;

/// Where the files say who holds what, they say how many clients there are.
void require_clients(const Plan& plan) {
  if (!plan.clients_of_files()) return;
  const auto found = static_cast<std::int64_t>(plan.client_names.size());
  if (found != plan.clients())
    throw UserError(
        fmt::format("data.clients = {}: with data.partition = \"file\" clients are those of {}{}: set "
                    "data.clients = {}",
                    plan.clients(), plan.sources.front().path, plan.sources.size() > 1 ? ", ..." : "", found));
}

/// Before anything is made for every client.
void require_sequences(const Plan& plan) {
  if (!plan.options.deal || plan.clients_of_files()) return;
  const bool chronological = plan.options.protocol == config::Protocol::kChronological;
  const auto sequences = std::count_if(plan.catalogue.begin(), plan.catalogue.end(), [&](const CatalogueEntry& entry) {
    return chronological || plan.sources[entry.source].role == kTrain;
  });
  if (sequences > 0 && plan.clients() > sequences)
    throw UserError(
        fmt::format("data.clients = {}: dealing the {} sequences of {}{} leaves clients without a training sequence: "
                    "lower data.clients, bring more sequences, or set data.deal = false",
                    plan.clients(), sequences, plan.sources.front().path, plan.sources.size() > 1 ? ", ..." : ""));
}

/// Deals the entries in turn to the holders, in a seeded order.
void deal_round(Plan& plan, Entries entries, const std::vector<std::int64_t>& holders, Purpose purpose,
                std::int64_t key) {
  if (holders.empty()) return;
  Random random(plan.seed, purpose, key);
  random.shuffle(entries);
  for (std::size_t i = 0; i < entries.size(); ++i) plan.holdings[holders[i % holders.size()]].push_back(entries[i]);
}

/// Deals the sequences of one role. Sequences of a single type go to the clients that see it; where the files hold
/// sequences of several types, all go round all clients, and each client sees its types' events of those it gets.
void deal_pool(Plan& plan, const Entries& pool, bool by_type, Purpose purpose) {
  std::vector<std::int64_t> everybody(plan.clients());
  for (std::int64_t c = 0; c < plan.clients(); ++c) everybody[c] = c;
  auto give = [&](const Entries& entries, const std::vector<std::int64_t>& holders, std::int64_t key) {
    if (plan.dealt()) return deal_round(plan, entries, holders, purpose, key);
    for (std::int64_t holder : holders)
      plan.holdings[holder].insert(plan.holdings[holder].end(), entries.begin(), entries.end());
  };
  if (!by_type) return give(pool, everybody, -1);

  std::map<int, Entries> by_types;
  for (std::uint32_t entry : pool) by_types[plan.catalogue[entry].type].push_back(entry);
  for (const auto& [type, entries] : by_types) {
    if (type == RawSequence::kNoEvents) continue;
    const std::int64_t place = plan.place_of(type);
    std::vector<std::int64_t> holders;
    for (std::int64_t c = 0; c < plan.clients(); ++c)
      if (plan.sees(c, place)) holders.push_back(c);
    give(entries, holders, type);
  }
  // Observed without an event: their type cannot be known.
  give(by_types[RawSequence::kNoEvents], everybody, -1);
}

}  // namespace

void deal(Plan& plan) {
  require_clients(plan);
  require_sequences(plan);
  plan.holdings.assign(plan.clients(), {});
  if (plan.clients_of_files()) {
    for (std::uint32_t entry = 0; entry < plan.catalogue.size(); ++entry)
      plan.holdings[plan.catalogue[entry].client].push_back(entry);
    return;
  }
  const bool chronological = plan.options.protocol == config::Protocol::kChronological;
  const bool several = std::any_of(plan.catalogue.begin(), plan.catalogue.end(), [](const CatalogueEntry& entry) {
    return entry.type == RawSequence::kSeveralTypes;
  });
  const bool by_type = plan.options.partition == config::Partition::kHeterogeneous && !several;
  for (Split role : {kTrain, kValidation, kTest}) {
    Entries pool;
    for (std::uint32_t i = 0; i < plan.catalogue.size(); ++i)
      if (chronological || plan.sources[plan.catalogue[i].source].role == role) pool.push_back(i);
    deal_pool(plan, pool, by_type, role == kTest ? Purpose::kDealTest : Purpose::kDealTrain);
    if (chronological) break;
  }
  for (Entries& held : plan.holdings) std::sort(held.begin(), held.end());
}

}  // namespace fedpp::data
