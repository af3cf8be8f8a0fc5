#include "evaluation/paired_difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>
#include <limits>

namespace fedpp::evaluation {

double PairedDifference::bound() const {
  constexpr double kTwoSided[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                  2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                                  2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045};
  const int freedom = std::max(1, static_cast<int>(effective * (1 + 1e-12)) - 1);
  return freedom <= static_cast<int>(std::size(kTwoSided)) ? kTwoSided[freedom - 1] : 1.96 + 2.5 / freedom;
}

std::string PairedDifference::outcome() const {
  if (!std::isfinite(standard_error)) return "none";
  if (std::abs(difference) <= bound() * standard_error) return "tie";
  return difference > 0 ? "above" : "below";
}

PairedDifference paired_difference(const std::vector<double>& differences) {
  const auto n = static_cast<double>(differences.size());
  PairedDifference paired{};
  for (const double d : differences) paired.difference += d / n;
  double squares = 0;
  for (const double d : differences) {
    squares += (d - paired.difference) * (d - paired.difference);
    paired.above += d > 0 ? 1 : 0;
  }
  paired.standard_error = differences.size() > 1 ? std::sqrt(squares / (n - 1) / n) : std::nan("");
  paired.clients = static_cast<int>(differences.size());
  paired.effective = n;
  return paired;
}

PairedDifference paired_difference(const std::vector<ClientScore>& ours, const std::vector<ClientScore>& other,
                                   bool shared) {
  assert(ours.size() == other.size());
  const Score sum = total(ours);
  PairedDifference paired{};
  paired.difference = sum.headline_per_event() - total(other).headline_per_event();
  paired.standard_error = std::numeric_limits<double>::quiet_NaN();
  paired.shared = shared;
  double squares = 0, of_events = 0;
  for (std::size_t c = 0; c < ours.size(); ++c) {
    assert(ours[c].client == other[c].client);
    const Score &a = ours[c].score, &b = other[c].score;
    if (a.events == 0 && a.headline == 0) continue;  // nothing to score, or left out
    const double change =
        (a.headline - b.headline - paired.difference * a.events) / (sum.events - a.events);  // D - D_-c
    squares += change * change;
    of_events += a.events * a.events;
    ++paired.clients;
    paired.above += a.headline > b.headline ? 1 : 0;
  }
  if (of_events > 0) paired.effective = sum.events * sum.events / of_events;
  const double error = std::sqrt(squares * (paired.clients - 1.0) / paired.clients);
  if (paired.clients > 1 && !shared && std::isfinite(error)) paired.standard_error = error;
  return paired;
}

namespace {

/// "a is above b: +0.0120 per test event; chance alone gives up to 0.0080 either way in 95 % of cases (of)."
std::string beside_chance(const PairedDifference& paired, const std::string& ours, const std::string& other,
                          const std::string& of) {
  const std::string outcome = paired.outcome();
  return fmt::format(
      "{} {} {}: {:+.4f} per test event; chance alone gives up to {:.4f} either way in 95 % of cases ({}).", ours,
      outcome == "tie" ? "ties with" : "is " + outcome, other, paired.difference,
      paired.bound() * paired.standard_error, of);
}

}  // namespace

std::string sentence_over_seeds(const PairedDifference& paired, const std::string& ours, const std::string& other) {
  if (!std::isfinite(paired.standard_error))
    return fmt::format("{} and {}: no finite difference of scores.", ours, other);
  return beside_chance(paired, ours, other, fmt::format("mean over {} seeds", paired.clients));
}

std::string sentence(const PairedDifference& paired, const std::string& ours, const std::string& other) {
  if (!std::isfinite(paired.difference)) return fmt::format("{} and {}: no finite difference of scores.", ours, other);
  const std::string outcome = paired.outcome();
  if (outcome == "none")
    return fmt::format("{} scores {:.4f} {} {}; {} no standard error.", ours, std::abs(paired.difference),
                       paired.difference < 0 ? "less than" : "more than", other,
                       paired.shared ? "clients that may hold the same events give" : "one client alone gives");
  const bool unequal = paired.effective < 0.95 * paired.clients;
  return beside_chance(
      paired, ours, other,
      fmt::format("{} clients{}", paired.clients,
                  unequal ? fmt::format(", which count as {:.1f} since some have many more events than others",
                                        paired.effective)
                          : ""));
}

}  // namespace fedpp::evaluation
