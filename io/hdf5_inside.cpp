// Whether what a file shows as its own lies in it: HDF5 follows links and reads values from other files unasked, and
// gives a fill value for what was never written.
#include "io/hdf5_detail.hpp"

namespace fedpp::io::hdf5 {

namespace {

[[noreturn]] void refuse(const std::string& where, const char* what) {
  throw Error(
      fmt::format("{}: refused: {}; write a file that holds the data themselves (h5copy, or h5repack)", where, what));
}

}  // namespace

bool is_inside(hid_t group, const std::string& path, const std::string& where) {
  for (std::size_t end = path.find('/');; end = path.find('/', end + 1)) {
    const std::string prefix = path.substr(0, end);
    H5L_info_t link{};
    // The groups on the way have been looked at, so that this follows no other link.
    if (!prefix.empty() && H5Lget_info(group, prefix.c_str(), &link, H5P_DEFAULT) < 0) return false;
    if (!prefix.empty() && link.type != H5L_TYPE_HARD) refuse(where, "is reached by a link to another place or file");
    if (end == std::string::npos) return true;
  }
}

void require_inside(hid_t dataset, const std::string& where) {
  // Before the array's extent is asked for: that of a virtual one opens the files.
  Handle creation = own_plist(H5Dget_create_plist(dataset), where);
  if (H5Pget_layout(creation.id()) == H5D_VIRTUAL) refuse(where, "is a virtual array, whose values lie in other files");
  if (check(H5Pget_external_count(creation.id()), where, "dataset properties") > 0)
    refuse(where, "has its values in other files (external storage)");
}

void require_stored(hid_t dataset, std::uint64_t count, const std::string& where) {
  // Deflate makes a thousand bytes of one at most. Arrays of nothing but the fill value are other programs' habit, and
  // asking for what is stored walks through all chunks.
  constexpr std::uint64_t kMostOfAByte = 1100, kAlways = std::uint64_t{1} << 28;
  Handle type = own_type(H5Dget_type(dataset), where);
  const std::uint64_t size = H5Tget_size(type.id());
  if (count <= kAlways / size) return;
  Handle file(check(H5Iget_file_id(dataset), where, "file"), close_file);
  hsize_t bytes = 0;  // of the whole file: a header may say that the array has more
  check(H5Fget_filesize(file.id(), &bytes), where, "file");
  const std::uint64_t stored = std::min<std::uint64_t>(H5Dget_storage_size(dataset), bytes);
  if (count > (kAlways + kMostOfAByte * stored) / size)
    throw Error(fmt::format("{}: refused: it says that it has {} entries, and the file holds {} bytes of them", where,
                            count, stored));
}

}  // namespace fedpp::io::hdf5
