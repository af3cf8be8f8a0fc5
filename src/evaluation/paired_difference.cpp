#include "evaluation/paired_difference.hpp"

#include <fmt/format.h>

#include <cassert>
#include <cmath>
#include <iterator>
#include <limits>

namespace fedpp::evaluation {

double PairedDifference::bound() const {
  constexpr double kTwoSided[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                  2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                                  2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045};
  if (clients < 2) return kTwoSided[0];
  const int freedom = clients - 1;
  return freedom <= static_cast<int>(std::size(kTwoSided)) ? kTwoSided[freedom - 1] : 1.96 + 2.5 / freedom;
}

std::string PairedDifference::outcome() const {
  if (!std::isfinite(standard_error)) return "none";
  if (std::abs(difference) <= bound() * standard_error) return "tie";
  return difference > 0 ? "above" : "below";
}

PairedDifference paired_difference(const std::vector<ClientScore>& ours, const std::vector<ClientScore>& other,
                                   bool shared) {
  assert(ours.size() == other.size());
  const Score sum = total(ours);
  PairedDifference paired{sum.headline_per_event() - total(other).headline_per_event(),
                          std::numeric_limits<double>::quiet_NaN(), 0, 0, shared};
  double squares = 0;
  for (std::size_t c = 0; c < ours.size(); ++c) {
    assert(ours[c].client == other[c].client);
    const Score &a = ours[c].score, &b = other[c].score;
    if (a.events == 0 && a.headline == 0) continue;  // nothing to score, or left out
    const double residual = a.headline - b.headline - paired.difference * a.events;
    squares += residual * residual;
    ++paired.clients;
    paired.above += a.headline > b.headline ? 1 : 0;
  }
  if (paired.clients > 1 && !shared)
    paired.standard_error = std::sqrt(squares * paired.clients / (paired.clients - 1.0)) / sum.events;
  return paired;
}

std::string sentence(const PairedDifference& paired, const std::string& ours, const std::string& other) {
  if (paired.clients < 2 || (paired.shared && std::isfinite(paired.difference)))
    return fmt::format("{} scores {:.4f} {} {}; {} no standard error.", ours, std::abs(paired.difference),
                       paired.difference < 0 ? "less than" : "more than", other,
                       paired.clients < 2 ? "one client alone gives" : "clients that may hold the same events give");
  const std::string outcome = paired.outcome();
  if (outcome == "none") return fmt::format("{} and {}: no finite difference of scores.", ours, other);
  const bool tie = outcome == "tie";
  return fmt::format("{} {} {}: {:+.4f}, {} chance over {} clients: {:.3g} paired standard errors are {:.4f}.", ours,
                     tie ? "ties with" : "is " + outcome, other, paired.difference, tie ? "within" : "beyond",
                     paired.clients, paired.bound(), paired.bound() * paired.standard_error);
}

}  // namespace fedpp::evaluation
