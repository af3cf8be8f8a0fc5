// Types of elements and extents of arrays: what HDF5 calls data types and data spaces.
#include <fmt/ranges.h>

#include <vector>

#include "io/hdf5_detail.hpp"

namespace fedpp::io::hdf5 {

namespace {

const char* class_name(H5T_class_t c) {
  switch (c) {
    case H5T_INTEGER:
      return "integer";
    case H5T_FLOAT:
      return "floating point";
    case H5T_STRING:
      return "string";
    case H5T_ENUM:
      return "enumeration";
    case H5T_COMPOUND:
      return "compound";
    default:
      return "other";
  }
}

}  // namespace

std::string type_text(hid_t type) {
  const H5T_class_t c = H5Tget_class(type);
  if (c == H5T_INTEGER)
    return fmt::format("{} {}-bit integer", H5Tget_sign(type) == H5T_SGN_NONE ? "unsigned" : "signed",
                       8 * H5Tget_size(type));
  if (c == H5T_FLOAT) return fmt::format("{}-bit floating point", 8 * H5Tget_size(type));
  return class_name(c);
}

Shape shape_of(hid_t space, const std::string& where) {
  if (H5Sget_simple_extent_type(space) == H5S_NULL) throw Error(where + ": is an empty (null) array");
  const int rank = check(H5Sget_simple_extent_ndims(space), where, "rank");
  std::vector<hsize_t> extents(rank);
  if (rank > 0) check(H5Sget_simple_extent_dims(space, extents.data(), nullptr), where, "extents");
  const Shape shape(extents.begin(), extents.end());
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape)
    if (__builtin_mul_overflow(count, extent, &count))
      throw Error(fmt::format("{}: has {}, more entries than there can be: it is damaged", where, shape_text(shape)));
  return shape;
}

std::string shape_text(const Shape& shape) {
  return shape.empty() ? std::string("a scalar") : fmt::format("shape ({})", fmt::join(shape, ", "));
}

std::uint64_t elements(const Shape& shape) {
  std::uint64_t n = 1;
  for (std::uint64_t extent : shape) n *= extent;
  return n;
}

Handle make_space(const Shape& shape, const std::string& where) {
  if (shape.empty()) return own_space(H5Screate(H5S_SCALAR), where);
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  return own_space(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), where);
}

Handle string_type(const std::string& where) {
  Handle type = own_type(H5Tcopy(H5T_C_S1), where);
  check(H5Tset_size(type.id(), H5T_VARIABLE), where, "string type");
  check(H5Tset_cset(type.id(), H5T_CSET_UTF8), where, "string type");
  return type;
}

}  // namespace fedpp::io::hdf5
