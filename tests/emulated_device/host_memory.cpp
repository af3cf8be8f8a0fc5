// Keeps kernels from the host's memory, and says who touched what he must not. Compiled without sanitizers.
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "inside.hpp"

namespace emulated_device {

namespace {

constexpr std::uintptr_t kPage = 4096;

struct Range {
  std::uintptr_t begin = 0, end = 0;
  bool holds(std::uintptr_t at) const { return at >= begin && at < end; }
  void protect(int protection) const {
    if (begin < end) mprotect(reinterpret_cast<void*>(begin), end - begin, protection);
  }
};

/// A part of the process' memory by its name in /proc.
Range part(const std::string& name) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    Range range;
    if (line.ends_with(name) && std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR, &range.begin, &range.end) == 2)
      return range;
  }
  return {};
}

Range heap, stack, closed_heap, closed_stack;

bool alone() {
  struct stat tasks;
  return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3;  // ".", ".." and one thread
}

void say(const char* text) { [[maybe_unused]] const auto written = write(STDERR_FILENO, text, std::strlen(text)); }

void on_fault(int number, siginfo_t* info, void*) {
  const bool host = is_host_memory(info->si_addr);
  open_host_memory();
  if (host) {
    say("emulated device: the kernel ");
    say(kernel_name());
    say(" touched host memory\n");
    std::abort();  // where the access would succeed now
  } else if (is_device_memory(info->si_addr) && !in_kernel()) {
    say("emulated device: host code touched device memory outside a copy\n");
  }
  signal(number, SIG_DFL);  // and again, for a debugger
}

char signal_stack[1 << 16];

const bool ready = [] {
  if (__asan_poison_memory_region || __tsan_acquire) return true;  // they report faults themselves
  stack_t place = {};
  place.ss_sp = signal_stack;
  place.ss_size = sizeof signal_stack;
  sigaltstack(&place, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, nullptr);
  return true;
}();

}  // namespace

void close_host_memory() {
  if (__asan_poison_memory_region || __tsan_acquire || !alone()) return;
  if (stack.end == 0) {
    heap = part("[heap]");
    stack = part("[stack]");
  }
  closed_heap = {heap.begin, reinterpret_cast<std::uintptr_t>(sbrk(0)) / kPage * kPage};
  closed_stack = stack;
  closed_heap.protect(PROT_NONE);
  closed_stack.protect(PROT_NONE);
}

void open_host_memory() {
  closed_heap.protect(PROT_READ | PROT_WRITE);
  closed_stack.protect(PROT_READ | PROT_WRITE);
  closed_heap = closed_stack = {};
}

bool is_host_memory(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return closed_heap.holds(at) || closed_stack.holds(at);
}

}  // namespace emulated_device
