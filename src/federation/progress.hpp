// Progress of a run: a line that renews itself on a terminal, plain lines in a log.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace spdlog {
class logger;
}
namespace fedpp::io {
class JsonLinesWriter;
}

namespace fedpp::federation {

class Progress {
 public:
  /// On ranks other than 0, silent. Lines are appended to DIRECTORY/train.log, records to DIRECTORY/status.jsonl.
  Progress(bool speaks, bool renew, const std::string& directory);
  ~Progress();

  void line(const std::string& text);
  /// For the log alone.
  void note(const std::string& text);
  /// For 'fedpp status': one object with "event" and what belongs to it (docs/file-formats.md); the time is added.
  void record(nlohmann::ordered_json object);
  /// One round: ELBO above a constant rate and validation score, per event (NaN: none).
  void round(std::int64_t round, std::int64_t rounds, double elbo_gain, double validation, std::int64_t best_round);

 private:
  bool speaks_, renew_, open_line_ = false;
  std::shared_ptr<spdlog::logger> log_;
  std::unique_ptr<io::JsonLinesWriter> records_;
  std::int64_t done_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace fedpp::federation
