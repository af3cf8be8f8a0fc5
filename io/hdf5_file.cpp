// Files: created, opened, flushed, closed, or lost.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "io/hdf5_detail.hpp"
#include "io/partial_file.hpp"

namespace fedpp::io {

using namespace hdf5;

namespace {

// `name` is what errors call a file: where it is partial, the file that it is to become.

/// Why a file cannot be opened, in the system's words, before HDF5 says it at length.
void require_readable(const std::string& path, const std::string& name) {
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) throw Error(name + ": is a folder; expected an HDF5 file");
  errno = 0;
  if (!std::ifstream(path, std::ios::binary))
    throw Error(fmt::format("{}: cannot open: {}", name, std::strerror(errno)));
  const htri_t is_hdf5 = H5Fis_hdf5(path.c_str());
  if (is_hdf5 < 0) fail(name, "cannot open");
  if (is_hdf5 == 0) throw Error(name + ": is not an HDF5 file");
}

/// `readable`: the system lets it be read, and it begins as an HDF5 file does.
[[noreturn]] void fail_open(const std::string& name, const char* what, bool readable) {
  const std::string why = reason();
  const auto says = [&](const char* words) { return why.find(words) != std::string::npos; };
  const char* remedy = "";
  if (says("lock file") || says("locking"))
    remedy = "; another program writes it, or the file system has no locks (then set HDF5_USE_FILE_LOCKING=FALSE)";
  else if (says("truncated"))
    remedy = "; its end is missing: copy or import it again";
  else if (readable)
    remedy = "; it is damaged: copy or import it again";
  throw Error(fmt::format("{}: {}: {}{}", name, what, why, remedy));
}

Handle access_properties(const std::string& name) {
  Handle access = own_plist(H5Pcreate(H5P_FILE_ACCESS), name);
  check(H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG), name, "close degree");
  // Contiguous arrays go to the file when they are written, so that a full disk is noticed there and not at their
  // close.
  check(H5Pset_sieve_buf_size(access.id(), 0), name, "sieve buffer");
  return access;
}

Handle open_root(const Handle& file, const std::string& name) {
  return {check(H5Gopen2(file.id(), "/", H5P_DEFAULT), name, "cannot open the root group"), close_group};
}

Handle create_file(const std::string& path, const std::string& name, std::uint64_t user_block) {
  silence();
  Handle access = access_properties(name);
  Handle creation = own_plist(H5Pcreate(H5P_FILE_CREATE), name);
  check(H5Pset_userblock(creation.id(), user_block), name, "user block");
  const hid_t id = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.id(), access.id());
  if (id < 0) fail_open(name, "cannot create the file", false);
  return {id, close_file};
}

Handle open_file(const std::string& path, const std::string& name, unsigned flags) {
  silence();
  require_readable(path, name);
  Handle access = access_properties(name);
  const hid_t id = H5Fopen(path.c_str(), flags, access.id());
  std::error_code unknown;  // whether it was deleted since
  if (id < 0) fail_open(name, "cannot open", flags == H5F_ACC_RDONLY && std::filesystem::exists(path, unknown));
  return {id, close_file};
}
}  // namespace

File::File(const std::string& name, Handle file, Handle root)
    : Group(name, "/", std::move(root)), handle_(std::move(file)) {}

File File::of(const std::string& name, Handle file) {
  Handle root = open_root(file, name);
  return {name, std::move(file), std::move(root)};
}

File File::create(const std::string& path, std::uint64_t user_block) {
  return of(path, create_file(path, path, user_block));
}

File File::create(const PartialFile& partial, std::uint64_t user_block) {
  return of(partial.path(), create_file(partial.partial_path(), partial.path(), user_block));
}

File File::open_read(const std::string& path) { return of(path, open_file(path, path, H5F_ACC_RDONLY)); }

File File::open_append(const std::string& path) { return of(path, open_file(path, path, H5F_ACC_RDWR)); }

File File::open_append(const PartialFile& partial) {
  return of(partial.path(), open_file(partial.partial_path(), partial.path(), H5F_ACC_RDWR));
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

}  // namespace fedpp::io
