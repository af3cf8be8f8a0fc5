// Kokkos' callbacks for profilers, as far as they are told of the emulated device.
#pragma once

#include <cstdint>

#include "device.hpp"

namespace emulated_device {

struct SpaceHandle {
  char name[64];
};

struct EventSet {
  void (*begin_parallel_for)(const char*, std::uint32_t, std::uint64_t*) = nullptr;
  void (*end_parallel_for)(std::uint64_t) = nullptr;
  void (*begin_parallel_reduce)(const char*, std::uint32_t, std::uint64_t*) = nullptr;
  void (*end_parallel_reduce)(std::uint64_t) = nullptr;
  void (*begin_parallel_scan)(const char*, std::uint32_t, std::uint64_t*) = nullptr;
  void (*end_parallel_scan)(std::uint64_t) = nullptr;
  void (*push_region)(const char*) = nullptr;
  void (*pop_region)() = nullptr;
  void (*allocate_data)(SpaceHandle, const char*, const void*, std::uint64_t) = nullptr;
  void (*deallocate_data)(SpaceHandle, const char*, const void*, std::uint64_t) = nullptr;
  void (*begin_deep_copy)(SpaceHandle, const char*, const void*, SpaceHandle, const char*, const void*,
                          std::uint64_t) = nullptr;
  void (*end_deep_copy)() = nullptr;
  void (*begin_fence)(const char*, std::uint32_t, std::uint64_t*) = nullptr;
  void (*end_fence)(std::uint64_t) = nullptr;
};

extern EventSet callbacks;
SpaceHandle handle(const char* space);

/// Ends what was launched, as callers ask for: with the callbacks.
void fence(const char* name);

}  // namespace emulated_device
