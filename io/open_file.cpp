#include "io/open_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace fedpp::io {

void fail_by_errno(const std::string& name, const std::string& what) {
  const int code = errno;
  throw Error(fmt::format("{}: {}: {}{}", name, what, std::strerror(code), remedy_of(code)));
}

int open_itself(const std::string& path, int flags) {
  constexpr const char* kRemedy = "take it away, or choose another folder with --out";
  // O_NONBLOCK: a pipe would wait for its other end.
  const int fd = ::open(path.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
  if (fd < 0 && errno == ELOOP)
    throw Error(fmt::format("{}: is a symbolic link, to which nothing is written: {}", path, kRemedy));
  struct stat status{};
  const bool regular =
      fd < 0 ? errno != EISDIR && errno != ENXIO : ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  if (regular) return fd;
  if (fd >= 0) ::close(fd);
  throw Error(fmt::format("{}: is no regular file: {}", path, kRemedy));
}

OpenFile::OpenFile(const std::string& path, int flags, std::string name)
    : name_(std::move(name)), fd_(::open(path.c_str(), flags | O_NONBLOCK | O_CLOEXEC)) {  // a pipe would wait
  if (fd_ < 0) fail_by_errno(name_, "cannot open");
}

OpenFile::~OpenFile() {
  if (fd_ >= 0) ::close(fd_);
}

std::uint64_t OpenFile::size() const {
  struct stat status{};
  if (::fstat(fd_, &status) != 0) fail_by_errno(name_, "cannot read");
  if (!S_ISREG(status.st_mode)) throw Error(name_ + ": is no regular file");
  return static_cast<std::uint64_t>(status.st_size);
}

std::size_t OpenFile::read(std::uint64_t offset, char* out, std::size_t size) const {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count = ::pread(fd_, out + done, size - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_by_errno(name_, "cannot read");
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

void OpenFile::write(std::uint64_t offset, std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_by_errno(name_, "cannot write");
    bytes.remove_prefix(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
}

void OpenFile::append(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_by_errno(name_, "cannot write");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void OpenFile::flush() const {
  if (::fsync(fd_) != 0 && errno != EINVAL) fail_by_errno(name_, "cannot flush to disk");
}

void OpenFile::close() {
  if (::close(std::exchange(fd_, -1)) != 0) fail_by_errno(name_, "cannot write");
}

}  // namespace fedpp::io
