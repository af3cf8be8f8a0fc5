// A file on its way: filled beside its place under a name of its own, put there whole or not at all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "io/error.hpp"
#include "io/unfinished.hpp"

namespace fedpp::io {

/// Two programs may make the same file at once: each has a partial file of its own, the last to commit wins, and none
/// touches another's. Deleted when it is destroyed without commit(), and by a signal that ends the program
/// (io/unfinished.hpp). What ends it without its knowing leaves it behind, and nobody can tell that from one that is
/// being written (docs/file-formats.md). Whom the umask or a regular file that is at `path` keeps out, it keeps out,
/// too. Errors name `path`.
class PartialFile {
 public:
  /// A new, empty file beside `path`: PATH.NUMBER.partial, the first number from the process's own on that nobody has
  /// taken, on whatever host. Throws Error where the folder is missing, read-only or full.
  explicit PartialFile(const std::string& path);
  /// The one that another process made under this number. That process commits or deletes it.
  PartialFile(const std::string& path, std::int64_t number) : path_(path), number_(number) {}
  PartialFile(PartialFile&&) noexcept = default;
  PartialFile& operator=(PartialFile&&) = delete;
  ~PartialFile();

  const std::string& path() const { return path_; }
  std::int64_t number() const { return number_; }
  std::string partial_path() const;

  void append(std::string_view bytes) const;
  /// What this process wrote, to disk: a node that loses it says so to its own processes alone.
  void flush() const;
  /// Flushes it to disk, puts it in the place of what is at `path`, and flushes the folder. Only where it was made.
  void commit();

 private:
  std::string path_;
  std::int64_t number_;
  std::optional<Unfinished> owned_;  ///< until it is committed; nothing for another process's
};

/// Whose partial file has this name, or had it in versions whose partial files bore no number; nothing for other names.
std::optional<std::string> path_of_partial(std::string_view partial_path);

}  // namespace fedpp::io
