#include <cstdlib>
#include <fstream>
#include <vector>

#include "Kokkos_Core.hpp"

void emulated_device::fence(const char* name) {
  std::uint64_t id = 0;
  if (callbacks.begin_fence) callbacks.begin_fence(name, 0, &id);
  finish();
  if (callbacks.end_fence) callbacks.end_fence(id);
}

namespace Kokkos {

namespace {
bool initialized = false;
std::vector<std::function<void()>> hooks;
}  // namespace

void initialize(const InitializationSettings&) { initialized = true; }
bool is_initialized() { return initialized; }
void finalize() {
  device::finish();
  for (auto hook = hooks.rbegin(); hook != hooks.rend(); ++hook) (*hook)();
  hooks.clear();
  initialized = false;
  if (const char* file = std::getenv("EMULATED_DEVICE_PEAK")) std::ofstream(file) << device::peak_memory() << '\n';
}
void push_finalize_hook(std::function<void()> hook) { hooks.push_back(std::move(hook)); }

}  // namespace Kokkos
