// What the fuzz targets share. A target defines LLVMFuzzerTestOneInput; it ends in a trap where a promise is broken.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace fedpp::fuzz {

/// A file of this process in memory (or /tmp), overwritten by each input: the readers take names, and the suffix is the
/// format.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& suffix) {
    const std::string folder = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    path_ = folder + "/fedpp-fuzz-" + std::to_string(::getpid()) + suffix;
  }
  ~ScratchFile() { std::remove(path_.c_str()); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  const std::string& put(const void* bytes, std::size_t size) {
    std::FILE* file = std::fopen(path_.c_str(), "wb");
    if (!file || std::fwrite(bytes, 1, size, file) != size || std::fclose(file) != 0) std::abort();
    return path_;
  }

 private:
  std::string path_;
};

inline void promise(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

}  // namespace fedpp::fuzz
