// Groups and their attributes.
#include <utility>

#include "io/hdf5_detail.hpp"

namespace fedpp::io {

using namespace hdf5;

Group::Group(std::string file, std::string path, Handle handle)
    : file_(std::move(file)), path_(std::move(path)), handle_(std::move(handle)) {}

std::string Group::where(const std::string& name) const {
  return fmt::format("{}: {}{}{}", file_, path_, path_ == "/" ? "" : "/", name);
}

Group Group::group(const std::string& path) const {
  is_inside(id(), path, where(path));  // what is not there H5Gopen2() says
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

void Group::link(const std::string& name, const std::string& path) {
  check(H5Lcreate_hard(id(), path.c_str(), id(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), where(name),
        "cannot create the link");
}

bool Group::exists(const std::string& path) const { return is_inside(id(), path, where(path)); }

bool Group::is_group(const std::string& path) const {
  if (!exists(path)) return false;
  Handle object(H5Oopen(id(), path.c_str(), H5P_DEFAULT), close_object);
  return object && H5Iget_type(object.id()) == H5I_GROUP;
}

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

namespace {
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

}  // namespace

void Group::set_attribute(const std::string& name, double value) {
  write_attribute(id(), name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value, where("@" + name));
}
void Group::set_attribute(const std::string& name, std::int64_t value) {
  write_attribute(id(), name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value, where("@" + name));
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

std::vector<std::string> Group::attributes() const {
  std::vector<std::string> names;
  const auto add = [](hid_t, const char* name, const H5A_info_t*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
  };
  check(H5Aiterate2(id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names), where(""), "cannot list the attributes");
  return names;
}

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

template double Group::attribute<double>(const std::string&) const;
template std::int64_t Group::attribute<std::int64_t>(const std::string&) const;
template std::string Group::attribute<std::string>(const std::string&) const;

}  // namespace fedpp::io
