#include "io/hdf5.hpp"

#include <fmt/format.h>
#include <hdf5.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <type_traits>
#include <utility>

namespace fedpp::io {

static_assert(std::is_same_v<hid_t, std::int64_t>, "HDF5 older than 1.10 has another identifier type");

namespace {

/// HDF5 keeps dangling pointers to files and arrays whose closing failed (disk full), and crashes on them when it
/// cleans up at exit or, where MPI runs already at its first call, in MPI_Finalize. It starts here, before main,
/// without either; whoever opens a file here closes it.
[[maybe_unused]] const bool kHdf5Started = [] {
  H5dont_atexit();
  return H5open() >= 0;
}();

constexpr std::uint64_t kChunkElements = 1u << 16;

/// The innermost entry of HDF5's error stack: what went wrong, not the path of calls to it.
std::string hdf5_reason() {
  std::string reason;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned n, const H5E_error2_t* entry, void* out) -> herr_t {
        if (n == 0 && entry->desc) *static_cast<std::string*>(out) = entry->desc;
        return 0;
      },
      &reason);
  H5Eclear2(H5E_DEFAULT);
  // Failed system calls come with times, descriptors and addresses; what was tried and the system's word are enough.
  constexpr std::string_view kSystem = "error message = '";
  if (const std::size_t at = reason.find(kSystem); at != std::string::npos) {
    const std::string message = reason.substr(at + kSystem.size());
    return fmt::format("{}: {}", reason.substr(0, reason.find_first_of(":,")), message.substr(0, message.find('\'')));
  }
  return reason.empty() ? "HDF5 gives no reason" : reason;
}

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw Error(fmt::format("{}: {}: {}", where, what, hdf5_reason()));
}

template <class R>
R check(R result, const std::string& where, const char* what) {
  if (result < 0) fail(where, what);
  return result;
}

/// HDF5 would print its stack on stderr; ours says it in the exception. Per thread, so set wherever a file is opened.
void silence() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

int close_file(Hdf5Id id) { return H5Fclose(id); }
int close_group(Hdf5Id id) { return H5Gclose(id); }
int close_dataset(Hdf5Id id) { return H5Dclose(id); }
int close_space(Hdf5Id id) { return H5Sclose(id); }
int close_type(Hdf5Id id) { return H5Tclose(id); }
int close_plist(Hdf5Id id) { return H5Pclose(id); }
int close_attribute(Hdf5Id id) { return H5Aclose(id); }
int close_object(Hdf5Id id) { return H5Oclose(id); }

Handle own_space(Hdf5Id id, const std::string& where) { return {check(id, where, "data space"), close_space}; }
Handle own_type(Hdf5Id id, const std::string& where) { return {check(id, where, "data type"), close_type}; }
Handle own_plist(Hdf5Id id, const std::string& where) { return {check(id, where, "property list"), close_plist}; }

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
template <>
struct Native<std::uint64_t> {
  static hid_t memory() { return H5T_NATIVE_UINT64; }
  static hid_t file() { return H5T_STD_U64LE; }
  static constexpr const char* name = "unsigned integers";
};
template <>
struct Native<std::uint8_t> {
  static hid_t memory() { return H5T_NATIVE_UINT8; }
  static hid_t file() { return H5T_STD_U8LE; }
  static constexpr const char* name = "unsigned 8-bit integers";
};

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

std::string type_text(hid_t type) {
  const H5T_class_t c = H5Tget_class(type);
  if (c == H5T_INTEGER)
    return fmt::format("{} {}-bit integer", H5Tget_sign(type) == H5T_SGN_NONE ? "unsigned" : "signed",
                       8 * H5Tget_size(type));
  if (c == H5T_FLOAT) return fmt::format("{}-bit floating point", 8 * H5Tget_size(type));
  return class_name(c);
}

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
    if constexpr (std::is_signed_v<T>) return is_signed ? size <= sizeof(T) : size < sizeof(T);
    return !is_signed && size <= sizeof(T);
  }
}

template <class T>
void require_type(hid_t type, const std::string& where) {
  if (!converts<T>(type))
    throw Error(fmt::format("{}: holds {}; expected {}", where, type_text(type), Native<T>::name));
}

Shape shape_of(hid_t space, const std::string& where) {
  if (H5Sget_simple_extent_type(space) == H5S_NULL) throw Error(where + ": is an empty (null) array");
  const int rank = check(H5Sget_simple_extent_ndims(space), where, "rank");
  std::vector<hsize_t> extents(rank);
  if (rank > 0) check(H5Sget_simple_extent_dims(space, extents.data(), nullptr), where, "extents");
  return {extents.begin(), extents.end()};
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

/// Creation properties of every dataset: no times of day (equal content gives equal bytes).
Handle dataset_properties(const std::string& where) {
  Handle properties = own_plist(H5Pcreate(H5P_DATASET_CREATE), where);
  check(H5Pset_obj_track_times(properties.id(), false), where, "dataset properties");
  return properties;
}

void set_filters(hid_t properties, int deflate, const std::string& where) {
  check(H5Pset_shuffle(properties), where, "shuffle filter");
  if (deflate > 0) check(H5Pset_deflate(properties, static_cast<unsigned>(deflate)), where, "deflate filter");
  check(H5Pset_fletcher32(properties), where, "checksum filter");
}

Handle create_dataset(hid_t parent, const std::string& path, hid_t type, hid_t space, hid_t properties,
                      const std::string& where) {
  Handle links = own_plist(H5Pcreate(H5P_LINK_CREATE), where);
  check(H5Pset_create_intermediate_group(links.id(), 1), where, "link properties");
  return {check(H5Dcreate2(parent, path.c_str(), type, space, links.id(), properties, H5P_DEFAULT), where,
                "cannot create the array"),
          close_dataset};
}

Handle open_dataset(hid_t parent, const std::string& path, const std::string& where) {
  return {check(H5Dopen2(parent, path.c_str(), H5P_DEFAULT), where, "cannot open the array"), close_dataset};
}

/// The system's descriptor of a file (serial driver); -1 where HDF5 does not tell.
int descriptor(hid_t file) {
  void* handle = nullptr;
  return H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) >= 0 && handle ? *static_cast<const int*>(handle) : -1;
}

/// After a failed write the rest of the file goes to memory that nobody reads, so that what is open closes in order
/// instead of failing again. The file itself is lost.
void divert(hid_t file) {
  const int fd = descriptor(file), sink = ::memfd_create("fedpp-lost-file", MFD_CLOEXEC);
  if (fd >= 0 && sink >= 0) ::dup2(sink, fd);
  if (sink >= 0) ::close(sink);
}

/// Whether an earlier failure diverted this file: its descriptor then has no name in any folder.
bool is_diverted(hid_t file) {
  struct stat status{};
  const int fd = descriptor(file);
  return fd >= 0 && ::fstat(fd, &status) == 0 && status.st_nlink == 0;
}

/// Checks the result of writing to an object of a file.
void check_write(herr_t result, hid_t object, const std::string& where, const char* what = "cannot write") {
  if (result >= 0) return;
  const std::string reason = hdf5_reason();
  Handle file(H5Iget_file_id(object), close_file);
  if (file) divert(file.id());
  throw Error(fmt::format("{}: {}: {}", where, what, reason));
}

/// Flushing first: a failure is then found while the array can still be closed.
void close_written(Handle& dataset, const std::string& where) {
  check_write(H5Dflush(dataset.id()), dataset.id(), where);
  if (!dataset.close()) fail(where, "cannot close");
}

template <class T>
void write_array(hid_t parent, const std::string& path, std::span<const T> values, const Shape& shape, int deflate,
                 const std::string& where) {
  if (elements(shape) != values.size())
    throw Error(fmt::format("{}: {} values do not fill {}", where, values.size(), shape_text(shape)));
  Handle space = make_space(shape, where);
  Handle properties = dataset_properties(where);
  if (deflate > 0 && !shape.empty() && !values.empty()) {
    std::vector<hsize_t> chunk(shape.begin(), shape.end());
    for (std::uint64_t n = values.size(); n > kChunkElements;) {
      auto largest = std::max_element(chunk.begin(), chunk.end());
      *largest = (*largest + 1) / 2;
      n = elements({chunk.begin(), chunk.end()});
    }
    check(H5Pset_chunk(properties.id(), static_cast<int>(chunk.size()), chunk.data()), where, "chunks");
    set_filters(properties.id(), deflate, where);
  }
  Handle dataset = create_dataset(parent, path, Native<T>::file(), space.id(), properties.id(), where);
  if (!values.empty())
    check_write(H5Dwrite(dataset.id(), Native<T>::memory(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), dataset.id(),
                where);
  close_written(dataset, where);
}

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

void write_attribute(hid_t group, const std::string& name, hid_t file_type, hid_t memory_type, const void* value,
                     const std::string& where) {
  if (check(H5Aexists(group, name.c_str()), where, "attribute") > 0)
    check(H5Adelete(group, name.c_str()), where, "cannot replace");
  Handle space = make_space({}, where);
  Handle attribute(check(H5Acreate2(group, name.c_str(), file_type, space.id(), H5P_DEFAULT, H5P_DEFAULT), where,
                         "cannot create the attribute"),
                   close_attribute);
  check(H5Awrite(attribute.id(), memory_type, value), where, "cannot write");
  if (!attribute.close()) fail(where, "cannot close");
}

/// Why a file cannot be opened, in the system's words, before HDF5 says it at length.
void require_readable(const std::string& path) {
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) throw Error(path + ": is a folder; expected an HDF5 file");
  errno = 0;
  if (!std::ifstream(path, std::ios::binary))
    throw Error(fmt::format("{}: cannot open: {}", path, std::strerror(errno)));
  const htri_t is_hdf5 = H5Fis_hdf5(path.c_str());
  if (is_hdf5 < 0) fail(path, "cannot open");
  if (is_hdf5 == 0) throw Error(path + ": is not an HDF5 file");
}

[[noreturn]] void fail_open(const std::string& path, const char* what) {
  const std::string reason = hdf5_reason();
  const bool lock = reason.find("lock") != std::string::npos;
  throw Error(fmt::format(
      "{}: {}: {}{}", path, what, reason,
      lock ? "; another program writes it, or the file system has no locks (then set HDF5_USE_FILE_LOCKING=FALSE)"
           : ""));
}

Handle access_properties(const std::string& path) {
  Handle access = own_plist(H5Pcreate(H5P_FILE_ACCESS), path);
  check(H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG), path, "close degree");
  return access;
}

Handle open_root(const Handle& file, const std::string& path) {
  return {check(H5Gopen2(file.id(), "/", H5P_DEFAULT), path, "cannot open the root group"), close_group};
}

}  // namespace

Handle::Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}

Handle& Handle::operator=(Handle&& other) noexcept {
  if (this != &other) {
    close();
    id_ = std::exchange(other.id_, -1);
    close_ = other.close_;
  }
  return *this;
}

Handle::~Handle() { close(); }

bool Handle::close() {
  if (id_ < 0) return true;
  return close_(std::exchange(id_, -1)) >= 0;
}

Group::Group(std::string file, std::string path, Handle handle)
    : file_(std::move(file)), path_(std::move(path)), handle_(std::move(handle)) {}

std::string Group::where(const std::string& name) const {
  return fmt::format("{}: {}{}{}", file_, path_, path_ == "/" ? "" : "/", name);
}

Group Group::group(const std::string& path) const {
  Handle handle(check(H5Gopen2(id(), path.c_str(), H5P_DEFAULT), where(path), "cannot open the group"), close_group);
  return {file_, (path_ == "/" ? "/" : path_ + "/") + path, std::move(handle)};
}

Group Group::create_group(const std::string& path) {
  Handle links = own_plist(H5Pcreate(H5P_LINK_CREATE), where(path));
  check(H5Pset_create_intermediate_group(links.id(), 1), where(path), "link properties");
  Handle handle(check(H5Gcreate2(id(), path.c_str(), links.id(), H5P_DEFAULT, H5P_DEFAULT), where(path),
                      "cannot create the group"),
                close_group);
  return {file_, (path_ == "/" ? "/" : path_ + "/") + path, std::move(handle)};
}

bool Group::exists(const std::string& path) const {
  // HDF5 wants every group on the way to exist before it answers.
  for (std::size_t end = path.find('/');; end = path.find('/', end + 1)) {
    const std::string prefix = path.substr(0, end);
    if (!prefix.empty() && H5Lexists(id(), prefix.c_str(), H5P_DEFAULT) <= 0) return false;
    if (end == std::string::npos) break;
  }
  return H5Oexists_by_name(id(), path.c_str(), H5P_DEFAULT) > 0;
}

namespace {
bool is_object(const Group& group, const std::string& path, H5I_type_t kind) {
  if (!group.exists(path)) return false;
  Handle object(H5Oopen(group.id(), path.c_str(), H5P_DEFAULT), close_object);
  return object && H5Iget_type(object.id()) == kind;
}
}  // namespace

bool Group::is_group(const std::string& path) const { return is_object(*this, path, H5I_GROUP); }
bool Group::is_dataset(const std::string& path) const { return is_object(*this, path, H5I_DATASET); }

std::vector<std::string> Group::children() const {
  H5G_info_t info{};
  check(H5Gget_info(id(), &info), where(""), "cannot list");
  std::vector<std::string> names;
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    const ssize_t length = check(H5Lget_name_by_idx(id(), ".", H5_INDEX_NAME, H5_ITER_INC, i, nullptr, 0, H5P_DEFAULT),
                                 where(""), "cannot list");
    std::string name(static_cast<std::size_t>(length) + 1, '\0');
    check(H5Lget_name_by_idx(id(), ".", H5_INDEX_NAME, H5_ITER_INC, i, name.data(), name.size(), H5P_DEFAULT),
          where(""), "cannot list");
    name.pop_back();
    names.push_back(std::move(name));
  }
  return names;
}

ArrayInfo Group::info(const std::string& path) const {
  const std::string at = where(path);
  Handle dataset = open_dataset(id(), path, at);
  Handle type = own_type(H5Dget_type(dataset.id()), at);
  Handle space = own_space(H5Dget_space(dataset.id()), at);
  const H5T_class_t c = H5Tget_class(type.id());
  const ElementKind kind = c == H5T_FLOAT     ? ElementKind::kFloat
                           : c == H5T_INTEGER ? ElementKind::kInteger
                           : c == H5T_STRING  ? ElementKind::kString
                                              : ElementKind::kOther;
  return {kind, shape_of(space.id(), at)};
}

void Group::write(const std::string& path, std::span<const double> values, const Shape& shape, int deflate) {
  write_array(id(), path, values, shape, deflate, where(path));
}
void Group::write(const std::string& path, std::span<const std::int64_t> values, const Shape& shape, int deflate) {
  write_array(id(), path, values, shape, deflate, where(path));
}
void Group::write(const std::string& path, std::span<const std::uint64_t> values, const Shape& shape, int deflate) {
  write_array(id(), path, values, shape, deflate, where(path));
}
void Group::write(const std::string& path, std::span<const std::uint8_t> values, const Shape& shape, int deflate) {
  write_array(id(), path, values, shape, deflate, where(path));
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
  std::vector<T> values(count);
  if (count == 0) return values;
  const hsize_t start[] = {offset}, length[] = {count};
  check(H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start, nullptr, length, nullptr), at, "cannot select");
  Handle memory = make_space({count}, at);
  check(H5Dread(dataset.id(), Native<T>::memory(), memory.id(), space.id(), H5P_DEFAULT, values.data()), at,
        "cannot read");
  return values;
}

void Group::set_attribute(const std::string& name, double value) {
  write_attribute(id(), name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value, where("@" + name));
}
void Group::set_attribute(const std::string& name, std::int64_t value) {
  write_attribute(id(), name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value, where("@" + name));
}
void Group::set_attribute(const std::string& name, std::uint64_t value) {
  write_attribute(id(), name, H5T_STD_U64LE, H5T_NATIVE_UINT64, &value, where("@" + name));
}
void Group::set_attribute(const std::string& name, const std::string& value) {
  const std::string at = where("@" + name);
  if (value.find('\0') != std::string::npos)
    throw Error(at + ": the text contains a NUL character, which HDF5 strings cannot hold");
  Handle type = string_type(at);
  const char* text = value.c_str();
  write_attribute(id(), name, type.id(), type.id(), static_cast<const void*>(&text), at);
}

bool Group::has_attribute(const std::string& name) const { return H5Aexists(id(), name.c_str()) > 0; }

template <class T>
T Group::attribute(const std::string& name) const {
  const std::string at = where("@" + name);
  if (!has_attribute(name)) throw Error(at + ": there is no such attribute");
  Handle attribute(check(H5Aopen(id(), name.c_str(), H5P_DEFAULT), at, "cannot open the attribute"), close_attribute);
  Handle type = own_type(H5Aget_type(attribute.id()), at);
  Handle space = own_space(H5Aget_space(attribute.id()), at);
  const Shape shape = shape_of(space.id(), at);
  if (elements(shape) != 1) throw Error(fmt::format("{}: is {}; expected one value", at, shape_text(shape)));
  if constexpr (std::is_same_v<T, std::string>) {
    return collect_strings(type.id(), space.id(), 1, at,
                           [&](hid_t memory, void* out) { return H5Aread(attribute.id(), memory, out); })
        .front();
  } else {
    const bool whole_number_as_double = std::is_same_v<T, double> && H5Tget_class(type.id()) == H5T_INTEGER;
    if (!whole_number_as_double) require_type<T>(type.id(), at);
    T value{};
    check(H5Aread(attribute.id(), Native<T>::memory(), &value), at, "cannot read");
    return value;
  }
}

File::File(const std::string& path, Handle file, Handle root)
    : Group(path, "/", std::move(root)), handle_(std::move(file)) {}

File File::create(const std::string& path, std::uint64_t user_block) {
  silence();
  Handle access = access_properties(path);
  Handle creation = own_plist(H5Pcreate(H5P_FILE_CREATE), path);
  check(H5Pset_userblock(creation.id(), user_block), path, "user block");
  const hid_t id = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.id(), access.id());
  if (id < 0) fail_open(path, "cannot create the file");
  Handle file(id, close_file);
  Handle root = open_root(file, path);
  return {path, std::move(file), std::move(root)};
}

namespace {
Handle open_file(const std::string& path, unsigned flags) {
  silence();
  require_readable(path);
  Handle access = access_properties(path);
  const hid_t id = H5Fopen(path.c_str(), flags, access.id());
  if (id < 0) fail_open(path, "cannot open");
  return {id, close_file};
}
}  // namespace

File File::open_read(const std::string& path) {
  Handle file = open_file(path, H5F_ACC_RDONLY);
  Handle root = open_root(file, path);
  return {path, std::move(file), std::move(root)};
}

File File::open_append(const std::string& path) {
  Handle file = open_file(path, H5F_ACC_RDWR);
  Handle root = open_root(file, path);
  return {path, std::move(file), std::move(root)};
}

File& File::operator=(File&& other) noexcept {
  if (this != &other) {
    abandon();
    handle_ = std::move(other.handle_);
    Group::operator=(std::move(other));
  }
  return *this;
}

File::~File() { abandon(); }

/// Closes a file that may be lost, so that nothing of it stays in HDF5.
void File::abandon() {
  if (!handle_) return;
  unsigned intent = H5F_ACC_RDONLY;
  H5Fget_intent(handle_.id(), &intent);
  if (intent != H5F_ACC_RDONLY && H5Fflush(handle_.id(), H5F_SCOPE_LOCAL) < 0) divert(handle_.id());
  handle_.close();
}

void File::flush() {
  if (is_diverted(handle_.id())) throw Error(file() + ": cannot write: an earlier write to this file failed");
  check_write(H5Fflush(handle_.id(), H5F_SCOPE_LOCAL), handle_.id(), file());
}

void File::close() {
  if (!handle_) return;
  unsigned intent = H5F_ACC_RDONLY;
  check(H5Fget_intent(handle_.id(), &intent), file(), "cannot close");
  if (intent != H5F_ACC_RDONLY) flush();
  if (!handle_.close()) fail(file(), "cannot close");
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
FEDPP_NUMERIC(std::uint64_t)
FEDPP_NUMERIC(std::uint8_t)
#undef FEDPP_NUMERIC
template Array<std::string> Group::read<std::string>(const std::string&, std::optional<int>) const;
template double Group::attribute<double>(const std::string&) const;
template std::int64_t Group::attribute<std::int64_t>(const std::string&) const;
template std::uint64_t Group::attribute<std::uint64_t>(const std::string&) const;
template std::string Group::attribute<std::string>(const std::string&) const;

}  // namespace fedpp::io
