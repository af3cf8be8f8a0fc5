// A source of its own, for the host's compiler alone: nvcc takes no other definition of malloc.
#include "counted_malloc.hpp"

#include <atomic>
#include <cstdlib>

namespace {

std::atomic<long> allocations{0};
std::atomic<bool> counting{false};

}  // namespace

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

// operator new ends here, too.
void* malloc(std::size_t size) {
  if (counting) ++allocations;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  if (counting) ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  if (counting) ++allocations;
  return __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  if (counting) ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
  if (counting) ++allocations;
  *out = __libc_memalign(alignment, size);
  return *out == nullptr;
}
}
#endif

namespace fedpp::test {

long counted_mallocs(const std::function<void()>& f) {
  allocations = 0;
  counting = true;
  f();
  counting = false;
  return allocations;
}

}  // namespace fedpp::test
