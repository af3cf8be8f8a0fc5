#include "data/deal.hpp"

#include <fmt/format.h>

#include <algorithm>

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

bool contains(const std::vector<int>& types, int type) { return std::binary_search(types.begin(), types.end(), type); }

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

  std::vector<std::vector<int>> types(plan.clients());
  for (std::int64_t c = 0; c < plan.clients(); ++c) {
    types[c] = plan.types_of(c);
    std::sort(types[c].begin(), types[c].end());
  }
  for (int type : plan.kept_types) {
    Entries of_type;
    for (std::uint32_t entry : pool)
      if (plan.catalogue[entry].type == type) of_type.push_back(entry);
    std::vector<std::int64_t> holders;
    for (std::int64_t c = 0; c < plan.clients(); ++c)
      if (contains(types[c], type)) holders.push_back(c);
    give(of_type, holders, type);
  }
  // Observed without an event: their type cannot be known.
  Entries silent;
  for (std::uint32_t entry : pool)
    if (plan.catalogue[entry].type == RawSequence::kNoEvents) silent.push_back(entry);
  give(silent, everybody, -1);
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
