#include "io/sealed_file.hpp"

#include <xxhash.h>

#include <algorithm>
#include <random>

#include "io/support.hpp"

namespace fedpp::io {
namespace {

constexpr SealedKind kKind{"fedpp test", 1, "a test of fedpp", "; write it again"};

std::string make_sealed(const std::string& path) {
  PartialFile partial(path);
  File file = create_unsealed(partial);
  Group clients = file.create_group("clients/0");
  std::vector<double> values(300);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.1 * static_cast<double>(i);
  clients.write("mean", values);
  clients.set_attribute("round", std::int64_t{7});
  file.write_scalar("configuration", std::string("[model]\nwidth = 32\n"));
  file.close();
  commit(partial, kKind);
  return path;
}

/// Flips one bit in place; twice restores it.
void flip(const std::string& path, std::size_t bit) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekg(static_cast<std::streamoff>(bit / 8));
  const char byte = static_cast<char>(file.get() ^ (1 << (bit % 8)));
  file.seekp(static_cast<std::streamoff>(bit / 8));
  file.put(byte);
}

TEST(SealedFile, RoundTrip) {
  TemporaryFolder folder;
  const std::string path = make_sealed(folder / "a.h5");
  EXPECT_EQ(folder.entries(), 1u);
  verify(path, kKind);
  const File file = open_sealed(path, kKind);
  EXPECT_DOUBLE_EQ(file.read_vector<double>("clients/0/mean").at(10), 1.0);
  EXPECT_EQ(file.group("clients/0").attribute<std::int64_t>("round"), 7);
  EXPECT_EQ(file.read_scalar<std::string>("configuration"), "[model]\nwidth = 32\n");
}

TEST(SealedFile, HeaderIsTextWithTheChecksumOfTheRest) {
  TemporaryFolder folder;
  const std::string bytes = bytes_of(make_sealed(folder / "a.h5"));
  const std::string payload = bytes.substr(512);
  const XXH128_hash_t hash = XXH3_128bits(payload.data(), payload.size());
  char expected[200];
  std::snprintf(expected, sizeof expected, "fedpp test\nformat 1\npayload-bytes %zu\nxxh3-128 %016llx%016llx\n",
                payload.size(), static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  EXPECT_EQ(bytes.substr(0, std::string(expected).size()), expected);
  EXPECT_EQ(bytes.substr(512, 8), "\x89HDF\r\n\x1a\n");
}

TEST(SealedFile, EqualContentGivesEqualBytes) {
  TemporaryFolder folder;
  EXPECT_EQ(bytes_of(make_sealed(folder / "a.h5")), bytes_of(make_sealed(folder / "b.h5")));
}

TEST(SealedFile, EveryFlippedBitOfTheHeaderIsRefused) {
  TemporaryFolder folder;
  const std::string path = make_sealed(folder / "a.h5");
  for (std::size_t bit = 0; bit < 512 * 8; ++bit) {
    flip(path, bit);
    ASSERT_TRUE(error_of([&] { verify(path, kKind); }).starts_with(path + ": refused: ")) << "bit " << bit;
    flip(path, bit);
  }
  verify(path, kKind);
}

TEST(SealedFile, FlippedBitsOfThePayloadAreRefused) {
  TemporaryFolder folder;
  const std::string path = make_sealed(folder / "a.h5");
  const std::size_t bits = std::filesystem::file_size(path) * 8;
  std::mt19937_64 draw(5);
  std::vector<std::size_t> chosen{512 * 8, bits - 1};
  for (int i = 0; i < 1000; ++i) chosen.push_back(512 * 8 + draw() % (bits - 512 * 8));
  for (const std::size_t bit : chosen) {
    flip(path, bit);
    expect_error(error_of([&] { open_sealed(path, kKind); }), path + ": refused: altered: its checksum is ",
                 "; write it again");
    flip(path, bit);
  }
  verify(path, kKind);
}

TEST(SealedFile, EveryTruncationIsRefused) {
  TemporaryFolder folder;
  const std::string path = make_sealed(folder / "a.h5"), whole = bytes_of(path);
  for (std::size_t length = whole.size() - 1;; length -= std::min<std::size_t>(length, length > 600 ? 37 : 1)) {
    std::filesystem::resize_file(path, length);
    expect_error(error_of([&] { verify(path, kKind); }),
                 path + ": refused: ", length == 0 ? "the file is empty" : "truncated");
    if (length == 0) break;
  }
  put(path, whole.substr(0, whole.size() - 1));
  expect_error(error_of([&] { verify(path, kKind); }), path + ": refused: truncated: ", "payload bytes are left");
  put(path, whole + "x");
  expect_error(error_of([&] { verify(path, kKind); }), path + ": refused: altered: 1 bytes follow", "");
}

TEST(SealedFile, OtherFilesAreRefusedByTheirKind) {
  TemporaryFolder folder;
  const std::string text = put(folder / "a.h5", std::string(2000, 'x'));
  expect_error(error_of([&] { verify(text, kKind); }), text + ": refused: it is not a test of fedpp", "");
  const std::string plain = folder / "plain.h5";
  File::create(plain).close();
  expect_error(error_of([&] { verify(plain, kKind); }), plain + ": refused: it is not a test of fedpp", "");
  const std::string unsealed = folder / "unsealed.h5";
  File::create(unsealed, kSealBytes).close();
  expect_error(error_of([&] { verify(unsealed, kKind); }), unsealed + ": refused: it was never sealed", "");
  const std::string none = folder / "none.h5";
  EXPECT_EQ(error_of([&] { verify(none, kKind); }), none + ": cannot open: No such file or directory");
  EXPECT_EQ(error_of([&] { verify(folder.path(), kKind); }), folder.path() + ": is no regular file");
  const std::string newer = make_sealed(folder / "newer.h5");
  std::string bytes = bytes_of(newer);
  bytes.replace(bytes.find("format 1"), 8, "format 2");
  put(newer, bytes);
  expect_error(error_of([&] { verify(newer, kKind); }),
               newer + ": refused: it has format version 2, this program reads 1", "newer");
}

TEST(SealedFile, BytesOfADamagedHeaderAreNotRepeated) {
  TemporaryFolder folder;
  const std::string path = make_sealed(folder / "a.h5");
  std::string bytes = bytes_of(path);
  bytes[bytes.find("xxh3-128 ") + 12] = '\xe6';
  put(path, bytes);
  EXPECT_EQ(error_of([&] { verify(path, kKind); }), path + ": refused: its header was altered; write it again");
}

TEST(SealedFile, CommitReplacesAndNamesWhatFails) {
  TemporaryFolder folder;
  const std::string path = make_sealed(folder / "a.h5");
  put(path, "damaged");
  make_sealed(path);
  verify(path, kKind);
  const std::string tiny = put(folder / "tiny", "x");
  EXPECT_EQ(error_of([&] { seal(tiny, kKind); }), tiny + ": has 1 bytes, too few for a test of fedpp");
}

TEST(SealedFile, FullDiskIsAnErrorAndLeavesThePreviousOne) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  TemporaryFolder folder;
  const std::string path = make_sealed(folder / "a.h5"), before = bytes_of(path);
  const std::string text = error_of([&] {
    PartialFile partial(path);
    std::filesystem::remove(partial.partial_path());
    std::filesystem::create_symlink("/dev/full", partial.partial_path());
    File file = create_unsealed(partial);
    file.write("large", std::vector<double>(10000, 1.5));
    file.close();
    commit(partial, kKind);
  });
  expect_error(text, path + ": cannot create the file: ", "No space left on device (free some space");
  EXPECT_EQ(folder.entries(), 1u);
  EXPECT_EQ(bytes_of(path), before);
}

}  // namespace
}  // namespace fedpp::io
