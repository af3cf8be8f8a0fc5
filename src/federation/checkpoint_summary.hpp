// What a checkpoint says about itself, without a session: for people.
#pragma once

#include <cstdint>
#include <string>

namespace fedpp::federation {

struct CheckpointSummary {
  std::int64_t layout = 1;  ///< of the arrays
  std::string version, git;
  std::int64_t rounds_done = 0, clients = 0, clients_started = 0, seed = 0;
  std::size_t parameters = 0;    ///< P
  std::int64_t best_round = -1;  ///< from 0; -1: none
  double best_score = 0;
  double largest_sd = 0, smallest_sd = 0;  ///< of theta
  std::string prior_from;
  std::string configuration;  ///< JSON of its keys
};

/// Verifies the file first. \throws io::Error, UserError where it is no checkpoint that this version can read
CheckpointSummary summarise_checkpoint(const std::string& path);

/// Some lines: state, model, and the keys that are not at their defaults.
std::string to_text(const CheckpointSummary& summary);

}  // namespace fedpp::federation
