#include "data/words.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "io/number.hpp"

namespace fedpp::data {

std::size_t Words::place(std::string_view word) {
  const auto known = places_.find(word);
  if (known != places_.end()) return known->second;
  places_.emplace(word, words_.size());
  words_.emplace_back(word);
  return words_.size() - 1;
}

bool Words::are_numbers(std::int64_t largest) const {
  return std::all_of(words_.begin(), words_.end(), [&](const std::string& word) {
    const auto number = io::whole_number(word);
    return number && *number <= largest && (word == "0" || word.front() != '0');
  });
}

std::vector<std::size_t> Words::sorted() const {
  std::vector<std::size_t> places(words_.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  const bool numbers = are_numbers(std::numeric_limits<std::int64_t>::max());
  std::sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
    // Without leading zeros the longer number is the larger one.
    if (numbers && words_[a].size() != words_[b].size()) return words_[a].size() < words_[b].size();
    return words_[a] < words_[b];
  });
  return places;
}

}  // namespace fedpp::data
