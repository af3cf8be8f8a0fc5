#include "view.hpp"

#include <cstdio>
#include <cstdlib>
#include <new>

#include "inside.hpp"

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

struct FillLaunch final : Launch {
  FillLaunch(const std::string& label, void* t, const void* v, std::size_t b, std::size_t k)
      : Launch(label), to(static_cast<char*>(t)), bytes(b), n(k) {
    std::memcpy(value, v, bytes);
  }
  void run() const override {
    for (std::size_t i = 0; i < n; ++i) std::memcpy(to + i * bytes, value, bytes);
  }
  char* to;
  std::size_t bytes, n;
  char value[kMostFilled];
};

/// Tells the tools of a copy and has `launch` wait.
template <class L, class... A>
void copy_by(const std::string& label, void* to, const std::string& from_label, const void* from, std::size_t bytes,
             const A&... arguments) {
  if (callbacks.begin_deep_copy)
    callbacks.begin_deep_copy(handle(space(true)), label.c_str(), to, handle(space(true)), from_label.c_str(), from,
                              bytes);
  if (bytes > 0) enqueue(new (room(sizeof(L))) L(label, arguments...));
  if (callbacks.end_deep_copy) callbacks.end_deep_copy();
}

}  // namespace

void copy_later(const std::string& to_label, void* to, const std::string& from_label, const void* from,
                std::size_t bytes) {
  copy_by<CopyLaunch>(to_label, to, from_label, from, bytes, to, from, bytes);
}
void fill_later(const std::string& label, void* to, const void* value, std::size_t bytes, std::size_t n) {
  copy_by<FillLaunch>(label, to, "Scalar", nullptr, bytes * n, to, value, bytes, n);
}
void fill(const std::string& label, void* to, const void* value, std::size_t bytes, std::size_t n) {
  if (!is_device_memory(to)) {
    finish();
    for (std::size_t i = 0; i < n; ++i) std::memcpy(static_cast<char*>(to) + i * bytes, value, bytes);
    return;
  }
  fill_later(label, to, value, bytes, n);
  finish();
}

}  // namespace emulated_device
