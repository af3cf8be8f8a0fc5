#include "io/partial_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "io/atomic_file.hpp"
#include "io/open_file.hpp"

namespace fedpp::io {

namespace {

constexpr std::string_view kPartialSuffix = ".partial";

/// Of a file in the place of what is at `path`: it stays closed to those whom a file there is closed to, besides those
/// whom the umask keeps out. Its owner writes to it.
mode_t mode_in_place_of(const std::string& path) {
  struct stat status{};
  const bool replaces = ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
  return replaces ? (status.st_mode & 0777) | 0600 : 0666;
}

}  // namespace

PartialFile::PartialFile(const std::string& path) : path_(path), number_(::getpid()) {
  const SignalsWait until_it_is_known;
  const mode_t mode = mode_in_place_of(path_);
  int fd = -1;
  // Not mkstemp(): others may read the file as `mode` and the umask say. O_EXCL follows no link, and is one host's or
  // another's.
  while ((fd = ::open(partial_path().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)) < 0 && errno == EEXIST)
    ++number_;
  if (fd < 0 && errno == ENOENT)
    throw Error(fmt::format("{}: cannot write: {} (does its folder exist?)", path_, std::strerror(ENOENT)));
  if (fd < 0) fail_by_errno(path_, "cannot write");
  ::close(fd);
  owned_.emplace(partial_path());
}

PartialFile::~PartialFile() {
  if (owned_) ::unlink(partial_path().c_str());
}

std::string PartialFile::partial_path() const { return fmt::format("{}.{}{}", path_, number_, kPartialSuffix); }

void PartialFile::append(std::string_view bytes) const {
  OpenFile file(partial_path(), O_WRONLY | O_APPEND, path_);
  file.append(bytes);
  file.close();
}

void PartialFile::flush() const { OpenFile(partial_path(), O_RDONLY, path_).flush(); }

void PartialFile::commit() {
  assert(owned_);
  flush();
  if (std::rename(partial_path().c_str(), path_.c_str()) != 0) fail_by_errno(path_, "cannot be replaced");
  owned_.reset();  // from here on the name may be another program's
  OpenFile(folder_of(path_), O_RDONLY).flush();
}

std::optional<std::string> path_of_partial(std::string_view partial_path) {
  if (!partial_path.ends_with(kPartialSuffix)) return std::nullopt;
  partial_path.remove_suffix(kPartialSuffix.size());
  const auto dot = partial_path.find_last_not_of("0123456789");
  const bool numbered = dot != std::string_view::npos && partial_path[dot] == '.' && dot + 1 < partial_path.size();
  return std::string(numbered ? partial_path.substr(0, dot) : partial_path);
}

}  // namespace fedpp::io
