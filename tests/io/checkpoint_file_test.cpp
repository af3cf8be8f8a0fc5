#include "io/checkpoint_file.hpp"

#include <xxhash.h>

#include <algorithm>
#include <random>

#include "io/support.hpp"

namespace fedpp::io {
namespace {

std::string make_checkpoint(const std::string& path) {
  File file = create_checkpoint(path + ".partial");
  Group clients = file.create_group("clients/0");
  std::vector<double> values(300);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.1 * static_cast<double>(i);
  clients.write("mean", values);
  clients.set_attribute("round", std::int64_t{7});
  file.write_scalar("configuration", std::string("[model]\nwidth = 32\n"));
  file.close();
  commit(path + ".partial", path);
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

TEST(CheckpointFile, RoundTrip) {
  TemporaryFolder folder;
  const std::string path = make_checkpoint(folder / "checkpoint-000007.h5");
  EXPECT_EQ(folder.entries(), 1u);
  verify(path);
  const File file = open_checkpoint(path);
  EXPECT_DOUBLE_EQ(file.read_vector<double>("clients/0/mean").at(10), 1.0);
  EXPECT_EQ(file.group("clients/0").attribute<std::int64_t>("round"), 7);
  EXPECT_EQ(file.read_scalar<std::string>("configuration"), "[model]\nwidth = 32\n");
}

TEST(CheckpointFile, HeaderIsTextWithTheChecksumOfTheRest) {
  TemporaryFolder folder;
  const std::string bytes = bytes_of(make_checkpoint(folder / "a.h5"));
  const std::string payload = bytes.substr(512);
  const XXH128_hash_t hash = XXH3_128bits(payload.data(), payload.size());
  char expected[200];
  std::snprintf(expected, sizeof expected, "fedpp checkpoint\nformat 1\npayload-bytes %zu\nxxh3-128 %016llx%016llx\n",
                payload.size(), static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  EXPECT_EQ(bytes.substr(0, std::string(expected).size()), expected);
  EXPECT_EQ(bytes.substr(512, 8), "\x89HDF\r\n\x1a\n");
}

TEST(CheckpointFile, EqualContentGivesEqualBytes) {
  TemporaryFolder folder;
  EXPECT_EQ(bytes_of(make_checkpoint(folder / "a.h5")), bytes_of(make_checkpoint(folder / "b.h5")));
}

TEST(CheckpointFile, EveryFlippedBitOfTheHeaderIsRefused) {
  TemporaryFolder folder;
  const std::string path = make_checkpoint(folder / "a.h5");
  for (std::size_t bit = 0; bit < 512 * 8; ++bit) {
    flip(path, bit);
    ASSERT_TRUE(error_of([&] { verify(path); }).starts_with(path + ": refused: ")) << "bit " << bit;
    flip(path, bit);
  }
  verify(path);
}

TEST(CheckpointFile, FlippedBitsOfThePayloadAreRefused) {
  TemporaryFolder folder;
  const std::string path = make_checkpoint(folder / "a.h5");
  const std::size_t bits = std::filesystem::file_size(path) * 8;
  std::mt19937_64 draw(5);
  std::vector<std::size_t> chosen{512 * 8, bits - 1};
  for (int i = 0; i < 1000; ++i) chosen.push_back(512 * 8 + draw() % (bits - 512 * 8));
  for (const std::size_t bit : chosen) {
    flip(path, bit);
    expect_error(error_of([&] { open_checkpoint(path); }), path + ": refused: altered: its checksum is ",
                 "its header says");
    flip(path, bit);
  }
  verify(path);
}

TEST(CheckpointFile, EveryTruncationIsRefused) {
  TemporaryFolder folder;
  const std::string path = make_checkpoint(folder / "a.h5"), whole = bytes_of(path);
  for (std::size_t length = whole.size() - 1;; length -= std::min<std::size_t>(length, length > 600 ? 37 : 1)) {
    std::filesystem::resize_file(path, length);
    expect_error(error_of([&] { verify(path); }),
                 path + ": refused: ", length == 0 ? "the file is empty" : "truncated");
    if (length == 0) break;
  }
  put(path, whole.substr(0, whole.size() - 1));
  expect_error(error_of([&] { verify(path); }), path + ": refused: truncated: ", "payload bytes are left");
  put(path, whole + "x");
  expect_error(error_of([&] { verify(path); }), path + ": refused: altered: 1 bytes follow", "");
}

TEST(CheckpointFile, OtherFilesAreRefusedByTheirKind) {
  TemporaryFolder folder;
  const std::string text = put(folder / "a.h5", std::string(2000, 'x'));
  expect_error(error_of([&] { verify(text); }), text + ": refused: it is not a checkpoint of fedpp", "");
  const std::string plain = folder / "plain.h5";
  File::create(plain).close();
  expect_error(error_of([&] { verify(plain); }), plain + ": refused: it is not a checkpoint of fedpp", "");
  const std::string unsealed = folder / "unsealed.h5";
  create_checkpoint(unsealed).close();
  expect_error(error_of([&] { verify(unsealed); }), unsealed + ": refused: it was never sealed", "");
  const std::string none = folder / "none.h5";
  EXPECT_EQ(error_of([&] { verify(none); }), none + ": cannot open: No such file or directory");
  EXPECT_EQ(error_of([&] { verify(folder.path()); }), folder.path() + ": is not a file");
  const std::string newer = make_checkpoint(folder / "newer.h5");
  std::string bytes = bytes_of(newer);
  bytes.replace(bytes.find("format 1"), 8, "format 2");
  put(newer, bytes);
  expect_error(error_of([&] { verify(newer); }), newer + ": refused: it has format version 2, this program reads 1",
               "newer");
}

TEST(CheckpointFile, BytesOfADamagedHeaderAreNotRepeated) {
  TemporaryFolder folder;
  const std::string path = make_checkpoint(folder / "a.h5");
  std::string bytes = bytes_of(path);
  bytes[bytes.find("xxh3-128 ") + 12] = '\xe6';
  put(path, bytes);
  EXPECT_EQ(error_of([&] { verify(path); }), path + ": refused: its header was altered");
}

TEST(CheckpointFile, CommitReplacesAndNamesWhatFails) {
  TemporaryFolder folder;
  const std::string path = make_checkpoint(folder / "a.h5");
  put(path, "damaged");
  make_checkpoint(path);
  verify(path);
  const std::string none = folder / "none";
  EXPECT_EQ(error_of([&] { commit(none, path); }), none + ": cannot open: No such file or directory");
  const std::string tiny = put(folder / "tiny", "x");
  EXPECT_EQ(error_of([&] { seal(tiny); }), tiny + ": has 1 bytes, too few for a checkpoint");
}

TEST(CheckpointFile, FullDiskIsAnErrorAndLeavesThePreviousOne) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  TemporaryFolder folder;
  const std::string path = make_checkpoint(folder / "a.h5"), before = bytes_of(path);
  std::filesystem::create_symlink("/dev/full", path + ".partial");
  const std::string text = error_of([&] {
    File file = create_checkpoint(path + ".partial");
    file.write("large", std::vector<double>(10000, 1.5));
    file.close();
    commit(path + ".partial", path);
  });
  expect_error(text, path + ".partial: cannot create the file: ", "No space left on device");
  EXPECT_EQ(bytes_of(path), before);
}

TEST(CheckpointFile, NamesSortByRound) {
  TemporaryFolder folder;
  EXPECT_EQ(checkpoint_name(40), "checkpoint-000040.h5");
  EXPECT_EQ(checkpoint_name(1234567), "checkpoint-1234567.h5");
  for (const char* name :
       {"checkpoint-000040.h5", "checkpoint-1234567.h5", "checkpoint-000007.h5", "checkpoint-7.h5",
        "checkpoint-000007.h5.partial", "result.h5", "checkpoint-.h5", "checkpoint--00001.h5", "checkpoint-00000x.h5"})
    put(folder / name, "x");
  std::vector<std::int64_t> rounds;
  for (const CheckpointEntry& entry : list_checkpoints(folder.path())) {
    EXPECT_EQ(entry.path, folder / checkpoint_name(entry.round));
    rounds.push_back(entry.round);
  }
  EXPECT_EQ(rounds, (std::vector<std::int64_t>{7, 40, 1234567}));
  EXPECT_EQ(newest_checkpoint(folder.path())->round, 1234567);
  const std::string none = folder / "none";
  expect_error(error_of([&] { list_checkpoints(none); }), none + ": cannot read the folder: ", "No such file");
  TemporaryFolder empty;
  EXPECT_FALSE(newest_checkpoint(empty.path()));
  EXPECT_FALSE(newest_intact_checkpoint(empty.path()));
}

TEST(CheckpointFile, NewestIntactPassesOverDamagedOnes) {
  TemporaryFolder folder;
  for (const int round : {10, 20, 30}) make_checkpoint(folder / checkpoint_name(round));
  std::vector<std::string> refused;
  EXPECT_EQ(newest_intact_checkpoint(folder.path(), &refused)->round, 30);
  EXPECT_TRUE(refused.empty());
  const std::string damaged = folder / checkpoint_name(30);
  std::string bytes = bytes_of(damaged);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  put(damaged, bytes);
  EXPECT_EQ(newest_intact_checkpoint(folder.path(), &refused)->round, 20);
  ASSERT_EQ(refused.size(), 1u);
  expect_error(refused[0], damaged + ": refused: ", "altered");
}

TEST(CheckpointFile, PruneKeepsTheNewest) {
  TemporaryFolder folder;
  for (const int round : {10, 20, 30, 5}) put(folder / checkpoint_name(round), "x");
  put(folder / "checkpoint-000030.h5.partial", "x");
  put(folder / "result.json.partial", "x");
  prune_checkpoints(folder.path(), 2);
  const std::vector<CheckpointEntry> left = list_checkpoints(folder.path());
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].round, 20);
  EXPECT_EQ(left[1].round, 30);
  EXPECT_EQ(folder.entries(), 3u);
  prune_checkpoints(folder.path(), 0);
  EXPECT_EQ(list_checkpoints(folder.path()).size(), 1u);
}

}  // namespace
}  // namespace fedpp::io
