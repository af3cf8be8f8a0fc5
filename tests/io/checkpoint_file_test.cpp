#include "io/checkpoint_file.hpp"

#include <chrono>
#include <filesystem>
#include <thread>

#include "io/support.hpp"

namespace fedpp::io {
namespace {

void make_checkpoint(const std::string& path) {
  PartialFile partial(path);
  File file = create_unsealed(partial);
  file.write("mean", std::vector<double>(300, 0.1));
  file.close();
  commit(partial, kCheckpoint);
}

/// The first lines that every checkpoint ever written has.
TEST(CheckpointFile, IsKnownByItsHeader) {
  TemporaryFolder folder;
  const std::string path = folder / checkpoint_name(7);
  make_checkpoint(path);
  EXPECT_TRUE(bytes_of(path).starts_with("fedpp checkpoint\nformat 1\npayload-bytes "));
  EXPECT_EQ(bytes_of(path).substr(512, 8), "\x89HDF\r\n\x1a\n");
  seal(path, {"fedpp sequences", 1, "", ""});
  expect_error(error_of([&] { verify(path, kCheckpoint); }), path + ": refused: it is not a checkpoint of fedpp", "");
}

TEST(CheckpointFile, NamesSortByRound) {
  TemporaryFolder folder;
  EXPECT_EQ(checkpoint_name(40), "checkpoint-000040.h5");
  EXPECT_EQ(checkpoint_name(1234567), "checkpoint-1234567.h5");
  for (const char* name : {"checkpoint-000040.h5", "checkpoint-1234567.h5", "checkpoint-000007.h5", "checkpoint-7.h5",
                           "checkpoint-000007.h5.partial", "checkpoint-000007.h5.12.partial", "result.h5",
                           "checkpoint-.h5", "checkpoint--00001.h5", "checkpoint-00000x.h5"})
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

/// As beside a job that keeps one: what was listed is gone when it is opened.
TEST(CheckpointFile, NewestIntactIsFoundWhileAJobPrunes) {
  TemporaryFolder folder;
  make_checkpoint(folder / checkpoint_name(0));
  std::jthread job([&](const std::stop_token& asked) {
    for (int round = 0; !asked.stop_requested(); ++round) {
      std::filesystem::rename(folder / checkpoint_name(round), folder / checkpoint_name(round + 1));
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  });
  for (int i = 0; i < 300; ++i) {
    std::vector<std::string> refused;
    EXPECT_TRUE(newest_intact_checkpoint(folder.path(), &refused));
    EXPECT_TRUE(refused.empty());
  }
}

TEST(CheckpointFile, PruneKeepsTheNewest) {
  TemporaryFolder folder;
  for (const int round : {10, 20, 30, 5}) put(folder / checkpoint_name(round), "x");
  prune_checkpoints(folder.path(), 2);
  const std::vector<CheckpointEntry> left = list_checkpoints(folder.path());
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].round, 20);
  EXPECT_EQ(left[1].round, 30);
  EXPECT_EQ(folder.entries(), 2u);
  prune_checkpoints(folder.path(), 0);
  EXPECT_EQ(list_checkpoints(folder.path()).size(), 1u);
}

TEST(CheckpointFile, InterruptedOnesAreDeletedAndNothingElse) {
  TemporaryFolder folder;
  for (const char* name : {"checkpoint-000030.h5.partial", "checkpoint-000040.h5.4711.partial"})
    put(folder / name, "x");
  for (const char* name : {"checkpoint-000030.h5", "checkpoint-000030.h5.superseded", "result.json.4711.partial",
                           "checkpoint-3.h5.4711.partial", "checkpoint-000030.h5.x.partial"})
    put(folder / name, "x");
  delete_interrupted_checkpoints(folder.path());
  EXPECT_EQ(folder.entries(), 5u);
  EXPECT_FALSE(std::filesystem::exists(folder / "checkpoint-000030.h5.partial"));
  EXPECT_FALSE(std::filesystem::exists(folder / "checkpoint-000040.h5.4711.partial"));
}

TEST(CheckpointFile, SupersededOnesAreKeptAndCountNoMore) {
  TemporaryFolder folder;
  for (const int round : {10, 20, 30}) put(folder / checkpoint_name(round), "x");
  const auto superseded = [&](int round) { return std::string(folder / checkpoint_name(round)) + ".superseded"; };
  EXPECT_EQ(supersede_checkpoints(folder.path(), 20), (std::vector{superseded(20), superseded(30)}));
  EXPECT_EQ(newest_checkpoint(folder.path())->round, 10);
  put(folder / checkpoint_name(30), "y");
  EXPECT_EQ(supersede_checkpoints(folder.path(), 15), (std::vector{superseded(30) + ".2"}));
  EXPECT_EQ(bytes_of(superseded(30)), "x");
  prune_checkpoints(folder.path(), 1);
  EXPECT_EQ(folder.entries(), 4u);
  EXPECT_EQ(supersede_checkpoints(folder.path(), 15), std::vector<std::string>{});
}

}  // namespace
}  // namespace fedpp::io
