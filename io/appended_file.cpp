#include "io/appended_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "io/open_file.hpp"

namespace fedpp::io {

AppendedFile::AppendedFile(const std::string& path)
    : fd_(open_itself(path, O_RDWR | O_APPEND | O_CREAT)), failed_(fd_ < 0 ? errno : 0) {
  struct stat status{};
  char last = '\n';
  if (fd_ >= 0 && ::fstat(fd_, &status) == 0 && status.st_size > 0 && ::pread(fd_, &last, 1, status.st_size - 1) == 1 &&
      last != '\n')
    append("\n");
}

AppendedFile::~AppendedFile() {
  if (fd_ >= 0) ::close(fd_);
}

int AppendedFile::append(std::string_view lines) const {
  if (fd_ < 0) return failed_;
  while (!lines.empty()) {
    const ssize_t count = ::write(fd_, lines.data(), lines.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    lines.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

}  // namespace fedpp::io
