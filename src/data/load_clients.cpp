// The data of the clients that a rank owns.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <unordered_map>

#include "config/client_pattern.hpp"
#include "config/error.hpp"
#include "data/dataset.hpp"
#include "data/random.hpp"
#include "data/source_reader.hpp"
#include "data/split.hpp"
#include "io/shown.hpp"

namespace fedpp::data {
namespace {

constexpr int kFolds = 5;

/// Cuts one sequence as the client sees it and adds it. Sequences come in file order, so the result is the same whoever
/// loads.
void add_sequence(ClientData& client, const Plan& plan, int source, const RawSequence& raw) {
  LeftOut& left_out = client.left_out;
  ClientSequence sequence;
  sequence.id = raw.id;
  sequence.name = raw.name;
  sequence.source = source;
  for (std::size_t i = 0; i < raw.times.size(); ++i)
    if (plan.sees(client.id, plan.place_of(raw.types[i]))) {
      sequence.times.push_back(raw.times[i]);
      sequence.history_types.push_back(raw.types[i]);
    } else {
      ++left_out.unseen;
    }
  left_out.outside += raw.dropped;
  if (plan.options.protocol != config::Protocol::kChronological)
    assign_whole(sequence, plan.sources[source].role, raw.has_windows, raw.windows, plan.window, left_out.outside);
  else if (!cut_chronologically(sequence, raw.has_windows, raw.windows, left_out.outside,
                                {plan.options.split_at, plan.options.train_share, plan.options.validation_share})) {
    ++left_out.sequences;
    left_out.sequence_events += static_cast<std::int64_t>(sequence.times.size());
    if (!raw.has_windows && sequence.times.size() > 1 && sequence.times.front() == sequence.times.back())
      ++left_out.timeless;
    return;
  }
  client.sequences.push_back(std::move(sequence));
}

bool trains(const ClientSequence& sequence) { return !sequence.windows[kTrain].empty(); }

/// Keeps max(1, round(fraction n)) of the n training sequences; held-out streams all stay.
void keep_fraction(ClientData& client, double fraction, std::uint64_t seed) {
  std::vector<std::size_t> training;
  for (std::size_t i = 0; i < client.sequences.size(); ++i)
    if (trains(client.sequences[i])) training.push_back(i);
  if (training.empty() || fraction >= 1) return;
  const auto kept =
      static_cast<std::size_t>(std::max<long>(1, std::lround(fraction * static_cast<double>(training.size()))));
  Random(seed, Purpose::kLocalFraction, client.id).shuffle(training);
  std::vector<bool> gone(client.sequences.size(), false);
  for (std::size_t i = kept; i < training.size(); ++i) gone[training[i]] = true;
  std::vector<ClientSequence> rest;
  for (std::size_t i = 0; i < client.sequences.size(); ++i)
    if (!gone[i]) rest.push_back(std::move(client.sequences[i]));
  client.sequences = std::move(rest);
}

/// Deals the training lists into five folds; fold 0 validates. A single list only trains.
void set_folds(ClientData& client, std::uint64_t seed) {
  std::vector<std::size_t> training;
  for (std::size_t i = 0; i < client.sequences.size(); ++i)
    if (trains(client.sequences[i])) training.push_back(i);
  Random(seed, Purpose::kFolds, client.id).shuffle(training);
  for (std::size_t position = 0; position < training.size(); ++position) {
    ClientSequence& sequence = client.sequences[training[position]];
    sequence.fold = static_cast<int>(position % kFolds);
    if (sequence.fold != 0 || training.size() == 1) continue;
    std::swap(sequence.events[kTrain], sequence.events[kValidation]);
    std::swap(sequence.windows[kTrain], sequence.windows[kValidation]);
  }
}

}  // namespace

/// Names the first and, as far as they are few, the others.
void require_training(const std::vector<ClientData>& clients, const Plan& plan) {
  const auto name = [&](const ClientData& client) {
    return plan.clients_of_files() ? fmt::format("{} {}", client.id, io::shown(plan.client_names[client.id]))
                                   : std::to_string(client.id);
  };
  constexpr std::size_t kNamed = 5;
  const ClientData* first = nullptr;
  std::vector<std::string> others;
  for (const ClientData& client : clients) {
    if (std::any_of(client.sequences.begin(), client.sequences.end(), trains)) continue;
    if (first)
      others.push_back(name(client));
    else
      first = &client;
  }
  if (!first) return;
  const LeftOut& left_out = first->left_out;
  const bool got_none = !plan.one_file_a_client() && !plan.clients_of_files() && left_out.sequences == 0;
  const std::string where = plan.one_file_a_client() ? config::expand_client(plan.options.client_files, first->id)
                                                     : plan.sources.front().path;
  std::string remedy;
  if (plan.options.max_sequences > 0) remedy += "raise data.max_sequences, ";
  if (plan.options.train_share < config::Data{}.train_share) remedy += "raise data.train_share, ";
  remedy += plan.one_file_a_client()
                ? "bring longer sequences, or take such files out and number the clients without them"
            : plan.clients_of_files()
                ? "bring longer sequences, give their windows and data.split_at = \"time\", which keeps "
                  "every sequence, or import the table without the rows of such clients"
            : plan.options.partition == config::Partition::kHeterogeneous
                ? fmt::format(
                      "bring {} sequences, lower data.clients, raise data.types_per_client, or set "
                      "data.partition = \"homogeneous\"",
                      got_none ? "more" : "longer")
                : fmt::format("bring {} sequences, or lower data.clients", got_none ? "more" : "longer");
  std::string so_are;
  if (!others.empty()) {
    const std::size_t named = std::min(others.size(), kNamed);
    so_are = fmt::format("; so are {} more of this rank's {} clients ({}{})", others.size(), clients.size(),
                         fmt::join(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(named), ", "),
                         others.size() > named ? ", ..." : "");
  }
  const std::string why =
      got_none ? "none of these types came to it"
               : fmt::format("{} left out with fewer than {} training events, {} in which no time passes",
                             left_out.sequences - left_out.timeless, kFewestTrainingEvents, left_out.timeless);
  throw UserError(fmt::format("{}: client {} (types {}) is left without a training sequence ({}){}: {}", where,
                              name(*first), fmt::join(first->types, ", "), why, so_are, remedy));
}

std::vector<ClientData> read_clients(const Plan& plan, std::span<const std::int64_t> owned) {
  assert(plan.finished);
  std::vector<ClientData> clients(owned.size());
  const TypeList all = plan.sees_all() ? plan.kept_types : std::vector<int>{};
  for (std::size_t i = 0; i < owned.size(); ++i) {
    assert(owned[i] >= 0 && owned[i] < plan.clients());
    clients[i].id = owned[i];
    clients[i].types = plan.sees_all() ? all : plan.types_of(owned[i]);
  }
  if (plan.one_file_a_client()) {
    for (ClientData& client : clients)
      for (std::size_t s = 0; s < plan.sources.size(); ++s) {
        const Source& pattern = plan.sources[s];
        const Source file{config::expand_client(pattern.path, client.id),
                          config::expand_client(pattern.windows, client.id), pattern.role};
        read_source(file, plan.options,
                    [&](RawSequence& raw) { add_sequence(client, plan, static_cast<int>(s), raw); });
      }
  } else {
    std::vector<std::vector<std::size_t>> holders(plan.catalogue.size());  // [entry] positions in `owned`
    for (std::size_t i = 0; i < owned.size(); ++i)
      for (std::uint32_t entry : plan.holdings[owned[i]]) holders[entry].push_back(i);
    std::size_t entry = 0;  // the catalogue is in the order of reading
    for (std::size_t s = 0; s < plan.sources.size(); ++s)
      read_source(plan.sources[s], plan.options, [&](RawSequence& raw) {
        if (entry >= holders.size() || plan.catalogue[entry].position != raw.position)
          throw UserError(fmt::format("{}: the file changed while it was read: run again", plan.sources[s].path));
        for (std::size_t i : holders[entry]) add_sequence(clients[i], plan, static_cast<int>(s), raw);
        ++entry;
      });
  }
  for (ClientData& client : clients) keep_fraction(client, plan.options.local_fraction, plan.seed);
  if (plan.options.protocol == config::Protocol::kPopulation)
    for (ClientData& client : clients) set_folds(client, plan.seed);
  return clients;
}

std::vector<ClientData> load_clients(const Plan& plan, std::span<const std::int64_t> owned) {
  std::vector<ClientData> clients = read_clients(plan, owned);
  require_training(clients, plan);
  return clients;
}

}  // namespace fedpp::data
