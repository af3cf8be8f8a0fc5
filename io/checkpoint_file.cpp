#include "io/checkpoint_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>

#include "io/atomic_file.hpp"

namespace fedpp::io {

namespace {

constexpr std::string_view kMagic = "fedpp checkpoint\n";
constexpr std::string_view kPrefix = "checkpoint-", kSuffix = ".h5", kPartial = ".partial";
constexpr std::size_t kBlock = 1u << 20;

class OpenFile {
 public:
  OpenFile(const std::string& path, int flags) : path_(path), fd_(::open(path.c_str(), flags | O_CLOEXEC)) {
    if (fd_ < 0) fail("cannot open");
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() { ::close(fd_); }

  [[noreturn]] void fail(const char* what) const {
    throw Error(fmt::format("{}: {}: {}", path_, what, std::strerror(errno)));
  }

  std::uint64_t size() const {
    struct stat status{};
    if (::fstat(fd_, &status) != 0) fail("cannot read");
    if (!S_ISREG(status.st_mode)) throw Error(path_ + ": is not a file");
    return static_cast<std::uint64_t>(status.st_size);
  }

  /// Bytes read from `offset` on, fewer than `size` only at the end of the file.
  std::size_t read(std::uint64_t offset, char* out, std::size_t size) const {
    std::size_t done = 0;
    while (done < size) {
      const ssize_t count = ::pread(fd_, out + done, size - done, static_cast<off_t>(offset + done));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("cannot read");
      if (count == 0) break;
      done += static_cast<std::size_t>(count);
    }
    return done;
  }

  void write(std::uint64_t offset, std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("cannot write");
      bytes.remove_prefix(static_cast<std::size_t>(count));
      offset += static_cast<std::uint64_t>(count);
    }
  }

  void flush() const {
    if (::fsync(fd_) != 0 && errno != EINVAL) fail("cannot flush to disk");
  }

 private:
  std::string path_;
  int fd_;
};

/// XXH3-128 of everything behind the header, as 32 hexadecimal digits.
std::string payload_checksum(const OpenFile& file) {
  std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(), XXH3_freeState);
  if (!state || XXH3_128bits_reset(state.get()) != XXH_OK) throw Error("xxHash cannot start");
  std::vector<char> block(std::clamp<std::uint64_t>(file.size() - kCheckpointHeaderBytes, 1, kBlock));
  std::uint64_t offset = kCheckpointHeaderBytes;
  while (const std::size_t count = file.read(offset, block.data(), block.size())) {
    if (XXH3_128bits_update(state.get(), block.data(), count) != XXH_OK) throw Error("xxHash cannot go on");
    offset += count;
  }
  const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

/// The whole header block; there is exactly one for a payload, so that any other byte in it is an alteration.
std::string header(std::uint64_t length, std::string_view checksum) {
  std::string text =
      fmt::format("{}format {}\npayload-bytes {}\nxxh3-128 {}\n", kMagic, kCheckpointFormat, length, checksum);
  text.resize(kCheckpointHeaderBytes, '\0');
  return text;
}

/// The word after `key` in a header; empty where it is not there.
std::string_view field(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + key.size());
  const std::size_t end = rest.find('\n');
  return end == std::string_view::npos ? std::string_view{} : rest.substr(0, end);
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

/// The round in the name of a checkpoint; nothing for any other name.
std::optional<std::int64_t> round_of(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  const std::optional<std::int64_t> round =
      whole_number(name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size()));
  return round && checkpoint_name(*round) == name ? round : std::nullopt;
}

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code code;
  for (std::filesystem::directory_iterator it(directory, code), end; !code && it != end; it.increment(code))
    names.push_back(it->path().filename().string());
  if (code) throw Error(fmt::format("{}: cannot read the folder: {}", directory, code.message()));
  return names;
}

void remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT)
    throw Error(fmt::format("{}: cannot delete: {}", path, std::strerror(errno)));
}

}  // namespace

File create_checkpoint(const std::string& path) { return File::create(path, kCheckpointHeaderBytes); }

void seal(const std::string& path) {
  OpenFile file(path, O_RDWR);
  const std::uint64_t size = file.size();
  if (size <= kCheckpointHeaderBytes)
    throw Error(fmt::format("{}: has {} bytes, too few for a checkpoint", path, size));
  // The payload reaches the disk before the header that vouches for it.
  file.flush();
  file.write(0, header(size - kCheckpointHeaderBytes, payload_checksum(file)));
  file.flush();
  flush_to_disk(folder_of(path));
}

void verify(const std::string& path) {
  OpenFile file(path, O_RDONLY);
  const std::uint64_t size = file.size();
  std::string block(kCheckpointHeaderBytes, '\0');
  block.resize(file.read(0, block.data(), block.size()));
  const auto refusal = [&](const std::string& why) { return Error(fmt::format("{}: refused: {}", path, why)); };

  if (block.empty()) throw refusal("the file is empty");
  const std::size_t seen = std::min(block.size(), kMagic.size());
  if (std::string_view(block).substr(0, seen) != kMagic.substr(0, seen)) {
    if (block.size() == kCheckpointHeaderBytes && block.find_first_not_of('\0') == std::string::npos)
      throw refusal("it was never sealed (its writing was interrupted)");
    throw refusal("it is not a checkpoint of fedpp, or its beginning was altered");
  }
  if (block.size() < kCheckpointHeaderBytes)
    throw refusal(fmt::format("truncated: only {} bytes are left", block.size()));

  const std::optional<std::int64_t> format = whole_number(field(block, "\nformat "));
  if (!format) throw refusal("its header was altered (no format version)");
  if (*format != kCheckpointFormat)
    throw refusal(fmt::format(
        "it has format version {}, this program reads {}: use the version of fedpp that wrote it, or a newer one",
        *format, kCheckpointFormat));
  const std::optional<std::int64_t> length = whole_number(field(block, "\npayload-bytes "));
  if (!length) throw refusal("its header was altered (no payload length)");
  const std::uint64_t found = size - kCheckpointHeaderBytes, promised = static_cast<std::uint64_t>(*length);
  if (found < promised) throw refusal(fmt::format("truncated: {} of {} payload bytes are left", found, promised));
  if (found > promised) throw refusal(fmt::format("altered: {} bytes follow its end", found - promised));
  // Bytes of a damaged file are not repeated to a terminal: only a checksum's digits are.
  const std::string_view sum = field(block, "\nxxh3-128 ");
  if (sum.find_first_not_of("0123456789abcdef") != std::string_view::npos || block != header(promised, sum))
    throw refusal("its header was altered");
  const std::string checksum = payload_checksum(file);
  if (block != header(promised, checksum))
    throw refusal(fmt::format("altered: its checksum is {}, its header says {}", checksum, sum));
}

File open_checkpoint(const std::string& path) {
  verify(path);
  return File::open_read(path);
}

void commit(const std::string& temporary, const std::string& final_path) {
  seal(temporary);
  rename_durably(temporary, final_path);
}

std::string checkpoint_name(std::int64_t round) { return fmt::format("{}{:06d}{}", kPrefix, round, kSuffix); }

std::vector<CheckpointEntry> list_checkpoints(const std::string& directory) {
  std::vector<CheckpointEntry> entries;
  for (const std::string& name : names_in(directory))
    if (const std::optional<std::int64_t> round = round_of(name))
      entries.push_back({*round, (std::filesystem::path(directory) / name).string()});
  std::sort(entries.begin(), entries.end(),
            [](const CheckpointEntry& a, const CheckpointEntry& b) { return a.round < b.round; });
  return entries;
}

std::optional<CheckpointEntry> newest_checkpoint(const std::string& directory) {
  const std::vector<CheckpointEntry> entries = list_checkpoints(directory);
  return entries.empty() ? std::nullopt : std::optional(entries.back());
}

std::optional<CheckpointEntry> newest_intact_checkpoint(const std::string& directory,
                                                        std::vector<std::string>* refused) {
  const std::vector<CheckpointEntry> entries = list_checkpoints(directory);
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    try {
      verify(entry->path);
      return *entry;
    } catch (const Error& error) {
      if (refused) refused->emplace_back(error.what());
    }
  }
  return std::nullopt;
}

void prune_checkpoints(const std::string& directory, std::int64_t keep) {
  const std::int64_t kept = std::max<std::int64_t>(keep, 1);
  const std::vector<CheckpointEntry> entries = list_checkpoints(directory);
  for (std::int64_t i = 0; i + kept < static_cast<std::int64_t>(entries.size()); ++i) remove_file(entries[i].path);
  for (const std::string& name : names_in(directory)) {
    const std::string_view view(name);
    if (view.ends_with(kPartial) && round_of(view.substr(0, view.size() - kPartial.size())))
      remove_file((std::filesystem::path(directory) / name).string());
  }
}

}  // namespace fedpp::io
