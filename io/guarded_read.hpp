// HDF5 files that carry no seal: HDF5 can crash on a damaged one, hang, or ask for all memory there is. A child process
// reads such a file first, and only what it came through is read here.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "io/hdf5.hpp"

namespace fedpp::io {

/// The sanitizers' shadows take terabytes of addresses, and their allocators end the process where memory does not do.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FEDPP_SANITIZED
#elif defined(__has_feature)  // clang
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FEDPP_SANITIZED
#endif
#endif
#ifdef FEDPP_SANITIZED
inline constexpr bool kMemoryIsLimited = false;
#else
inline constexpr bool kMemoryIsLimited = true;
#endif
#undef FEDPP_SANITIZED

/// What the child may use before its file counts as damaged.
struct TrialLimits {
  std::uint64_t cpu_seconds;  ///< of the processor: waiting is not held against a file
  std::uint64_t seconds;      ///< of the clock
  std::uint64_t bytes;        ///< of memory beyond what the parent has; held where kMemoryIsLimited
};

/// Many times what a whole file of this size takes.
TrialLimits trial_limits(std::uint64_t file_bytes);

/// Reads the file as the caller is going to; must not touch MPI or a device.
using TrialRead = std::function<void(File)>;

/// Has `read` run in a child process. Throws io::Error: what `read` threw there; or, naming `path`, how the child ended
/// before it was done, and `remedy` at the end ("; write it anew").
void try_reading(const std::string& path, const TrialRead& read, const std::string& remedy, const TrialLimits& limits);

/// try_reading() within trial_limits(), then opens for reading. A file that came through before and has not changed
/// since is not tried again by this process.
File open_guarded(const std::string& path, const TrialRead& read, const std::string& remedy);

}  // namespace fedpp::io
