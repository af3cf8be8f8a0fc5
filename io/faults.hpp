// What is wrong with a file's rows, or with several files: the first faults, and how many more, told by one run.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "io/error.hpp"

namespace fedpp::io {

/// A fault of one row (or object) of a file, behind which the others can be read. The text names file and line.
class RowError : public Error {
 public:
  using Error::Error;
};

class Faults {
 public:
  /// \param one what those are called of which only the number is told; takes an s where there are several
  explicit Faults(std::string one = "fault") : one_(std::move(one)) {}

  /// Reads one row: what `read_row` returns, which is whether there may be more, or true where it throws a RowError, which is
  /// kept; also where a callback of its throws one.
  template <class Read>
  bool read(Read read_row) {
    try {
      return read_row();
    } catch (const RowError& fault) {
      add(fault.what());
      return true;
    }
  }

  /// The same of row after row, until there are no more. \throws Error as throw_any()
  template <class Read>
  void read_all(Read read_row) {
    while (read(read_row)) {
    }
    throw_any();
  }

  void add(const std::string& fault) {
    if (++count_ <= kShown) text_ += (count_ > 1 ? "\n" : "") + fault;
  }

  bool any() const { return count_ > 0; }

  /// \throws Error of all that were kept, if there are any: one a line, beyond ten their number
  void throw_any() const {
    if (const auto more = count_ - kShown; more > 0)
      throw Error(text_ + "\nand " + std::to_string(more) + " more " + one_ + (more > 1 ? "s" : ""));
    if (any()) throw Error(text_);
  }

 private:
  static constexpr std::int64_t kShown = 10;
  std::int64_t count_ = 0;
  std::string one_, text_;
};

}  // namespace fedpp::io
