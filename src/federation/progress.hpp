// Progress of a run: a line that renews itself on a terminal, plain lines in a log.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace spdlog {
class logger;
}

namespace fedpp::federation {

class Progress {
 public:
  /// On ranks other than 0, silent. `log`: file that lines are appended to.
  Progress(bool speaks, bool renew, const std::string& log);

  void line(const std::string& text);
  /// One round: ELBO and validation score per event (NaN: none), seconds of the round.
  void round(std::int64_t round, std::int64_t rounds, double elbo, double validation, std::int64_t best_round);

 private:
  bool speaks_, renew_, open_line_ = false;
  std::shared_ptr<spdlog::logger> log_;
  std::int64_t done_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace fedpp::federation
