#include "gpu/profile.hpp"

#include <chrono>
#include <cstddef>
#include <optional>

#include "gpu/kokkos.hpp"

namespace fedpp::gpu {

namespace {

namespace tools = Kokkos::Tools::Experimental;
using Clock = std::chrono::steady_clock;

/// The tree of what was seen, and where in it the program is.
struct Recorder {
  struct Node {
    std::string name;
    std::size_t parent = 0;
    std::vector<std::size_t> children;
    double seconds = 0;
    std::int64_t calls = 0;
    Clock::time_point start;
  };
  std::vector<Node> nodes{{}};
  std::size_t here = 0;
  tools::EventSet before;

  void open(const char* name) {
    std::size_t node = 0;
    for (const auto child : nodes[here].children)
      if (nodes[child].name == name) node = child;
    if (node == 0) {
      node = nodes.size();
      nodes[here].children.push_back(node);
      nodes.push_back({name, here, {}, 0, 0, {}});
    }
    here = node;
    nodes[here].start = Clock::now();
  }
  void close() {
    if (here == 0) return;  // opened before the profile was
    auto& node = nodes[here];
    node.seconds += std::chrono::duration<double>(Clock::now() - node.start).count();
    ++node.calls;
    here = node.parent;
  }
  void collect(std::size_t node, std::vector<std::string>& path, std::vector<ProfileEntry>& out) const {
    for (const auto child : nodes[node].children) {
      path.push_back(nodes[child].name);
      out.push_back({path, nodes[child].seconds, nodes[child].calls});
      collect(child, path, out);
      path.pop_back();
    }
  }
};

std::optional<Recorder> recorder;

/// Callbacks of one kind of kernel, which pass on to the tool that was there before.
#define FEDPP_PROFILE_KERNEL(kind)                                                                    \
  void begin_##kind(const char* name, const std::uint32_t device, std::uint64_t* id) {                \
    if (recorder->before.begin_parallel_##kind != nullptr)                                            \
      (*recorder->before.begin_parallel_##kind)(name, device, id);                                    \
    else                                                                                              \
      *id = 0;                                                                                        \
    recorder->open(name);                                                                             \
  }                                                                                                   \
  void end_##kind(const std::uint64_t id) {                                                           \
    if constexpr (!kHostBackend) Exec().fence();                                                      \
    recorder->close();                                                                                \
    if (recorder->before.end_parallel_##kind != nullptr) (*recorder->before.end_parallel_##kind)(id); \
  }
FEDPP_PROFILE_KERNEL(for)
FEDPP_PROFILE_KERNEL(reduce)
FEDPP_PROFILE_KERNEL(scan)
#undef FEDPP_PROFILE_KERNEL

}  // namespace

Profile::Profile() {
  recorder.emplace();
  recorder->before = tools::get_callbacks();
  tools::set_begin_parallel_for_callback(begin_for);
  tools::set_end_parallel_for_callback(end_for);
  tools::set_begin_parallel_reduce_callback(begin_reduce);
  tools::set_end_parallel_reduce_callback(end_reduce);
  tools::set_begin_parallel_scan_callback(begin_scan);
  tools::set_end_parallel_scan_callback(end_scan);
  tools::set_push_region_callback([](const char* name) {
    if (recorder->before.push_region != nullptr) (*recorder->before.push_region)(name);
    recorder->open(name);
  });
  tools::set_pop_region_callback([] {
    recorder->close();
    if (recorder->before.pop_region != nullptr) (*recorder->before.pop_region)();
  });
  tools::set_begin_deep_copy_callback([](auto to, const char* to_name, const void* to_data, auto from,
                                         const char* from_name, const void* from_data, std::uint64_t bytes) {
    if (recorder->before.begin_deep_copy != nullptr)
      (*recorder->before.begin_deep_copy)(to, to_name, to_data, from, from_name, from_data, bytes);
    recorder->open("copies");
  });
  tools::set_end_deep_copy_callback([] {
    recorder->close();
    if (recorder->before.end_deep_copy != nullptr) (*recorder->before.end_deep_copy)();
  });
}

Profile::~Profile() {
  tools::set_callbacks(recorder->before);
  recorder.reset();
}

std::vector<ProfileEntry> Profile::entries() const {
  std::vector<ProfileEntry> all;
  std::vector<std::string> path;
  recorder->collect(0, path, all);
  return all;
}

}  // namespace fedpp::gpu
