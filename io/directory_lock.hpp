// One writer a folder: a lock that dies with its holder, however that ends.
#pragma once

#include <optional>
#include <string>

#include "io/error.hpp"

namespace fedpp::io {

/// Another process has the lock.
struct DirectoryInUse : Error {
  using Error::Error;
};

/// Holds DIR/train.lock by fcntl() from construction to destruction. The kernel (or the file server) gives the lock up
/// when the process ends, kill -9 and node failure included, so a file that was left behind locks nobody out. It
/// belongs to the process: do not open and close the file elsewhere in it meanwhile.
class DirectoryLock {
 public:
  /// \param holder one line for whoever finds the folder locked: host, process, job.
  /// \throws DirectoryInUse with the holder's line where another process has the lock; Error where the file cannot be
  /// made, or is a link or no regular file
  DirectoryLock(const std::string& directory, const std::string& holder);
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;
  /// Takes the file away, too.
  ~DirectoryLock();

  /// False on a file system without locks: nothing then keeps a second run out.
  bool effective() const { return effective_; }

 private:
  std::string path_;
  int fd_ = -1;
  bool effective_ = true;
};

/// The line of the process that holds the folder's lock; nothing where none does (or the folder cannot be read).
std::optional<std::string> lock_holder(const std::string& directory);

/// Whether the folder, as this node sees it, has the file of `holder`'s lock: of another node's process the folder may be
/// another one of the same name. True, too, where the file has no line, as on a full disk.
bool shows_lock_of(const std::string& holder, const std::string& directory);

}  // namespace fedpp::io
