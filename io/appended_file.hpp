// A text file in a run's folder that grows by lines while the run goes on: its log, its records.
#pragma once

#include <string>
#include <string_view>

#include "io/error.hpp"

namespace fedpp::io {

/// A by-product, whose loss must not end a run: what cannot be opened or written to is told, not thrown.
class AppendedFile {
 public:
  /// Ends a line of which a killed writer left half, so that the next one is whole.
  /// \throws Error where `path` is a symbolic link or no regular file (open_itself())
  explicit AppendedFile(const std::string& path);
  AppendedFile(const AppendedFile&) = delete;
  AppendedFile& operator=(const AppendedFile&) = delete;
  ~AppendedFile();

  /// In one write, so that a reader sees at most one half of a line. 0, or the system's code of what went wrong.
  int append(std::string_view lines) const;

 private:
  int fd_, failed_;
};

}  // namespace fedpp::io
