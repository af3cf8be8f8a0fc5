// The seal of checkpoints, the same of event files. The input is read as a file, and as edits of a sealed one: whatever
// was altered is refused.
#include <vector>

#include "input.hpp"
#include "io/checkpoint_file.hpp"

namespace {

bool accepted(const std::string& path) {
  try {
    fedpp::io::verify(path, fedpp::io::kCheckpoint);
    return true;
  } catch (const fedpp::io::Error& error) {
    fedpp::fuzz::promise(*error.what() != '\0', "an error has a text");
    for (const char* c = error.what(); *c != '\0'; ++c)
      fedpp::fuzz::promise(*c >= ' ' && *c <= '~', "a damaged file's bytes do not reach the terminal");
    return false;
  }
}

std::string bytes_of(const std::string& path) {
  std::string bytes;
  std::FILE* file = std::fopen(path.c_str(), "rb");
  for (int c; (c = std::fgetc(file)) != EOF;) bytes.push_back(static_cast<char>(c));
  std::fclose(file);
  return bytes;
}

/// 700 bytes behind the header.
std::string sealed(fedpp::fuzz::ScratchFile& file) {
  std::string bytes(fedpp::io::kSealBytes + 700, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 37);
  const std::string path = file.put(bytes.data(), bytes.size());
  fedpp::io::seal(path, fedpp::io::kCheckpoint);
  return bytes_of(path);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fedpp;
  static fuzz::ScratchFile file(".h5");
  static const std::string intact = sealed(file);
  if (accepted(file.put(data, size))) {  // only what seal() makes of it
    const std::string path = file.put(data, size);
    io::seal(path, io::kCheckpoint);
    fuzz::promise(bytes_of(path) == std::string(reinterpret_cast<const char*>(data), size),
                  "there is one header for a payload");
  }
  std::string edited = intact;
  for (std::size_t k = 0; k + 3 <= size;
       k += 3) {  // three bytes an edit: where, and what; the last position cuts the file
    const std::size_t at = (data[k] | data[k + 1] << 8) % (edited.size() + 1);
    if (at == edited.size())
      edited.resize(edited.size() - std::min<std::size_t>(data[k + 2], edited.size()));
    else
      edited[at] = static_cast<char>(data[k + 2]);
    if (edited.empty()) break;
  }
  fuzz::promise(accepted(file.put(edited.data(), edited.size())) == (edited == intact),
                "altered files are refused, intact ones are not");
  return 0;
}
