#include "data/ties.hpp"

#include <fmt/format.h>

namespace fedpp::data {

void Gaps::add(const std::vector<double>& times) {
  for (std::size_t i = 1; i < times.size(); ++i) {
    ++all;
    if (times[i] == times[i - 1]) ++zero;
  }
}

std::string Gaps::doubt() const {
  constexpr std::int64_t kMany = 10;  // one of so many
  if (zero * kMany <= all) return "";
  return fmt::format(
      "{:.0f} % of the gaps between neighbours of a sequence are zero, as where times are rounded: an encoder that reads "
      "the history counts each event of a tie, and its forecasts come too early; give finer times, spread the events of "
      "a tick over it, or keep one of each",
      100.0 * static_cast<double>(zero) / static_cast<double>(all));
}

Gaps gaps_of(const ClientData& client) {
  Gaps gaps;
  for (const ClientSequence& sequence : client.sequences) gaps.add(sequence.times);
  return gaps;
}

}  // namespace fedpp::data
