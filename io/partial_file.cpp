#include "io/partial_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "io/atomic_file.hpp"
#include "io/open_file.hpp"

namespace fedpp::io {

namespace {

constexpr std::string_view kPartialSuffix = ".partial";

// Names of what a signal leaves unfinished; more than a command writes at once.
std::array<std::atomic<const char*>, 8> unfinished{};
std::atomic<pid_t> owner{0};  // not a child that it forks

void delete_unfinished(int signal) {
  for (const auto& name : unfinished)
    if (const char* path = name; path != nullptr && ::getpid() == owner) ::unlink(path);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

PartialFile::PartialFile(const std::string& path) : path_(path), number_(::getpid()) {
  int fd = -1;
  // Not mkstemp(): others may read the file as the umask says. O_EXCL follows no link, and is one host's or another's.
  while ((fd = ::open(partial_path().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) < 0 && errno == EEXIST)
    ++number_;
  if (fd < 0 && errno == ENOENT)
    throw Error(fmt::format("{}: cannot write: {} (does its folder exist?)", path_, std::strerror(ENOENT)));
  if (fd < 0) fail_by_errno(path_, "cannot write");
  ::close(fd);
  owned_ = std::make_unique<const std::string>(partial_path());
  for (auto& name : unfinished)
    if (const char* none = nullptr; name.compare_exchange_strong(none, owned_->c_str())) break;
}

PartialFile::~PartialFile() {
  if (!owned_) return;
  ::unlink(owned_->c_str());
  disown();
}

void PartialFile::disown() {
  for (auto& name : unfinished)
    if (name == owned_->c_str()) name = nullptr;
  owned_.reset();
}

std::string PartialFile::partial_path() const { return fmt::format("{}.{}{}", path_, number_, kPartialSuffix); }

void PartialFile::append(std::string_view bytes) const {
  OpenFile file(partial_path(), O_WRONLY | O_APPEND, path_);
  file.append(bytes);
  file.close();
}

void PartialFile::commit() {
  assert(owned_);
  OpenFile(partial_path(), O_RDONLY, path_).flush();
  if (std::rename(partial_path().c_str(), path_.c_str()) != 0) fail_by_errno(path_, "cannot be replaced");
  disown();  // from here on the name may be another program's
  OpenFile(folder_of(path_), O_RDONLY).flush();
}

void delete_partial_files_when_killed() {
  owner = ::getpid();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (std::signal(signal, delete_unfinished) == SIG_IGN) std::signal(signal, SIG_IGN);
}

std::optional<std::string> path_of_partial(std::string_view partial_path) {
  if (!partial_path.ends_with(kPartialSuffix)) return std::nullopt;
  partial_path.remove_suffix(kPartialSuffix.size());
  const auto dot = partial_path.find_last_not_of("0123456789");
  const bool numbered = dot != std::string_view::npos && partial_path[dot] == '.' && dot + 1 < partial_path.size();
  return std::string(numbered ? partial_path.substr(0, dot) : partial_path);
}

}  // namespace fedpp::io
