// When the next event of a client's sequences comes: the intensity that follows a piece of history with nothing added
// to it, read from the client's posterior on a grid of gaps for many pieces at once.
#pragma once

#include <string>
#include <vector>

#include "evaluation/gap_errors.hpp"
#include "evaluation/next_event.hpp"
#include "federation/progress.hpp"
#include "federation/session.hpp"
#include "model/latent_posterior.hpp"

namespace fedpp::federation {

/// Collective. The grid of gaps on the model's clock, common to all clients: down to data::GapScale::floor of the
/// training gaps, up to four times the longest of them.
evaluation::GapGrid next_event_grid(Session& session);

/// A place from which the next event is looked for, on the model's clock.
struct GapStart {
  std::size_t sequence = 0;            ///< index into ClientData::sequences
  std::size_t before = 0;              ///< times of the history that are known
  double from = 0;                     ///< not before the last of them: no event in between
  const data::Stream* path = nullptr;  ///< a history of its own in place of the sequence's (history encoders)
  std::int64_t first_draw = 0;         ///< number of the first draw of the client's intensity
};

/// Which draws of a client's intensity: `count` from each start's first.
struct GapDraws {
  std::uint64_t seed = 0;
  int count = 64;  ///< a next event's: they stand for the posterior
};

/// One client's posterior as curves read it (theory 1.8), fitted once. Protocol 'chronological'. The session, the client
/// and the grid must outlive this.
class NextEventReader {
 public:
  /// \param fitted with the events that the posterior is given: scoring_client's or forecasting_client's of `client`
  NextEventReader(const Session& session, const OwnedClient& client, model::Client fitted, const model::Priors& theta,
                  const evaluation::GapGrid& grid);

  NextEventReader(const NextEventReader&) = delete;  // the posterior points at the client here

  /// The gap's distribution after each start, a mixture over draws of the intensity; in batches whose work space stays
  /// below backend.workspace_mb. A start's result does not depend on the others.
  std::vector<evaluation::NextEvent> after(const std::vector<GapStart>& starts, const GapDraws& draws) const;

  /// The history of a sequence as the encoder sees it; empty for encoders of time alone.
  data::Stream history(std::size_t sequence) const;

 private:
  std::size_t realisation(std::size_t sequence) const { return pooled_ ? 0 : sequence; }

  const evaluation::GapGrid& grid_;
  bool pooled_, history_;
  double budget_;  ///< bytes a batch
  int samples_;
  model::Client fitted_;
  std::vector<data::Realisation> streams_;  ///< the client's own, without points
  model::LatentPosterior posterior_;
};

/// Of one client: what next_event_errors adds up, for each held-out split. `mean_gap`: file unit, predicted for a client
/// without a gap in training. \throws model::PredictionError
std::vector<double> next_event_error_sums(const Session& session, const OwnedClient& client, const model::Priors& theta,
                                          const evaluation::GapGrid& grid, double mean_gap);

/// Bytes of the arrays that these take.
double next_event_bytes(const Session& session, const OwnedClient& client, const evaluation::GapGrid& grid);

/// Collective. Errors of the next event's time on validation and test windows (docs/results.md), ours beside the
/// simple predictors, from the clients' states and theta; `ours`: what tables call our model. Protocol 'chronological'.
evaluation::GapTable next_event_errors(Session& session, const model::Priors& theta, const std::string& ours,
                                       Progress& progress);

}  // namespace fedpp::federation
