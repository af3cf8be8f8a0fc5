// Kokkos::View of one dimension on the emulated device, and copies.
#pragma once

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "tools.hpp"

namespace emulated_device {

/// Where memory is.
struct HostSpace {
  static constexpr bool kDevice = false;
  static constexpr const char* name() { return "Host"; }
};
struct DeviceSpace {
  static constexpr bool kDevice = true;
  static constexpr const char* name() { return "EmulatedDevice"; }
};
struct Unmanaged {};

/// An allocation, released with its last view, after all launches that may use it.
class Allocation {
 public:
  Allocation(bool device, const std::string& label, std::size_t bytes);
  ~Allocation();
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;
  void* data() const { return data_; }
  const std::string& label() const { return label_; }

 private:
  bool device_;
  std::string label_;
  std::size_t bytes_;
  void* data_;
};

/// Copies of views hold their allocation, but those among a launch's arguments do not.
extern bool views_hold;

struct WithoutInitializing {};
struct ViewProperties {
  std::string label;
  bool zeros = true;
};

template <class Data, class Space = DeviceSpace, class Holding = void>
class View;

template <class T, class Space, class Holding>
class View<T*, Space, Holding> {
 public:
  using value_type = T;
  using memory_space = Space;

  View() = default;
  View(T* data, std::size_t n) : data_(data), n_(n) {}
  explicit View(const std::string& label, std::size_t n) : View(ViewProperties{label, true}, n) {}
  View(const ViewProperties& properties, std::size_t n)
      : owner_(std::make_shared<Allocation>(Space::kDevice, properties.label, n * sizeof(T))),
        data_(static_cast<T*>(owner_->data())),
        n_(n) {
    if (!properties.zeros || n == 0) return;
    const HostAccess access;
    std::memset(static_cast<void*>(data_), 0, n * sizeof(T));
  }
  View(const View& other) : owner_(owner_of(other)), data_(other.data_), n_(other.n_) {}
  View(View&&) = default;
  View& operator=(const View& other) { return *this = View(other); }
  View& operator=(View&&) = default;
  /// Of the same memory: numbers become constant, an owner becomes none.
  template <class U, class H>
    requires(std::is_same_v<const U, T> || (std::is_same_v<U, T> && !std::is_same_v<H, Holding>))
  View(const View<U*, Space, H>& other)  // NOLINT: a conversion, as Kokkos has it
      : owner_(owner_of(other)), data_(other.data()), n_(other.extent(0)) {}
  /// A part of another.
  View(const View& all, std::size_t begin, std::size_t end)
      : owner_(owner_of(all)), data_(all.data_ + begin), n_(end - begin) {}

  T* data() const { return data_; }
  std::size_t extent(int) const { return n_; }
  std::size_t size() const { return n_; }
  int use_count() const { return static_cast<int>(owner_.use_count()); }
  std::string label() const { return owner_ ? owner_->label() : ""; }
  const std::shared_ptr<Allocation>& owner() const { return owner_; }
  template <class I>
  T& operator()(I i) const {
    if (static_cast<std::size_t>(i) >= n_) fail("reads or writes beyond an array");
    if (in_kernel() != Space::kDevice)
      fail(in_kernel() ? "reads a host's array" : "host code reads an array of the device");
    return data_[i];
  }
  template <class I>
  T& operator[](I i) const {
    return (*this)(i);
  }

 private:
  template <class Other>
  static std::shared_ptr<Allocation> owner_of(const Other& other) {
    if (in_kernel()) fail("copies an array's handle, which hosts count");
    return views_hold ? other.owner() : nullptr;
  }

  std::shared_ptr<Allocation> owner_;
  T* data_ = nullptr;
  std::size_t n_ = 0;
};

/// One at a time, after all launches.
void copy(const char* to_space, const std::string& to_label, void* to, const char* from_space,
          const std::string& from_label, const void* from, std::size_t bytes);
/// Within the device, in the order of the launches.
void copy_later(const std::string& to_label, void* to, const std::string& from_label, const void* from,
                std::size_t bytes);

template <class T, class To, class H, class U, class From, class I>
void deep_copy(const View<T*, To, H>& to, const View<U*, From, I>& from) {
  static_assert(std::is_same_v<T, std::remove_const_t<U>>);
  if (to.extent(0) != from.extent(0)) throw std::runtime_error("deep_copy of arrays of different lengths");
  copy(To::name(), to.label(), to.data(), From::name(), from.label(), from.data(), from.extent(0) * sizeof(T));
}
template <class Exec, class T, class H, class U, class I>
void deep_copy(const Exec&, const View<T*, DeviceSpace, H>& to, const View<U*, DeviceSpace, I>& from) {
  static_assert(std::is_same_v<T, std::remove_const_t<U>>);
  if (to.extent(0) != from.extent(0)) throw std::runtime_error("deep_copy of arrays of different lengths");
  copy_later(to.label(), to.data(), from.label(), from.data(), from.extent(0) * sizeof(T));
}
inline constexpr std::size_t kMostFilled = 512;  ///< bytes of a value

/// A value everywhere, as a copy of nothing to Kokkos' tools.
void fill(const std::string& label, void* to, const void* value, std::size_t bytes, std::size_t n);
void fill_later(const std::string& label, void* to, const void* value, std::size_t bytes, std::size_t n);
template <class T, class To, class H>
void deep_copy(const View<T*, To, H>& to, const std::type_identity_t<T>& value) {
  static_assert(sizeof(T) <= kMostFilled);
  fill(to.label(), to.data(), &value, sizeof(T), to.extent(0));
}
template <class Exec, class T, class H>
void deep_copy(const Exec&, const View<T*, DeviceSpace, H>& to, const std::type_identity_t<T>& value) {
  static_assert(sizeof(T) <= kMostFilled);
  fill_later(to.label(), to.data(), &value, sizeof(T), to.extent(0));
}

}  // namespace emulated_device
