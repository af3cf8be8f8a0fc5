// HDF5 (serial driver, 1.10 and newer) as named arrays: handles that close themselves, reads that check what they find,
// and failures as io::Error with file, object and HDF5's own reason. hdf5.h itself stays out of this header.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/error.hpp"

namespace fedpp::io {

class PartialFile;

/// HDF5's identifier (hid_t, checked in hdf5_detail.hpp).
using Hdf5Id = std::int64_t;

/// Owns one HDF5 identifier. Move only.
class Handle {
 public:
  using Close = int (*)(Hdf5Id);
  Handle() = default;
  Handle(Hdf5Id id, Close close) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept;
  Handle& operator=(Handle&& other) noexcept;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle();
  Hdf5Id id() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }
  /// Closes now; false where HDF5 reports a failure (data not written).
  bool close();

 private:
  Hdf5Id id_ = -1;
  Close close_ = nullptr;
};

/// Extents of an array, slowest first; empty for a scalar.
using Shape = std::vector<std::uint64_t>;

template <class T>
struct Array {
  Shape shape;
  std::vector<T> values;  ///< row-major
};

/// A group of named arrays. Paths are relative to it ("a/b"); missing groups on the way are created by writes.
/// T is double, int64_t or std::string throughout.
/// Reads of double want a floating-point dataset of at most 64 bits; reads of int64_t want an integer dataset all
/// of whose values fit by type (not unsigned ones of 64 bits). Everything throws io::Error.
class Group {
 public:
  /// Opens a group that exists.
  Group group(const std::string& path) const;
  /// Creates a group that does not exist.
  Group create_group(const std::string& path);
  /// A second name in this group, `name`, for what `path` names.
  void link(const std::string& name, const std::string& path);
  /// Whether `path` names a group or dataset here.
  bool exists(const std::string& path) const;
  bool is_group(const std::string& path) const;
  /// Names of groups and datasets directly below, in alphabetical order.
  std::vector<std::string> children() const;
  Shape shape(const std::string& path) const;

  /// Writes a new dataset of the given shape; the product of the extents is the number of values.
  void write(const std::string& path, std::span<const double> values, const Shape& shape);
  void write(const std::string& path, std::span<const std::int64_t> values, const Shape& shape);
  void write(const std::string& path, std::span<const std::string> values, const Shape& shape);
  /// One-dimensional.
  template <class T>
  void write(const std::string& path, const std::vector<T>& values) {
    write(path, std::span<const T>(values), Shape{values.size()});
  }
  template <class T>
  void write_scalar(const std::string& path, const T& value) {
    write(path, std::span<const T>(&value, 1), Shape{});
  }

  /// Reads a whole array; a rank that differs from `rank` is an error.
  template <class T>
  Array<T> read(const std::string& path, std::optional<int> rank = std::nullopt) const;
  /// Reads a one-dimensional array.
  template <class T>
  std::vector<T> read_vector(const std::string& path) const {
    return read<T>(path, 1).values;
  }
  /// Reads a scalar.
  template <class T>
  T read_scalar(const std::string& path) const {
    return read<T>(path, 0).values.front();
  }
  /// Elements [offset, offset + count) of a one-dimensional array (not for strings).
  template <class T>
  std::vector<T> read_slice(const std::string& path, std::uint64_t offset, std::uint64_t count) const;

  /// Attributes of this group; writing replaces. Reading double also takes integers (h5py writes 100, not 100.0).
  void set_attribute(const std::string& name, double value);
  void set_attribute(const std::string& name, std::int64_t value);
  void set_attribute(const std::string& name, const std::string& value);
  void set_attribute(const std::string& name, const char* value) { set_attribute(name, std::string(value)); }
  bool has_attribute(const std::string& name) const;
  /// Names of the attributes, in alphabetical order.
  std::vector<std::string> attributes() const;
  template <class T>
  T attribute(const std::string& name) const;

  /// The file, and where this group lies in it ("/" for the root): for messages.
  const std::string& file() const { return file_; }
  const std::string& path() const { return path_; }
  Hdf5Id id() const { return handle_.id(); }

 protected:
  Group(std::string file, std::string path, Handle handle);
  std::string where(const std::string& name) const;

 private:
  std::string file_, path_;
  Handle handle_;
};

/// A file; itself its root group. Closing is strong: groups taken from it are dead afterwards.
class File : public Group {
 public:
  /// Creates a file, replacing one that is there. `user_block`: 0, or a power of two from 512 of bytes left to the
  /// caller in front.
  static File create(const std::string& path, std::uint64_t user_block = 0);
  /// Fills a partial file, whose future path stands in messages.
  static File create(const PartialFile& partial, std::uint64_t user_block = 0);
  static File open_read(const std::string& path);
  static File open_append(const std::string& path);
  static File open_append(const PartialFile& partial);
  File(File&&) = default;
  File& operator=(File&& other) noexcept;
  ~File();
  void flush();
  /// Closes and throws where data could not be written, now or before (a file with a failed write is lost: what is
  /// written after the failure goes nowhere). The destructor closes silently, so writers call this.
  void close();

 private:
  File(const std::string& name, Handle file, Handle root);
  static File of(const std::string& name, Handle file);
  void abandon();
  Handle handle_;
};

/// A one-dimensional dataset that grows: appended in buffered chunks, deflated, each chunk with a Fletcher-32 checksum.
/// T: double, int64_t.
template <class T>
class AppendableDataset {
 public:
  AppendableDataset(Group& group, const std::string& path, std::uint64_t chunk = 1u << 15, int deflate = 4);
  void append(T value);
  void append(std::span<const T> values);
  std::uint64_t size() const { return written_ + buffer_.size(); }
  /// Writes what is buffered. Called by close(); a destructor without it drops the buffer.
  void flush();
  void close();

 private:
  std::string where_;
  std::uint64_t chunk_, written_ = 0;
  std::vector<T> buffer_;
  Handle dataset_;
};

}  // namespace fedpp::io
