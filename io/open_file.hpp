// Inside the io layer: a file by the system's descriptor, whose failures name it as the user knows it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "io/error.hpp"

namespace fedpp::io {

/// Throws Error "name: what: the system's reason (remedy)", by errno.
[[noreturn]] void fail_by_errno(const std::string& name, const std::string& what);

/// The descriptor of a file that the program itself makes, in a folder where somebody else may have put a link of its
/// name to a file of the user's; -1 with errno where it cannot be opened. Throws Error where `path` is a symbolic link
/// or no regular file.
int open_itself(const std::string& path, int flags);

/// Closes itself. All that fails throws Error.
class OpenFile {
 public:
  /// `name`: what errors call it, where that is not its path.
  OpenFile(const std::string& path, int flags, std::string name);
  OpenFile(const std::string& path, int flags) : OpenFile(path, flags, path) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();

  std::uint64_t size() const;
  /// Bytes read from `offset` on, fewer than `size` only at the end of the file.
  std::size_t read(std::uint64_t offset, char* out, std::size_t size) const;
  void write(std::uint64_t offset, std::string_view bytes) const;
  /// At the end, of a file that was opened with O_APPEND.
  void append(std::string_view bytes) const;
  /// To disk. Some file systems cannot flush folders and say EINVAL; a rename is then as durable as they make it.
  void flush() const;
  /// Throws where a write failed late, as network file systems say it. The destructor closes silently.
  void close();

 private:
  std::string name_;
  int fd_;
};

}  // namespace fedpp::io
