#include "io/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace fedpp::io {

namespace {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  /// Closing can report a write that failed late (network file systems).
  bool close() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd) == 0;
  }

 private:
  int fd_;
};

[[noreturn]] void fail(const std::string& path, const char* what) {
  const int code = errno;
  const char* remedy = code == ENOENT ? " (does its folder exist?)" : remedy_of(code);
  throw Error(fmt::format("{}: {}: {}{}", path, what, std::strerror(code), remedy));
}

/// A rename puts a new file in the place of whatever is there: right for files alone.
void require_replaceable(const std::string& path) {
  std::error_code unknown;
  const auto type = std::filesystem::symlink_status(path, unknown).type();
  using std::filesystem::file_type;
  if (type == file_type::directory) throw Error(fmt::format("{}: is a folder: name a file to write", path));
  if (type == file_type::symlink)
    throw Error(fmt::format("{}: is a symbolic link, which the result would replace: name the file itself", path));
  if (type == file_type::block || type == file_type::character || type == file_type::fifo || type == file_type::socket)
    throw Error(fmt::format("{}: is a device, pipe or socket, which the result would replace: name a file", path));
}

template <class Json>
void write_any_json(const std::string& path, const Json& value) {
  write_file(path, value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

void flush_to_disk(const std::string& path) {
  Descriptor file(path, O_RDONLY);
  if (file.get() < 0) fail(path, "cannot open");
  // Some file systems cannot flush folders and say EINVAL; the rename is then as durable as they make it.
  if (::fsync(file.get()) != 0 && errno != EINVAL) fail(path, "cannot flush to disk");
}

void rename_durably(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) fail(to, fmt::format("cannot rename {} to it", from).c_str());
  flush_to_disk(folder_of(to));
}

void check_writable(const std::string& path, const std::vector<std::string>& inputs) {
  require_replaceable(path);
  std::error_code missing;
  for (const auto& input : inputs)
    if (std::filesystem::equivalent(path, input, missing))
      throw Error(
          fmt::format("{}: is read here ({}), and the result would replace it: name another file", path, input));
  const std::string beside = path + ".partial";
  const Descriptor file(beside, O_WRONLY | O_CREAT);
  if (file.get() < 0) fail(path, "cannot write");
  ::unlink(beside.c_str());
}

void write_file(const std::string& path, std::string_view content) {
  const std::string beside = path + ".partial";
  try {
    Descriptor file(beside, O_WRONLY | O_CREAT | O_TRUNC);
    if (file.get() < 0) fail(path, "cannot write");
    while (!content.empty()) {
      const ssize_t written = ::write(file.get(), content.data(), content.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(path, "cannot write");
      content.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::fsync(file.get()) != 0 && errno != EINVAL) fail(path, "cannot flush to disk");
    if (!file.close()) fail(path, "cannot write");
    rename_durably(beside, path);
  } catch (...) {
    ::unlink(beside.c_str());
    throw;
  }
}

void write_json(const std::string& path, const nlohmann::json& value) { write_any_json(path, value); }
void write_json(const std::string& path, const nlohmann::ordered_json& value) { write_any_json(path, value); }

}  // namespace fedpp::io
