// Arrays that are made together, batch by batch.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gpu/huge_pages.hpp"
#include "gpu/reserve.hpp"

namespace fedpp::gpu {

/// Collects arrays and makes them at once: parts of one allocation that one copy and one fill reach on a device, where
/// each costs microseconds to milliseconds, and which comes from the reserve; an allocation each on a host and
/// under the address sanitizer, which then sees the end of every one.
template <class T>
class ArraySet {
 public:
  /// `to` with the contents of `host`, zeros, or what was there before. All arguments must live until make().
  void upload(const std::string& label, Array<T>& to, const std::vector<T>& host) {
    add(label, to, static_cast<Index>(host.size()), Contents::kHost, &host);
  }
  void zeros(const std::string& label, Array<T>& to, Index n) { add(label, to, n, Contents::kZeros, nullptr); }
  void uninitialised(const std::string& label, Array<T>& to, Index n) { add(label, to, n, Contents::kAny, nullptr); }

  /// Makes what was collected since the last call (synchronous; never inside a local epoch).
  void make(const std::string& label, bool together = kTogether) {
    if (together)
      make_together(label);
    else
      for (const auto& w : wanted_) make_alone(w);
    wanted_.clear();
  }

 private:
#if defined(__SANITIZE_ADDRESS__)
  static constexpr bool kTogether = false;
#else
  static constexpr bool kTogether = !kHostBackend;
#endif
  enum class Contents { kHost, kZeros, kAny };  ///< in the order in which they lie in an allocation
  struct Wanted {
    std::string label;
    Array<T>* to;
    Index n;
    Contents contents;
    const std::vector<T>* host;
  };

  void add(const std::string& label, Array<T>& to, Index n, Contents contents, const std::vector<T>* host) {
    wanted_.push_back({label, &to, n, contents, host});
  }

  static void make_alone(const Wanted& w) {
    const auto n = static_cast<std::size_t>(w.n);
    if (w.contents == Contents::kHost)
      *w.to = to_device<T>(w.label, *w.host);
    else if (w.contents == Contents::kZeros)
      *w.to = Array<T>(w.label, n);
    else {
      *w.to = Array<T>(Kokkos::view_alloc(Kokkos::WithoutInitializing, w.label), n);
      prefer_huge_pages(w.to->data(), n * sizeof(T));
    }
  }

  void make_together(const std::string& label) {
    constexpr Index kAligned = std::max<Index>(1, 256 / sizeof(T));  // where an allocation of CUDA's would begin, too
    std::stable_sort(wanted_.begin(), wanted_.end(),
                     [](const Wanted& a, const Wanted& b) { return a.contents < b.contents; });
    Index total = 0, behind[2] = {0, 0};  // the uploads, and the zeros
    std::vector<Index> begin;
    for (const auto& w : wanted_) {
      begin.push_back(total);
      total += (w.n + kAligned - 1) / kAligned * kAligned;
      if (w.contents == Contents::kHost) behind[0] = total;
      if (w.contents != Contents::kAny) behind[1] = total;
    }
    if (total == 0) {
      for (const auto& w : wanted_) *w.to = {};
      return;
    }
    const Array<T> all = Reserve<T>::take(label, total);
    const auto part = [&](Index first, Index last) {
      return Kokkos::subview(all, std::pair<Index, Index>(first, last));
    };
    std::vector<T> staged(static_cast<std::size_t>(behind[0]));
    for (std::size_t k = 0; k < wanted_.size(); ++k) {
      const auto& w = wanted_[k];
      if (w.contents == Contents::kHost) std::copy(w.host->begin(), w.host->end(), staged.begin() + begin[k]);
      *w.to = part(begin[k], begin[k] + w.n);
    }
    if (!staged.empty()) copy_to<T>(part(0, behind[0]), staged);
    if (behind[1] > behind[0]) Kokkos::deep_copy(part(behind[0], behind[1]), T{});
  }

  std::vector<Wanted> wanted_;
};

}  // namespace fedpp::gpu
