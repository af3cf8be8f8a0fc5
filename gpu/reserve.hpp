// A device's allocations, kept for the next who wants one.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "gpu/kokkos.hpp"

namespace fedpp::gpu {

/// Memory whose holders are gone and which is handed out again. A round's arrays are made anew where its clients are
/// others, with much the same lengths: to allocate and free them takes a device's driver longer than an epoch takes a
/// small rank, and to free waits for all that runs. (A host's allocator does the same by itself: gpu/runtime.cpp.)
template <class T>
class Reserve {
 public:
  /// At least n entries that nobody else holds, and at most twice as many, with what was left in them: the shortest
  /// such allocation, or a new one in place of the longest that is too short, or, where there is no memory for it, of
  /// all of these entries that nobody holds.
  static Array<T> take(const std::string& label, Index n) {
    auto& kept = allocations();
    auto fits = kept.end(), too_short = kept.end();
    for (auto a = kept.begin(); a != kept.end(); ++a) {
      if (a->use_count() > 1) continue;
      const auto length = static_cast<Index>(a->extent(0));
      if (length >= n && length <= 2 * n && (fits == kept.end() || a->extent(0) < fits->extent(0))) fits = a;
      if (length < n && (too_short == kept.end() || a->extent(0) > too_short->extent(0))) too_short = a;
    }
    if (fits != kept.end()) return *fits;
    if (too_short != kept.end()) kept.erase(too_short);
    const auto allocate = [&] {
      kept.emplace_back(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), static_cast<std::size_t>(n));
    };
    try {
      allocate();
    } catch (const std::exception&) {
      drop();
      allocate();
    }
    return kept.back();
  }

  /// Gives back what nobody holds.
  static void drop() {
    std::erase_if(allocations(), [](const Array<T>& a) { return a.use_count() == 1; });
  }

 private:
  /// Emptied when Kokkos ends, which may be after the program's other objects: never destroyed.
  static std::vector<Array<T>>& allocations() {
    static auto& kept = []() -> std::vector<Array<T>>& {
      auto* all = new std::vector<Array<T>>;
      Kokkos::push_finalize_hook([all] { all->clear(); });
      return *all;
    }();
    return kept;
  }
};

}  // namespace fedpp::gpu
