// Seconds per phase of a run on this rank; every phase is a region of the profilers, too.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "gpu/region.hpp"

namespace fedpp::federation {

class Phases {
 public:
  /// Runs f and adds its time to the phase.
  template <class F>
  decltype(auto) time(const std::string& phase, F&& f) {
    struct Stop {
      double& seconds;
      std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
      ~Stop() { seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); }
    } stop{seconds_[phase]};
    const gpu::Region region(phase.c_str());
    return std::forward<F>(f)();
  }
  const std::map<std::string, double>& seconds() const { return seconds_; }

 private:
  std::map<std::string, double> seconds_;
};

}  // namespace fedpp::federation
