// Device memory: pages that nobody can touch but kernels and copies. Compiled without sanitizers.
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <new>

#include "inside.hpp"

namespace emulated_device {

namespace {

constexpr std::size_t kAligned = 256,
                      kPage = 2 << 20;  // a large page: each is walked through at every change of protection

struct Memory {
  char* begin;
  std::size_t limit = kMemory, touched = 0;   ///< bytes from the beginning that were ever handed out
  std::map<std::size_t, std::size_t> blocks;  ///< offset: bytes
  std::size_t taken = 0, peak = 0;            ///< in all blocks
  int open = 0;

  Memory() {
    void* pages = mmap(nullptr, kMemory + kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    begin = reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(pages) + kPage - 1) / kPage * kPage);
    madvise(begin, kMemory, MADV_HUGEPAGE);
  }
  void protect(int protection) {
    if (touched > 0) mprotect(begin, touched, protection);
  }
};

Memory& memory() {
  static auto* all = new Memory;  // views may end after it would
  return *all;
}

/// What lies between blocks, and what was released, the address sanitizer guards.
void guard(void* from, std::size_t bytes, bool on) {
  if (on && __asan_poison_memory_region) __asan_poison_memory_region(from, bytes);
  if (!on && __asan_unpoison_memory_region) __asan_unpoison_memory_region(from, bytes);
}

}  // namespace

bool is_device_memory(const void* address) {
  const auto* at = static_cast<const char*>(address);
  return at >= memory().begin && at < memory().begin + kMemory;
}

void* allocate(std::size_t bytes) {
  auto& m = memory();
  const std::size_t length =
      (bytes + 2 * kAligned - 1) / kAligned * kAligned;  // 256 bytes and more behind it are guarded
  std::size_t at = 0;
  for (const auto& [offset, taken] : m.blocks) {
    if (at + length <= offset) break;
    at = offset + taken;
  }
  if (at + length > m.limit) throw std::bad_alloc();
  m.blocks[at] = length;
  m.peak = std::max(m.peak, m.taken += length);
  const std::size_t end = (at + length + kPage - 1) / kPage * kPage;
  if (end > m.touched) {
    if (m.open > 0) mprotect(m.begin + m.touched, end - m.touched, PROT_READ | PROT_WRITE);
    guard(m.begin + m.touched, end - m.touched, true);
    m.touched = end;
  }
  const HostAccess access;
  guard(m.begin + at, length, false);
  std::memset(m.begin + at, 0xff, length);
  guard(m.begin + at + bytes, length - bytes, true);
  return m.begin + at;
}

void release(void* address) {
  auto& m = memory();
  const auto block = m.blocks.find(static_cast<std::size_t>(static_cast<char*>(address) - m.begin));
  guard(address, block->second, true);
  m.taken -= block->second;
  m.blocks.erase(block);
  // Pages behind the last block go back.
  const auto last = m.blocks.rbegin();
  const std::size_t end = last == m.blocks.rend() ? 0 : (last->first + last->second + kPage - 1) / kPage * kPage;
  if (end < m.touched) {
    madvise(m.begin + end, m.touched - end, MADV_DONTNEED);
    mprotect(m.begin + end, m.touched - end, PROT_NONE);
    m.touched = end;
  }
}

std::size_t peak_memory() { return memory().peak; }

void limit_memory(std::size_t bytes) { memory().limit = bytes; }

HostAccess::HostAccess() {
  if (memory().open++ == 0) memory().protect(PROT_READ | PROT_WRITE);
}
HostAccess::~HostAccess() {
  if (--memory().open == 0) memory().protect(PROT_NONE);
}

}  // namespace emulated_device
