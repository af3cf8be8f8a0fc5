// What 'fedpp predict' says about the time after the end of each sequence, as CSV (docs/results.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "federation/predictable.hpp"
#include "federation/progress.hpp"
#include "federation/session.hpp"
#include "model/priors.hpp"

namespace fedpp::federation {

/// A time of the file, and how it was given: as that or as a date.
struct NamedTime {
  double time;
  std::string text;
};

/// Times in the file's unit.
struct ForecastRequest {
  std::string next_events;           ///< file for the next event of every sequence; "": none
  std::string futures;               ///< file for drawn futures; "": none
  std::string futures_summary;       ///< file for how many events they have; set with `futures`
  std::int64_t paths = 0;            ///< futures of each sequence
  std::optional<NamedTime> until;    ///< they end at this time of the file,
  std::optional<double> horizon;     ///< or so long after the sequence's end
  std::optional<std::int64_t> seed;  ///< of the futures; none: federation.seed
};

/// Collective. Throws UserError where the protocol or the model cannot answer.
void check_forecast(const Session& session, const ForecastRequest& request);

/// Collective. The sequences of these clients that are observed until request.until or longer, and so have no futures;
/// throws UserError where that are all of them.
std::int64_t sequences_past(Session& session, const std::vector<std::int64_t>& clients, const ForecastRequest& request);

struct ForecastWritten {
  std::int64_t cut = 0;                ///< futures that were stopped before their end (FuturePath::cut)
  std::vector<std::int64_t> left_out;  ///< clients without a forecast
};

/// Collective. Writes the files for these clients (ascending), one posterior fit a client; the same bytes for any
/// number of ranks.
ForecastWritten write_forecast(Session& session, const model::Priors& theta, const std::vector<std::int64_t>& clients,
                               Unpredictable unpredictable, const ForecastRequest& request, Progress& progress);

}  // namespace fedpp::federation
