// Two models' scores of the same events, clients being the draws.
#pragma once

#include <string>
#include <vector>

#include "evaluation/score.hpp"

namespace fedpp::evaluation {

/// The difference is D = sum_c d_c / sum_c n_c, d_c a client's difference of sums and n_c its events; its paired
/// standard error is the jackknife's, sqrt((C - 1) / C sum_c (D_-c - D)^2), D_-c without client c, which is sd / sqrt(C)
/// where all have as many events. (Residuals d_c - D n_c alone would say too little where a client has most of the
/// events: its own is nearly 0 whatever it scores.) There is none where clients may hold the same sequences, since
/// differences on these are no draws of their own, nor where one client has all events.
struct PairedDifference {
  double difference, standard_error;  ///< per test event; NaN where there is none
  int clients;                        ///< C: with something to score
  int above;                          ///< of them, how many the first model scores higher
  bool shared;                        ///< clients may hold the same sequences
  double effective;                   ///< (sum_c n_c)^2 / sum_c n_c^2: as many clients of equal size weigh as much
  /// How many standard errors chance exceeds in 5 % of cases or fewer: Student's quantile for `effective` - 1 degrees of
  /// freedom, rounded down to at least 1.
  double bound() const;
  std::string outcome() const;  ///< "above" or "below" beyond so many standard errors, "tie" within, "none" without
};

/// Of draws that weigh alike, as seeds: their mean and its standard error, sd / sqrt(n).
PairedDifference paired_difference(const std::vector<double>& differences);

/// Of `ours` from `other`, the same clients in the same order.
PairedDifference paired_difference(const std::vector<ClientScore>& ours, const std::vector<ClientScore>& other,
                                   bool shared = false);

/// "ours is above other: +0.0120 per test event; chance alone gives up to 0.0080 either way in 95 % of cases (20 clients)."
std::string sentence(const PairedDifference& paired, const std::string& ours, const std::string& other);
/// The same of a mean over seeds, whose number is `clients`.
std::string sentence_over_seeds(const PairedDifference& paired, const std::string& ours, const std::string& other);

}  // namespace fedpp::evaluation
