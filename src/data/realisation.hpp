// From a client's sequences to realisations on the model's clock: superposed streams with their exposure, ties merged
// with a multiplicity, quadrature (theory 1.1, 1.9).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "config/options.hpp"
#include "data/client_data.hpp"
#include "data/history.hpp"

namespace fedpp::data {

struct Plan;

/// How realisations are made; the same for every client.
struct RealisationRules {
  bool pooled = false;         ///< one latent function a client, else one a sequence
  bool unit_exposure = false;  ///< pooled: exposure 1 wherever there is any ('published-code')
  bool superposed = false;     ///< a score is of the superposed streams ('population'): events take log e(t)
  Clock clock;
  std::int64_t nodes = 0;  ///< quadrature nodes of a realisation; 0: about 4 M pooled, 2 M per sequence, on held-out
                           ///< windows shorter than the training windows as many fewer
  std::int64_t inducing = 50;  ///< M
  bool history = false;        ///< the encoder reads it: streams stay apart (data/history.hpp)
  GapScale gaps;               ///< with a history
  bool marked = false;         ///< the types of the events are kept (Realisation::marks)
  double period = 0;  ///< shortest periodic input (model clock), 0: none; chosen nodes are then ten a period at least
};

/// Events of these realisations, multiplicities counted (tempered ones in training).
double events_in(const std::vector<Realisation>& realisations);

/// The rules that belong to a finished plan.
RealisationRules realisation_rules(const Plan& plan, const config::Model& model);

/// Realisations of the splits named (their windows joined), on the model's clock: one if pooled, else one for every
/// sequence in the client's order. A sequence that takes no part in these splits gives an empty realisation (no events,
/// no nodes), so that entry r belongs to the same latent function in every split.
/// \param tempering tau: power of the likelihood, multiplies multiplicities and node weights (1 for held-out windows)
std::vector<Realisation> make_realisations(const ClientData& client, const RealisationRules& rules,
                                           std::span<const Split> splits, double tempering = 1.0);

/// Training windows, tempered by the client's tau: what the kernel is learned from. For the posterior of a score use
/// make_realisations with tau = 1 (tempering the final posterior was measured to cost score; learning the kernel gains
/// from it).
std::vector<Realisation> training_realisations(const ClientData& client, const RealisationRules& rules);
/// Training and validation windows together, untempered: the posterior that scores the test lists of 'population'.
std::vector<Realisation> final_realisations(const ClientData& client, const RealisationRules& rules);
/// Windows held out, never tempered.
std::vector<Realisation> held_out_realisations(const ClientData& client, const RealisationRules& rules, Split split);

/// An event on the model's clock, ordered by time, then type.
struct MarkedEvent {
  double time = 0;
  int type = 0;
  auto operator<=>(const MarkedEvent&) const = default;
};

/// Events of a sequence in the splits named, in order. Types are 0 unless the rules say that they are kept.
std::vector<MarkedEvent> marked_events(const ClientSequence& sequence, const RealisationRules& rules,
                                       std::span<const Split> splits);

/// The windows of a sequence in the splits named, in order; those that touch are one.
std::vector<Interval> windows_of(const ClientSequence& sequence, const Clock& clock, std::span<const Split> splits);

/// Makes `event` the realisation's next, or one more of the last where `tied`.
void add_event(Realisation& realisation, const MarkedEvent& event, bool tied, const RealisationRules& rules,
               double tempering);

/// File time of a sequence on the model's clock.
inline double to_model(const Clock& clock, const ClientSequence& sequence, double file_time) {
  return (file_time - (clock.elapsed ? sequence.origin : clock.origin)) * clock.scale;
}
/// Where a realisation on the calendar clock, or a sequence on its own, lies in file time.
inline double to_file(const Clock& clock, const ClientSequence& sequence, double model_time) {
  return model_time / clock.scale + (clock.elapsed ? sequence.origin : clock.origin);
}

}  // namespace fedpp::data
