// Event files that tests make, and options that read them.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "config/options.hpp"
#include "data/random.hpp"
#include "files.hpp"

namespace fedpp::data::test {

/// Lists of one type each: `lists` of each of `types` types, list l with 4 + l % 7 events.
inline std::string lists_csv(int types, int lists, std::uint64_t seed) {
  Random random(seed, Purpose::kFolds, 0);
  std::string text = "sequence,time,type\n";
  for (int l = 0; l < types * lists; ++l) {
    double t = 10 * random.uniform();
    for (int i = 0; i < 4 + l % 7; ++i) {
      text += fmt::format("{},{:.6f},{}\n", l, t, l % types);
      t += 10 * random.uniform();
    }
  }
  return text;
}

/// Whole sequences with several types.
inline std::string whole_csv(int types, int sequences, int events, std::uint64_t seed) {
  Random random(seed, Purpose::kFolds, 0);
  std::string text = "sequence,time,type\n";
  for (int s = 0; s < sequences; ++s) {
    double t = 10 * random.uniform();
    for (int i = 0; i < events; ++i) {
      text += fmt::format("{},{:.6f},{}\n", s, t, random.below(types));
      t += random.exponential();
    }
  }
  return text;
}

/// Of five types dealt to seven clients of two types each.
inline config::Data population(const Folder& folder) {
  config::Data options;
  options.protocol = config::Protocol::kPopulation;
  options.realisation = config::Realisation::kPooled;
  options.train = {folder.write("train.csv", lists_csv(5, 60, 1))};
  options.test = {folder.write("test.csv", lists_csv(5, 20, 2))};
  options.clients = 7;
  options.partition = config::Partition::kHeterogeneous;
  options.types_per_client = 2;
  return options;
}

}  // namespace fedpp::data::test
