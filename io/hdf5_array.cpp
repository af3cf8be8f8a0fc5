// Arrays of a group, written and read whole or in part, and arrays that grow.
#include <algorithm>
#include <vector>

#include "io/hdf5_detail.hpp"

namespace fedpp::io {

using namespace hdf5;

namespace hdf5 {

Handle dataset_properties(const std::string& where) {
  Handle properties = own_plist(H5Pcreate(H5P_DATASET_CREATE), where);
  check(H5Pset_obj_track_times(properties.id(), false), where, "dataset properties");
  return properties;
}

Handle create_dataset(hid_t parent, const std::string& path, hid_t type, hid_t space, hid_t properties,
                      const std::string& where) {
  Handle links = own_plist(H5Pcreate(H5P_LINK_CREATE), where);
  check(H5Pset_create_intermediate_group(links.id(), 1), where, "link properties");
  return {check(H5Dcreate2(parent, path.c_str(), type, space, links.id(), properties, H5P_DEFAULT), where,
                "cannot create the array"),
          close_dataset};
}

void close_written(Handle& dataset, const std::string& where) {
  check_write(H5Dflush(dataset.id()), dataset.id(), where);
  if (!dataset.close()) fail(where, "cannot close");
}

}  // namespace hdf5

namespace {

void set_filters(hid_t properties, int deflate, const std::string& where) {
  check(H5Pset_shuffle(properties), where, "shuffle filter");
  if (deflate > 0) check(H5Pset_deflate(properties, static_cast<unsigned>(deflate)), where, "deflate filter");
  check(H5Pset_fletcher32(properties), where, "checksum filter");
}

Handle open_dataset(hid_t parent, const std::string& path, const std::string& where) {
  is_inside(parent, path, where);  // what is not there H5Dopen2() says
  Handle dataset(check(H5Dopen2(parent, path.c_str(), H5P_DEFAULT), where, "cannot open the array"), close_dataset);
  require_inside(dataset.id(), where);
  return dataset;
}

template <class T>
void write_array(hid_t parent, const std::string& path, std::span<const T> values, const Shape& shape,
                 const std::string& where) {
  if (elements(shape) != values.size())
    throw Error(fmt::format("{}: {} values do not fill {}", where, values.size(), shape_text(shape)));
  Handle space = make_space(shape, where);
  Handle properties = dataset_properties(where);
  Handle dataset = create_dataset(parent, path, Native<T>::file(), space.id(), properties.id(), where);
  if (!values.empty())
    check_write(H5Dwrite(dataset.id(), Native<T>::memory(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), dataset.id(),
                where);
  // Nothing of a contiguous array waits in memory (access_properties): to flush each of a checkpoint's tens of
  // thousands would go through all metadata of the file every time.
  if (!dataset.close()) fail(where, "cannot close");
}

}  // namespace

Shape Group::shape(const std::string& path) const {
  const std::string at = where(path);
  Handle dataset = open_dataset(id(), path, at);
  Handle space = own_space(H5Dget_space(dataset.id()), at);
  return shape_of(space.id(), at);
}

void Group::write(const std::string& path, std::span<const double> values, const Shape& shape) {
  write_array(id(), path, values, shape, where(path));
}
void Group::write(const std::string& path, std::span<const std::int64_t> values, const Shape& shape) {
  write_array(id(), path, values, shape, where(path));
}

void Group::write(const std::string& path, std::span<const std::string> values, const Shape& shape) {
  const std::string at = where(path);
  if (elements(shape) != values.size())
    throw Error(fmt::format("{}: {} strings do not fill {}", at, values.size(), shape_text(shape)));
  Handle space = make_space(shape, at);
  Handle type = string_type(at);
  Handle properties = dataset_properties(at);
  std::vector<const char*> pointers;
  for (const std::string& text : values) {
    if (text.find('\0') != std::string::npos)
      throw Error(at + ": a string contains a NUL character, which HDF5 strings cannot hold");
    pointers.push_back(text.c_str());
  }
  Handle dataset = create_dataset(id(), path, type.id(), space.id(), properties.id(), at);
  if (!values.empty())
    check_write(
        H5Dwrite(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, static_cast<const void*>(pointers.data())),
        dataset.id(), at);
  close_written(dataset, at);
}

template <class T>
Array<T> Group::read(const std::string& path, std::optional<int> rank) const {
  const std::string at = where(path);
  Handle dataset = open_dataset(id(), path, at);
  Handle type = own_type(H5Dget_type(dataset.id()), at);
  Handle space = own_space(H5Dget_space(dataset.id()), at);
  Array<T> array{shape_of(space.id(), at), {}};
  if (rank && static_cast<int>(array.shape.size()) != *rank)
    throw Error(fmt::format("{}: is {}; expected rank {}", at, shape_text(array.shape), *rank));
  const std::uint64_t count = elements(array.shape);
  require_stored(dataset.id(), count, at);
  if constexpr (std::is_same_v<T, std::string>) {
    array.values = collect_strings(type.id(), space.id(), count, at, [&](hid_t memory, void* out) {
      return H5Dread(dataset.id(), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, out);
    });
  } else {
    require_type<T>(type.id(), at);
    array.values.resize(count);
    if (count > 0)
      check(H5Dread(dataset.id(), Native<T>::memory(), H5S_ALL, H5S_ALL, H5P_DEFAULT, array.values.data()), at,
            "cannot read");
  }
  return array;
}

template <class T>
std::vector<T> Group::read_slice(const std::string& path, std::uint64_t offset, std::uint64_t count) const {
  const std::string at = where(path);
  Handle dataset = open_dataset(id(), path, at);
  Handle type = own_type(H5Dget_type(dataset.id()), at);
  Handle space = own_space(H5Dget_space(dataset.id()), at);
  const Shape shape = shape_of(space.id(), at);
  if (shape.size() != 1) throw Error(fmt::format("{}: is {}; expected rank 1", at, shape_text(shape)));
  if (offset > shape[0] || count > shape[0] - offset)
    throw Error(fmt::format("{}: has {} elements; [{}, {}) was asked for", at, shape[0], offset, offset + count));
  require_type<T>(type.id(), at);
  require_stored(dataset.id(), count, at);
  std::vector<T> values(count);
  if (count == 0) return values;
  const hsize_t start[] = {offset}, length[] = {count};
  check(H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start, nullptr, length, nullptr), at, "cannot select");
  Handle memory = make_space({count}, at);
  check(H5Dread(dataset.id(), Native<T>::memory(), memory.id(), space.id(), H5P_DEFAULT, values.data()), at,
        "cannot read");
  return values;
}

template <class T>
AppendableDataset<T>::AppendableDataset(Group& group, const std::string& path, std::uint64_t chunk, int deflate)
    : where_(fmt::format("{}: {}{}{}", group.file(), group.path(), group.path() == "/" ? "" : "/", path)),
      chunk_(chunk) {
  const hsize_t extent[] = {0}, unlimited[] = {H5S_UNLIMITED}, chunks[] = {chunk};
  Handle space = own_space(H5Screate_simple(1, extent, unlimited), where_);
  Handle properties = dataset_properties(where_);
  check(H5Pset_chunk(properties.id(), 1, chunks), where_, "chunks");
  set_filters(properties.id(), deflate, where_);
  dataset_ = create_dataset(group.id(), path, Native<T>::file(), space.id(), properties.id(), where_);
  buffer_.reserve(chunk);
}

template <class T>
void AppendableDataset<T>::append(T value) {
  buffer_.push_back(value);
  if (buffer_.size() == chunk_) flush();
}

template <class T>
void AppendableDataset<T>::append(std::span<const T> values) {
  while (!values.empty()) {
    const std::size_t count = std::min<std::size_t>(values.size(), chunk_ - buffer_.size());
    buffer_.insert(buffer_.end(), values.begin(), values.begin() + count);
    values = values.subspan(count);
    if (buffer_.size() == chunk_) flush();
  }
}

template <class T>
void AppendableDataset<T>::flush() {
  if (buffer_.empty()) return;
  const hsize_t extent[] = {written_ + buffer_.size()}, start[] = {written_}, count[] = {buffer_.size()};
  check_write(H5Dset_extent(dataset_.id(), extent), dataset_.id(), where_, "cannot grow");
  Handle space = own_space(H5Dget_space(dataset_.id()), where_);
  check(H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start, nullptr, count, nullptr), where_, "cannot select");
  Handle memory = make_space({buffer_.size()}, where_);
  check_write(H5Dwrite(dataset_.id(), Native<T>::memory(), memory.id(), space.id(), H5P_DEFAULT, buffer_.data()),
              dataset_.id(), where_);
  written_ += buffer_.size();
  buffer_.clear();
}

template <class T>
void AppendableDataset<T>::close() {
  flush();
  close_written(dataset_, where_);
}

#define FEDPP_NUMERIC(T)                                                                                \
  template Array<T> Group::read<T>(const std::string&, std::optional<int>) const;                       \
  template std::vector<T> Group::read_slice<T>(const std::string&, std::uint64_t, std::uint64_t) const; \
  template class AppendableDataset<T>;
FEDPP_NUMERIC(double)
FEDPP_NUMERIC(std::int64_t)
#undef FEDPP_NUMERIC
template Array<std::string> Group::read<std::string>(const std::string&, std::optional<int>) const;

}  // namespace fedpp::io
