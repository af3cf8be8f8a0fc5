// Progress of a run: a line that renews itself on a terminal, plain lines elsewhere and in a log.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "mpi/communicator.hpp"

namespace spdlog {
class logger;
}
namespace fedpp::io {
class JsonLinesWriter;
}

namespace fedpp::federation {

class Progress {
 public:
  /// Of a training: on standard output, in DIRECTORY/train.log, and as records in DIRECTORY/status.jsonl. Ranks other
  /// than 0 are silent. Collective; \throws as AppendedFile where a link has the name of one of these files.
  Progress(mpi::Communicator& world, bool renew, const std::string& directory);
  /// Of a command whose standard output is its result: on standard error, without files; silent unless `renew`.
  Progress(const mpi::Communicator& world, bool renew);
  ~Progress();

  void line(const std::string& text);
  /// For the log alone.
  void note(const std::string& text);
  /// For 'fedpp status': one object with "event" and what belongs to it (docs/file-formats.md); the time is added.
  void record(nlohmann::ordered_json object);
  /// One round: ELBO above a constant rate and validation score, per event (NaN: none).
  void round(std::int64_t round, std::int64_t rounds, double elbo_gain, double validation, std::int64_t best_round);

  /// A pass over this rank's clients begins, as "scores"; every step() says how far it is. Where no line renews itself,
  /// a step writes one if the last is half a minute ago, so that a short pass leaves none.
  void pass(const std::string& what, std::size_t clients);
  void step(std::size_t clients = 1);
  /// The share, in [0, 1], of a long step of one client that is done.
  void within_step(double share);

 private:
  using Clock = std::chrono::steady_clock;

  void say_pass(double share);            ///< of the step that goes on; the pass is done where nothing is left
  void renewed(const std::string& text);  ///< in place of the line above, where that is of its own

  bool speaks_, several_ranks_, renew_, renewable_ = false;
  std::FILE* out_;
  std::shared_ptr<spdlog::logger> log_;
  std::unique_ptr<io::JsonLinesWriter> records_;
  std::int64_t rounds_done_ = 0;
  Clock::time_point start_ = Clock::now();
  struct {
    std::string what;
    std::size_t clients = 0, done = 0;
    Clock::time_point start, said, renewed;
  } pass_;
};

}  // namespace fedpp::federation
