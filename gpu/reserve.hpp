// A device's allocations, kept for the next who wants one.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "gpu/kokkos.hpp"

namespace fedpp::gpu {

/// Memory whose holders are gone and which is handed out again. A round's arrays are made anew in every round, with
/// much the same lengths: to allocate and free them takes a device's driver longer than an epoch takes a small rank,
/// and to free waits for all that runs. (A host's allocator does the same by itself: gpu/runtime.cpp.)
template <class T>
class Reserve {
 public:
  /// At least n entries that nobody else holds, with what was left in them: the shortest such allocation, or a new one
  /// in place of the longest that is too short, so that there are never more than were held at a time.
  static Array<T> take(const std::string& label, Index n) {
    auto& kept = allocations();
    auto fits = kept.end(), too_short = kept.end();
    for (auto a = kept.begin(); a != kept.end(); ++a) {
      if (a->use_count() > 1) continue;
      const auto length = a->extent(0);
      if (static_cast<Index>(length) >= n) {
        if (fits == kept.end() || length < fits->extent(0)) fits = a;
      } else if (too_short == kept.end() || length > too_short->extent(0)) {
        too_short = a;
      }
    }
    if (fits != kept.end()) return *fits;
    if (too_short != kept.end()) kept.erase(too_short);
    kept.emplace_back(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), static_cast<std::size_t>(n));
    return kept.back();
  }

 private:
  static std::vector<Array<T>>& allocations() {
    static std::vector<Array<T>> kept;
    [[maybe_unused]] static const bool released_in_time = [] {
      Kokkos::push_finalize_hook([] { kept.clear(); });
      return true;
    }();
    return kept;
  }
};

}  // namespace fedpp::gpu
