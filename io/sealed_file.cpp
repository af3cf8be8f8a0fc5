#include "io/sealed_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "io/number.hpp"
#include "io/open_file.hpp"

namespace fedpp::io {

namespace {

constexpr std::size_t kBlock = 1u << 20;

/// XXH3-128 of everything behind the header, as 32 hexadecimal digits.
std::string payload_checksum(const OpenFile& file) {
  std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(), XXH3_freeState);
  if (!state || XXH3_128bits_reset(state.get()) != XXH_OK) throw Error("xxHash cannot start");
  std::vector<char> block(std::clamp<std::uint64_t>(file.size() - kSealBytes, 1, kBlock));
  std::uint64_t offset = kSealBytes;
  while (const std::size_t count = file.read(offset, block.data(), block.size())) {
    if (XXH3_128bits_update(state.get(), block.data(), count) != XXH_OK) throw Error("xxHash cannot go on");
    offset += count;
  }
  const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

/// The whole header block; there is exactly one for a payload, so that any other byte in it is an alteration.
std::string header(const SealedKind& kind, std::uint64_t length, std::string_view checksum) {
  std::string text =
      fmt::format("{}\nformat {}\npayload-bytes {}\nxxh3-128 {}\n", kind.magic, kind.format, length, checksum);
  text.resize(kSealBytes, '\0');
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

void seal(const OpenFile& file, const std::string& name, const SealedKind& kind) {
  const std::uint64_t size = file.size();
  if (size <= kSealBytes) throw Error(fmt::format("{}: has {} bytes, too few for {}", name, size, kind.what));
  // The payload reaches the disk before the header that vouches for it.
  file.flush();
  file.write(0, header(kind, size - kSealBytes, payload_checksum(file)));
  file.flush();
}

}  // namespace

File create_unsealed(const PartialFile& partial) { return File::create(partial, kSealBytes); }

void seal(const std::string& path, const SealedKind& kind) { seal(OpenFile(path, O_RDWR), path, kind); }

void verify(const std::string& path, const SealedKind& kind) {
  OpenFile file(path, O_RDONLY);
  const std::uint64_t size = file.size();
  std::string block(kSealBytes, '\0');
  block.resize(file.read(0, block.data(), block.size()));
  const auto refusal = [&](const std::string& why) {
    return Error(fmt::format("{}: refused: {}{}", path, why, kind.remedy));
  };

  if (block.empty()) throw refusal("the file is empty");
  const std::string magic = fmt::format("{}\n", kind.magic);
  if (!magic.starts_with(block.substr(0, magic.size()))) {
    if (block.size() == kSealBytes && block.find_first_not_of('\0') == std::string::npos)
      throw refusal("it was never sealed (its writing was interrupted)");
    throw refusal(fmt::format("it is not {}, or its beginning was altered", kind.what));
  }
  if (block.size() < kSealBytes) throw refusal(fmt::format("truncated: only {} bytes are left", block.size()));

  const std::optional<std::int64_t> format = whole_number(field(block, "\nformat "));
  if (!format) throw refusal("its header was altered (no format version)");
  if (*format != kind.format)
    throw refusal(fmt::format(
        "it has format version {}, this program reads {}: use the version of fedpp that wrote it, or a newer one",
        *format, kind.format));
  const std::optional<std::int64_t> length = whole_number(field(block, "\npayload-bytes "));
  if (!length) throw refusal("its header was altered (no payload length)");
  const std::uint64_t found = size - kSealBytes, promised = static_cast<std::uint64_t>(*length);
  if (found < promised) throw refusal(fmt::format("truncated: {} of {} payload bytes are left", found, promised));
  if (found > promised) throw refusal(fmt::format("altered: {} bytes follow its end", found - promised));
  // Bytes of a damaged file are not repeated to a terminal: only a checksum's digits are.
  const std::string_view sum = field(block, "\nxxh3-128 ");
  if (sum.find_first_not_of("0123456789abcdef") != std::string_view::npos || block != header(kind, promised, sum))
    throw refusal("its header was altered");
  const std::string checksum = payload_checksum(file);
  if (block != header(kind, promised, checksum))
    throw refusal(fmt::format("altered: its checksum is {}, its header says {}", checksum, sum));
}

File open_sealed(const std::string& path, const SealedKind& kind) {
  verify(path, kind);
  return File::open_read(path);
}

void seal(const PartialFile& partial, const SealedKind& kind) {
  seal(OpenFile(partial.partial_path(), O_RDWR, partial.path()), partial.path(), kind);
}

void commit(PartialFile& partial, const SealedKind& kind) {
  seal(partial, kind);
  partial.commit();
}

}  // namespace fedpp::io
