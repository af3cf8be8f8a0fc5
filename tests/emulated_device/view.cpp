#include "view.hpp"

#include <cstdio>
#include <cstdlib>

namespace emulated_device {

EventSet callbacks;
bool views_hold = true;

SpaceHandle handle(const char* space) {
  SpaceHandle result;
  std::snprintf(result.name, sizeof result.name, "%s", space);
  return result;
}

namespace {
const char* space(bool device) { return device ? DeviceSpace::name() : HostSpace::name(); }
}  // namespace

Allocation::Allocation(bool device, const std::string& label, std::size_t bytes)
    : device_(device), label_(label), bytes_(bytes), data_(nullptr) {
  if (in_kernel()) fail("allocates");
  if (bytes > 0) data_ = device ? allocate(bytes) : std::malloc(bytes);
  if (callbacks.allocate_data) callbacks.allocate_data(handle(space(device)), label_.c_str(), data_, bytes);
}

Allocation::~Allocation() {
  finish();
  if (callbacks.deallocate_data) callbacks.deallocate_data(handle(space(device_)), label_.c_str(), data_, bytes_);
  if (!data_) return;
  if (device_)
    release(data_);
  else
    std::free(data_);
}

void copy(const char* to_space, const std::string& to_label, void* to, const char* from_space,
          const std::string& from_label, const void* from, std::size_t bytes) {
  if (callbacks.begin_deep_copy)
    callbacks.begin_deep_copy(handle(to_space), to_label.c_str(), to, handle(from_space), from_label.c_str(), from,
                              bytes);
  finish();
  if (bytes > 0) {
    const HostAccess access;
    std::memcpy(to, from, bytes);
  }
  if (callbacks.end_deep_copy) callbacks.end_deep_copy();
}

namespace {
struct CopyLaunch final : Launch {
  CopyLaunch(const std::string& label, void* t, const void* f, std::size_t n)
      : Launch(label), to(t), from(f), bytes(n) {}
  void run() const override { std::memcpy(to, from, bytes); }
  void* to;
  const void* from;
  std::size_t bytes;
};
}  // namespace

void copy_later(const std::string& to_label, void* to, const std::string& from_label, const void* from,
                std::size_t bytes) {
  if (callbacks.begin_deep_copy)
    callbacks.begin_deep_copy(handle(space(true)), to_label.c_str(), to, handle(space(true)), from_label.c_str(), from,
                              bytes);
  if (bytes > 0) enqueue(new (room(sizeof(CopyLaunch))) CopyLaunch(to_label, to, from, bytes));
  if (callbacks.end_deep_copy) callbacks.end_deep_copy();
}

}  // namespace emulated_device
