// The trivial models of spec 3.3, fitted on a client's raw training streams and scored on the very windows and events
// that ours is scored on. A model that does not beat them is not worth its cost.
//
//   homogeneous                 one rate a client: max(events, 1/2) / observed time                        (all
//   protocols) homogeneous per sequence    one rate a sequence from its own training windows, likewise (chronological)
//   histogram, 50 bins          equal bins over the hull of the client's windows                           (all
//   protocols) histogram, bins by 5-fold   number of bins by cross-validation over the client's training sequences (not
//   published-code) Hawkes, exponential         hawkes.hpp, the history given one step ahead (chronological)
//   last-window rate            below (chronological)
//
// Histograms: 'population' and 'published-code' use floored_rate (every list is observed on one common window),
// 'chronological' shrunken_rate on the elapsed clock (exposure thins out). 5-fold: the folds are ClientSequence::fold,
// or the position modulo 5 where those do not differ; candidates 1, 2, 5, 10, ..., 2000; the unnormalised held-out
// scores are added and the best sum wins, ties going to the fewest bins; fewer than two training sequences give one
// bin. Last-window rate of a sequence: k = max(1, n/3) last ones of its n training events (as many as a fifth of the
// sequence's events where training is three fifths), over the observed training time L after the event before them (the
// whole training time where there is none), shrunk by one event to the client's homogeneous rate h: (k + 1) / (L +
// 1/h); h where n = 0. Training means training windows alone in every model; a 'population' list without training
// windows that has validation windows trains by those.
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
