#include "io/directory_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "io/error.hpp"
#include "io/open_file.hpp"
#include "io/shown.hpp"

namespace fedpp::io {

namespace {

std::string lock_path(const std::string& directory) { return directory + "/train.lock"; }

struct flock whole_file(short type) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

constexpr std::size_t kLongestLine = 300;

/// The first line, of at most so many bytes, visible.
std::string first_line(int fd) {
  char text[kLongestLine];
  const ssize_t count = ::pread(fd, text, sizeof text, 0);
  const std::string line(text, count > 0 ? static_cast<std::size_t>(count) : 0);
  return visible(line.substr(0, line.find('\n')));
}

/// Whether `fd` is still the file of that name: its last holder may have taken it away before we had the lock.
bool is_at(int fd, const std::string& path) {
  struct stat opened{}, named{};
  return ::fstat(fd, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

}  // namespace

DirectoryLock::DirectoryLock(const std::string& directory, const std::string& holder) : path_(lock_path(directory)) {
  while (fd_ < 0) {
    fd_ = open_itself(path_, O_RDWR | O_CREAT);
    if (fd_ < 0) throw Error(fmt::format("{}: cannot be made: {}", path_, std::strerror(errno)));
    auto lock = whole_file(F_WRLCK);
    if (::fcntl(fd_, F_SETLK, &lock) != 0) {
      const int code = errno;
      const std::string other = first_line(fd_);
      if (code == EACCES || code == EAGAIN) {
        ::close(fd_);
        throw DirectoryInUse(
            fmt::format("{} is in use by another run ({}): wait for its end, or choose another folder with --out",
                        directory, other.empty() ? "it has not said which" : other));
      }
      effective_ = false;  // ENOLCK, ENOTSUP, EINVAL: the file system has no locks
    }
    if (!is_at(fd_, path_)) {
      ::close(fd_);
      fd_ = -1;
    }
  }
  // For readers only; what matters is the lock.
  const std::string line = holder + "\n";
  if (::ftruncate(fd_, 0) != 0 || ::pwrite(fd_, line.data(), line.size(), 0) < 0) return;
}

DirectoryLock::~DirectoryLock() {
  ::unlink(path_.c_str());
  ::close(fd_);
}

std::optional<std::string> lock_holder(const std::string& directory) {
  const int fd = open_itself(lock_path(directory), O_RDONLY);
  if (fd < 0) return std::nullopt;
  auto lock = whole_file(F_WRLCK);
  const bool locked = ::fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  auto line = first_line(fd);
  ::close(fd);
  return locked ? std::optional(std::move(line)) : std::nullopt;
}

bool shows_lock_of(const std::string& holder, const std::string& directory) {
  const int fd = open_itself(lock_path(directory), O_RDONLY);
  if (fd < 0) return false;
  const auto line = first_line(fd);
  ::close(fd);
  return line.empty() || line == visible(holder.substr(0, kLongestLine));
}

}  // namespace fedpp::io
