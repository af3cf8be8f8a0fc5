// Inside the io layer: what the files that implement hdf5.hpp share. The only header here that includes hdf5.h.
#pragma once

#include <fmt/format.h>
#include <hdf5.h>

#include <string>
#include <type_traits>

#include "io/hdf5.hpp"

namespace fedpp::io::hdf5 {

static_assert(std::is_same_v<hid_t, std::int64_t>, "HDF5 older than 1.10 has another identifier type");

/// Throws Error "where: what: HDF5's own reason".
[[noreturn]] void fail(const std::string& where, const std::string& what);

/// The innermost entry of HDF5's error stack: what went wrong, not the path of calls to it. Clears the stack.
std::string reason();

template <class R>
R check(R result, const std::string& where, const char* what) {
  if (result < 0) fail(where, what);
  return result;
}

/// HDF5 would print its stack on stderr; ours says it in the exception. Per thread, so set wherever a file is opened.
void silence();

int close_file(Hdf5Id id);
int close_group(Hdf5Id id);
int close_dataset(Hdf5Id id);
int close_attribute(Hdf5Id id);
int close_object(Hdf5Id id);

/// Handles of new identifiers, checked.
Handle own_space(Hdf5Id id, const std::string& where);
Handle own_type(Hdf5Id id, const std::string& where);
Handle own_plist(Hdf5Id id, const std::string& where);

/// Checks the result of writing to an object of a file. After a failed write the rest of the file goes to memory that
/// nobody reads, so that what is open closes in order instead of failing again. The file itself is lost.
void check_write(herr_t result, hid_t object, const std::string& where, const char* what = "cannot write");
void divert(hid_t file);
/// Whether an earlier failure diverted this file.
bool is_diverted(hid_t file);

template <class T>
struct Native;
template <>
struct Native<double> {
  static hid_t memory() { return H5T_NATIVE_DOUBLE; }
  static hid_t file() { return H5T_IEEE_F64LE; }
  static constexpr const char* name = "floating-point numbers of at most 64 bits";
};
template <>
struct Native<std::int64_t> {
  static hid_t memory() { return H5T_NATIVE_INT64; }
  static hid_t file() { return H5T_STD_I64LE; }
  static constexpr const char* name = "integers that fit into 64 bits with sign";
};

/// "signed 32-bit integer", "string", ...: for messages.
std::string type_text(hid_t type);

/// Whether every value of the file's type is a T without loss.
template <class T>
bool converts(hid_t type) {
  const H5T_class_t c = H5Tget_class(type);
  const std::size_t size = H5Tget_size(type);
  if constexpr (std::is_same_v<T, double>) {
    return c == H5T_FLOAT && size <= sizeof(double);
  } else {
    if (c != H5T_INTEGER) return false;
    const bool is_signed = H5Tget_sign(type) != H5T_SGN_NONE;
    return is_signed ? size <= sizeof(T) : size < sizeof(T);
  }
}

template <class T>
void require_type(hid_t type, const std::string& where) {
  if (!converts<T>(type))
    throw Error(fmt::format("{}: holds {}; expected {}", where, type_text(type), Native<T>::name));
}

/// Throws Error where its entries cannot be counted.
Shape shape_of(hid_t space, const std::string& where);
std::string shape_text(const Shape& shape);
std::uint64_t elements(const Shape& shape);
Handle make_space(const Shape& shape, const std::string& where);
/// Of variable length, UTF-8.
Handle string_type(const std::string& where);

/// Whether `path` below the group is there. Every step of it must be a hard link: soft, external and user-defined ones
/// lead elsewhere, to other files of the account, and throw Error.
bool is_inside(hid_t group, const std::string& path, const std::string& where);
/// Throws Error where an array's values lie in other files.
void require_inside(hid_t dataset, const std::string& where);
/// Throws Error where an array says that it has many more bytes than the file holds of it, before memory is taken for
/// them: what was never written takes no place.
void require_stored(hid_t dataset, std::uint64_t count, const std::string& where);

/// Creation properties of every dataset: no times of day (equal content gives equal bytes).
Handle dataset_properties(const std::string& where);
/// Groups on the way are created.
Handle create_dataset(hid_t parent, const std::string& path, hid_t type, hid_t space, hid_t properties,
                      const std::string& where);
/// Flushing first: a failure is then found while the array can still be closed.
void close_written(Handle& dataset, const std::string& where);

/// Text of `count` strings of any HDF5 string type, read by `read(memory type, buffer)`.
template <class Read>
std::vector<std::string> collect_strings(hid_t type, hid_t space, std::uint64_t count, const std::string& where,
                                         Read read) {
  if (H5Tget_class(type) != H5T_STRING)
    throw Error(fmt::format("{}: holds {}; expected strings", where, type_text(type)));
  std::vector<std::string> texts(count);
  if (count == 0) return texts;
  if (check(H5Tis_variable_str(type), where, "string type") > 0) {
    // The memory type repeats the file's character set: HDF5 does not convert between them.
    Handle memory = own_type(H5Tcopy(H5T_C_S1), where);
    check(H5Tset_size(memory.id(), H5T_VARIABLE), where, "string type");
    check(H5Tset_cset(memory.id(), H5Tget_cset(type)), where, "string type");
    std::vector<char*> pointers(count, nullptr);
    check(read(memory.id(), static_cast<void*>(pointers.data())), where, "cannot read");
    for (std::uint64_t i = 0; i < count; ++i)
      if (pointers[i]) texts[i] = pointers[i];
    check(H5Dvlen_reclaim(memory.id(), space, H5P_DEFAULT, static_cast<void*>(pointers.data())), where,
          "cannot release strings");
    return texts;
  }
  const std::size_t size = H5Tget_size(type);
  std::vector<char> bytes(count * size);
  check(read(type, static_cast<void*>(bytes.data())), where, "cannot read");
  const bool spaces = H5Tget_strpad(type) == H5T_STR_SPACEPAD;
  for (std::uint64_t i = 0; i < count; ++i) {
    const char* begin = bytes.data() + i * size;
    texts[i].assign(begin, spaces ? size : strnlen(begin, size));
    if (spaces) texts[i].erase(texts[i].find_last_not_of(' ') + 1);
  }
  return texts;
}

}  // namespace fedpp::io::hdf5
