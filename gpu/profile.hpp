// Where the time goes, without any tool: the regions and kernels that a profiler would see, by nesting.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fedpp::gpu {

/// One region, kernel or copy within what was open around it.
struct ProfileEntry {
  std::vector<std::string> path;  ///< names from the outermost; the last one is its own
  double seconds = 0;             ///< wall time, with all that is inside
  std::int64_t calls = 0;
};

/// From construction to destruction Kokkos' callbacks are counted; a tool that was loaded goes on receiving them. One
/// object at a time, between Kokkos' initialisation and its end. On a device every kernel is waited for, so that its
/// time is its own: launches then no longer overlap.
class Profile {
 public:
  Profile();
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  /// What is closed, depth first, in the order of first appearance.
  std::vector<ProfileEntry> entries() const;
};

}  // namespace fedpp::gpu
