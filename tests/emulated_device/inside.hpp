// What the parts of the emulated device share, and the sanitizers' entry points, absent where the program has none.
#pragma once

#include <cstddef>

#include "device.hpp"

extern "C" {
[[gnu::weak]] void __asan_poison_memory_region(const volatile void*, std::size_t);
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void*, std::size_t);
[[gnu::weak]] void __sanitizer_start_switch_fiber(void**, const void*, std::size_t);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void*, const void**, std::size_t*);
[[gnu::weak]] void* __tsan_get_current_fiber();
[[gnu::weak]] void* __tsan_create_fiber(unsigned);
[[gnu::weak]] void __tsan_switch_to_fiber(void*, unsigned);
[[gnu::weak]] void __tsan_acquire(void*);
[[gnu::weak]] void __tsan_release(void*);
}

namespace emulated_device {

bool is_device_memory(const void* address);

/// The host's heap and stack cannot be touched by what runs on the device, where nothing else may run meanwhile: a
/// program of one thread without sanitizers, whose memory is elsewhere.
void close_host_memory();
void open_host_memory();
bool is_host_memory(const void* address);

/// What the device is at, for messages.
const char* kernel_name();

}  // namespace emulated_device
