// HDF5 from its start, handles, its reasons for failures, and files that a failed write has lost.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>
#include <utility>

#include "io/hdf5_detail.hpp"
#include "io/number.hpp"

namespace fedpp::io {

namespace hdf5 {

namespace {

/// HDF5 keeps dangling pointers to files and arrays whose closing failed (disk full), and crashes on them when it
/// cleans up at exit or, where MPI runs already at its first call, in MPI_Finalize. It starts here, before main,
/// without either; whoever opens a file here closes it.
[[maybe_unused]] const bool kHdf5Started = [] {
  H5dont_atexit();
  return H5open() >= 0;
}();

/// The system's descriptor of a file (serial driver); -1 where HDF5 does not tell.
int descriptor(hid_t file) {
  void* handle = nullptr;
  return H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) >= 0 && handle ? *static_cast<const int*>(handle) : -1;
}

}  // namespace

std::string reason() {
  std::string text;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned n, const H5E_error2_t* entry, void* out) -> herr_t {
        if (n == 0 && entry->desc) *static_cast<std::string*>(out) = entry->desc;
        return 0;
      },
      &text);
  H5Eclear2(H5E_DEFAULT);
  // Failed system calls come with times, descriptors and addresses; what was tried and the system's word are enough.
  constexpr std::string_view kNumber = "errno = ", kSystem = "error message = '";
  if (const std::size_t at = text.find(kSystem); at != std::string::npos) {
    const std::string message = text.substr(at + kSystem.size());
    const std::size_t number = text.find(kNumber);
    const std::string code = number == std::string::npos ? "" : text.substr(number + kNumber.size());
    return fmt::format("{}: {}{}", text.substr(0, text.find_first_of(":,")), message.substr(0, message.find('\'')),
                       remedy_of(static_cast<int>(whole_number(code.substr(0, code.find(','))).value_or(0))));
  }
  // From 1.14 on HDF5 keeps to itself which filter it was, and what that found.
  if (text == "filter returned failure during read") return "damaged: its checksum or its compression does not hold";
  return text.empty() ? "HDF5 gives no reason" : text;
}

void fail(const std::string& where, const std::string& what) {
  throw Error(fmt::format("{}: {}: {}", where, what, reason()));
}

void silence() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

int close_file(Hdf5Id id) { return H5Fclose(id); }
int close_group(Hdf5Id id) { return H5Gclose(id); }
int close_dataset(Hdf5Id id) { return H5Dclose(id); }
static int close_space(Hdf5Id id) { return H5Sclose(id); }
static int close_type(Hdf5Id id) { return H5Tclose(id); }
static int close_plist(Hdf5Id id) { return H5Pclose(id); }
int close_attribute(Hdf5Id id) { return H5Aclose(id); }
int close_object(Hdf5Id id) { return H5Oclose(id); }

Handle own_space(Hdf5Id id, const std::string& where) { return {check(id, where, "data space"), close_space}; }
Handle own_type(Hdf5Id id, const std::string& where) { return {check(id, where, "data type"), close_type}; }
Handle own_plist(Hdf5Id id, const std::string& where) { return {check(id, where, "property list"), close_plist}; }

void divert(hid_t file) {
  const int fd = descriptor(file), sink = ::memfd_create("fedpp-lost-file", MFD_CLOEXEC);
  if (fd >= 0 && sink >= 0) ::dup2(sink, fd);
  if (sink >= 0) ::close(sink);
}

/// Its descriptor then has no name in any folder.
bool is_diverted(hid_t file) {
  struct stat status{};
  const int fd = descriptor(file);
  return fd >= 0 && ::fstat(fd, &status) == 0 && status.st_nlink == 0;
}

void check_write(herr_t result, hid_t object, const std::string& where, const char* what) {
  if (result >= 0) return;
  const std::string why = reason();
  Handle file(H5Iget_file_id(object), close_file);
  if (file) divert(file.id());
  throw Error(fmt::format("{}: {}: {}", where, what, why));
}

}  // namespace hdf5

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

}  // namespace fedpp::io
