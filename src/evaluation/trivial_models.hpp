// The trivial models of theory 3.3, fitted on a client's raw training streams and scored on the very windows and events
// that ours is scored on. A model that does not beat them is not worth its cost.
//
// - homogeneous (all protocols): one rate a client, h = max(events, 1/2) / observed time.
// - homogeneous per sequence (chronological): from its own n events in training time L, shrunk by one event to h,
//   (n + 1) / (L + 1/h). The bare n / L is hopeless where a sequence's training part is one burst: no rival.
// - histogram, 50 bins (all protocols): equal bins over the hull of the client's windows. 'population' and
//   'published-code' use floored_rate (every list is observed on one common window), 'chronological' shrunken_rate.
// - histogram, bins by 5-fold (not published-code): the number of bins out of 1, 2, 5, 10, ..., 2000 chosen by
//   cross-validation over the client's training sequences. The folds are ClientSequence::fold, or the position modulo 5
//   where those do not differ; the unnormalised held-out scores are added, the best sum wins, ties go to the fewest
//   bins; fewer than two training sequences give one bin.
// - Hawkes, exponential (chronological): hawkes.hpp, the history given one step ahead.
// - last-window rate (chronological): as 'per sequence', but from the last k = max(1, n/3) training events (as many as
//   the test part has) and the observed training time since the event before them.
//
// Training means training windows alone in every model; a 'population' list without training windows that has
// validation windows trains by those.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/client_data.hpp"
#include "evaluation/score.hpp"
#include "evaluation/step_rate.hpp"

namespace fedpp::evaluation {

struct TrivialSettings {
  Protocol protocol = Protocol::kChronological;
  bool elapsed = true;  ///< histograms on the time since a sequence's origin (data::Clock::elapsed), else on file time
};

/// One trivial model's sums on one client; headline and plug_in are the same. File unit of time.
struct TrivialScore {
  std::string model;
  Score score;
};

/// The names that trivial_scores gives, in its order: the same for every client.
std::vector<std::string> trivial_model_names(Protocol protocol);

/// Fits each model on the client's training windows and scores it on `split`:
///   chronological   sum log lambda(t_i) - int lambda over the sequence's windows
///   population      sum log(e(t_i) lambda(t_i)) - int e lambda, e(t) the held-out sequences observed at t
///   published-code  sum log1p(lambda(t_i)) - int lambda over the hull of the windows, lambda = counts / bin width
/// UserError where the client observed no training time.
std::vector<TrivialScore> trivial_scores(const data::ClientData& client, data::Split split,
                                         const TrivialSettings& settings);

/// The histogram with `bins` equal bins as trivial_scores fits it: rate per sequence (published-code: of all sequences)
/// on the clock of the settings, in the file unit. One bin is the homogeneous rate.
StepRate fit_histogram(const data::ClientData& client, int bins, const TrivialSettings& settings);

/// The number of bins by 5-fold.
int choose_bins(const data::ClientData& client, const TrivialSettings& settings);

}  // namespace fedpp::evaluation
