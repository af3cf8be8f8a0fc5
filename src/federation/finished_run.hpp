// What a finished run, or 'fedpp evaluate', says of itself (docs/results.md): one side of a comparison.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "config/options.hpp"
#include "evaluation/table.hpp"

namespace fedpp::federation {

struct FinishedRun {
  std::string name;  ///< as it was given
  evaluation::Protocol protocol = evaluation::Protocol::kChronological;
  std::string unit;                              ///< of time
  std::string test_data;                         ///< checksum of the test events and windows
  std::vector<evaluation::ClientScore> clients;  ///< our model's
  std::vector<std::int64_t> left_out;            ///< hostile, or without a score
  bool shared = false;                           ///< clients may hold the same sequences
  std::optional<double> ks;
  std::optional<std::int64_t> rounds, scored_round;  ///< rounds are not known of an evaluation, nor are the seconds
  std::optional<double> seconds;                     ///< of all rounds
  nlohmann::ordered_json config;
};

/// Reads DIR/result.json, or the file named. Throws UserError where that is no result, or one of a version that did not
/// say which test data its scores are of.
FinishedRun read_finished_run(const std::string& path);

/// Whether output.directory holds the results of a training under this configuration that ended after so many rounds
/// and learned something, on these test data (data_checksum.hpp). False for whatever cannot be read as such.
bool holds_results_of(const config::Config& config, std::int64_t rounds, const std::string& test_data);

}  // namespace fedpp::federation
