// From files to clients: who holds which sequences and sees which types of event, and the cut of each sequence into
// training, validation and test (theory 1.1, 3.2, 3.3).
//
// Three steps, the same for every way in which data come:
//   Plan plan = make_plan(options, T, seed);               // on every rank, the same
//   LocalExtents e = local_extents(plan, owned);           // what this rank's clients know
//   ... the caller reduces e over the ranks ...
//   finish_plan(plan, e);                                  // the clock and the common window
//   std::vector<ClientData> clients = load_clients(plan, owned);
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/options.hpp"
#include "data/client_data.hpp"

namespace fedpp::data {

/// One data file with its windows table ("" where it has none) and the part it plays. In client_files mode the paths
/// are patterns with {client}.
struct Source {
  std::string path;
  std::string windows;
  Split role = kTrain;
};

/// What every rank knows of a sequence of the common files; the events themselves stay in the file.
struct CatalogueEntry {
  std::int32_t source = 0;    ///< index into Plan::sources
  std::int32_t type = -1;     ///< its only type of event (of those kept), -1: several types, -2: no events
  std::int64_t position = 0;  ///< 0, 1, ... within its file
  std::int64_t events = 0;    ///< of the types kept, at or after 'drop_before'
  std::int64_t client =
      -1;  ///< whose the file says that it is: index into Plan::client_names; -1: the file does not say
};

/// Extents that the clock needs, in the file's unit, after 'drop_before' was subtracted. Ranks combine them by minimum
/// (start) and maximum (end, longest, types).
struct LocalExtents {
  double start =
      std::numeric_limits<double>::infinity();  ///< earliest event, or start of a window where there is a table
  double end = -std::numeric_limits<double>::infinity();  ///< latest
  double longest = 0;                                     ///< longest observation of a sequence
  std::int64_t types = 0;                                 ///< 1 + the largest type kept

  LocalExtents& operator+=(const LocalExtents& o) {
    start = std::min(start, o.start);
    end = std::max(end, o.end);
    longest = std::max(longest, o.longest);
    types = std::max(types, o.types);
    return *this;
  }
};

/// Who holds what. Deterministic in the files, the options and the seed, never in the number of ranks.
struct Plan {
  config::Data options;
  std::uint64_t seed = 0;
  double origin = 0;  ///< subtracted from every time of the files ('drop_before')
  std::vector<Source> sources;
  std::vector<CatalogueEntry> catalogue;  ///< every sequence of the common files; empty with client_files
  std::vector<std::int64_t> type_events;  ///< [type] events kept in the common files; empty with client_files
  std::vector<std::vector<std::uint32_t>> holdings;  ///< [client] entries of the catalogue, ascending
  std::vector<std::string> client_names;             ///< in the common files, by which clients are the same in several
  std::vector<std::string> type_names;               ///< [type] in the common files; empty where types are numbers
  bool named_sequences = false;                      ///< sequences of the common files have names
  std::uint64_t content = 0;                         ///< checksum of what is read of the common files, in their order
  LocalExtents extents;                              ///< of all clients, once finished
  std::vector<int> kept_types;                       ///< types not left out, ascending
  Clock clock;                                       ///< set by finish_plan
  Interval window{0, 0};                             ///< calendar clocks: the common window
  bool finished = false;

  std::int64_t clients() const { return options.clients; }
  bool one_file_a_client() const { return !options.client_files.empty(); }
  /// Whether the files say who holds what.
  bool clients_of_files() const { return options.partition == config::Partition::kFile; }
  /// Whether each sequence is one client's; else clients that see its types all hold it.
  bool dealt() const { return options.deal && options.protocol != config::Protocol::kPublishedCode; }
  /// Whether two clients may hold the same events: nothing was dealt, and they see a type in common.
  bool shared() const;
  /// Types that client c sees: (c k .. c k + k - 1) mod K over the kept types in order, or all of them.
  std::vector<int> types_of(std::int64_t client) const;
  /// Whether each client sees all types kept.
  bool sees_all() const;
  /// Where a type stands among those kept; -1: left out.
  std::int64_t place_of(int type) const;
  /// Whether client c sees the type at a place.
  bool sees(std::int64_t client, std::int64_t place) const;
};

/// The first number that two lists of names give different names; none where one list continues the other.
std::optional<std::size_t> first_other_name(const std::vector<std::string>& a, const std::vector<std::string>& b);

/// Scans the common files (none with client_files) and deals the sequences.
/// \param options as config::read() leaves them \param window T, the length of the model's clock. \throws UserError
Plan make_plan(const config::Data& options, double window, std::uint64_t seed);

/// Plan::client_names without a plan, where the files say who holds what; else none.
std::vector<std::string> client_names(const config::Data& options);

/// Extents of the data that this rank can see: of all common files, or of the files of the clients it owns.
LocalExtents local_extents(const Plan& plan, std::span<const std::int64_t> owned);

/// Sets the clock and the common window from the extents of all ranks. \throws UserError where no time passes
void finish_plan(Plan& plan, const LocalExtents& all);

/// The data of the clients named, in that order. Each common file is read once, and only sequences that these clients
/// hold are kept. A client's data do not depend on which others are loaded with it. \throws UserError, among others
/// where a client is left without a training sequence
std::vector<ClientData> load_clients(const Plan& plan, std::span<const std::int64_t> owned);

/// The same in two steps: clients as they are, and the refusal of those without a training sequence.
std::vector<ClientData> read_clients(const Plan& plan, std::span<const std::int64_t> owned);
void require_training(const std::vector<ClientData>& clients, const Plan& plan);

}  // namespace fedpp::data
