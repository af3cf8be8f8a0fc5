// Lines of a text file, plain or gzip, with their numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "io/error.hpp"

namespace fedpp::io {

/// Reads lines of any length, in memory of the longest one. A line ends with LF or CR LF; the last one may lack it. A
/// UTF-8 byte-order mark in front is skipped. Text in UTF-16 and files whose lines end with CR alone throw, with the
/// remedy, and so does a line that is still without end after `longest` bytes. Gzip is recognised by its first two
/// bytes (several members are legal); a truncated or corrupt one throws.
class LineReader {
 public:
  explicit LineReader(const std::string& path, std::size_t longest = std::size_t{1} << 30);
  ~LineReader();
  LineReader(LineReader&&) noexcept;
  LineReader& operator=(LineReader&&) noexcept;

  /// The next line without its end; false at the end of the file. The view is good until the next call.
  bool next(std::string_view& line);
  /// Number of the line returned last, from 1; 0 before the first.
  std::int64_t line_number() const { return line_number_; }
  const std::string& path() const { return path_; }
  /// An error that starts with "path:line: ".
  Error error(const std::string& what) const;

 private:
  void check_encoding(std::string_view first_line) const;
  bool refill();
  class Bytes;
  std::string path_;
  std::size_t longest_;
  std::unique_ptr<Bytes> bytes_;
  std::string buffer_;  // [begin_, end_) is read but not handed out
  std::size_t begin_ = 0, end_ = 0;
  bool finished_ = false;
  std::int64_t line_number_ = 0;
};

}  // namespace fedpp::io
