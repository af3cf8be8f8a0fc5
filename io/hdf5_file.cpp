// Files: created, opened, flushed, closed, or lost.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "io/hdf5_detail.hpp"

namespace fedpp::io {

using namespace hdf5;

namespace {

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

/// `readable`: the system lets it be read, and it begins as an HDF5 file does.
[[noreturn]] void fail_open(const std::string& path, const char* what, bool readable) {
  const std::string why = reason();
  const auto says = [&](const char* words) { return why.find(words) != std::string::npos; };
  const char* remedy = "";
  if (says("lock file") || says("locking"))
    remedy = "; another program writes it, or the file system has no locks (then set HDF5_USE_FILE_LOCKING=FALSE)";
  else if (says("truncated"))
    remedy = "; its end is missing: copy or import it again";
  else if (readable)
    remedy = "; it is damaged: copy or import it again";
  throw Error(fmt::format("{}: {}: {}{}", path, what, why, remedy));
}

Handle access_properties(const std::string& path) {
  Handle access = own_plist(H5Pcreate(H5P_FILE_ACCESS), path);
  check(H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG), path, "close degree");
  // Contiguous arrays go to the file when they are written, so that a full disk is noticed there and not at their
  // close.
  check(H5Pset_sieve_buf_size(access.id(), 0), path, "sieve buffer");
  return access;
}

Handle open_root(const Handle& file, const std::string& path) {
  return {check(H5Gopen2(file.id(), "/", H5P_DEFAULT), path, "cannot open the root group"), close_group};
}

Handle open_file(const std::string& path, unsigned flags) {
  silence();
  require_readable(path);
  Handle access = access_properties(path);
  const hid_t id = H5Fopen(path.c_str(), flags, access.id());
  if (id < 0) fail_open(path, "cannot open", flags == H5F_ACC_RDONLY);
  return {id, close_file};
}
}  // namespace

File::File(const std::string& path, Handle file, Handle root)
    : Group(path, "/", std::move(root)), handle_(std::move(file)) {}

File File::create(const std::string& path, std::uint64_t user_block) {
  silence();
  Handle access = access_properties(path);
  Handle creation = own_plist(H5Pcreate(H5P_FILE_CREATE), path);
  check(H5Pset_userblock(creation.id(), user_block), path, "user block");
  const hid_t id = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.id(), access.id());
  if (id < 0) fail_open(path, "cannot create the file", false);
  Handle file(id, close_file);
  Handle root = open_root(file, path);
  return {path, std::move(file), std::move(root)};
}

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

}  // namespace fedpp::io
