// Calls of malloc and its kin while a function runs.
#pragma once

#include <functional>

namespace fedpp::test {

/// Whether they can be counted: sanitizers bring a malloc of their own.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
inline constexpr bool kCountsMalloc = true;
#else
inline constexpr bool kCountsMalloc = false;
#endif

/// 0 where kCountsMalloc is false.
long counted_mallocs(const std::function<void()>& f);

}  // namespace fedpp::test
