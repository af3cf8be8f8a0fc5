#include "io/partial_file.hpp"

#include <sys/stat.h>

#include <optional>

#include "io/atomic_file.hpp"
#include "io/hdf5.hpp"
#include "io/support.hpp"

namespace fedpp::io {
namespace {

/// Put in the place of a partial file, it fails all writes as a full disk does.
void fill_disk(const PartialFile& partial) {
  std::filesystem::remove(partial.partial_path());
  std::filesystem::create_symlink("/dev/full", partial.partial_path());
}

/// While it lives, root has the rights of a user, whom a folder can refuse.
class WithoutRoot {
 public:
  WithoutRoot() {
    if (::geteuid() == 0 && ::seteuid(65534) == 0) was_root_ = true;
  }
  WithoutRoot(const WithoutRoot&) = delete;
  WithoutRoot& operator=(const WithoutRoot&) = delete;
  ~WithoutRoot() {
    if (was_root_) {
      EXPECT_EQ(::seteuid(0), 0);
    }
  }

 private:
  bool was_root_ = false;
};

TEST(PartialFile, TwoWritersOfOnePathDoNotMixAndTheLastToCommitWins) {
  TemporaryFolder folder;
  const std::string path = put(folder / "a.csv", "old");
  std::optional<PartialFile> one(path), two(path);
  one->append("one ");
  two->append("two ");
  EXPECT_EQ(bytes_of(path), "old");
  one->append("is whole");
  two->append("is ");
  two->append("whole");
  two->commit();
  EXPECT_EQ(bytes_of(path), "two is whole");
  one->commit();
  EXPECT_EQ(bytes_of(path), "one is whole");
  one.reset();
  two.reset();
  EXPECT_EQ(bytes_of(path), "one is whole");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(PartialFile, WhatIsThereIsNeitherFilledNorDeleted) {
  TemporaryFolder folder;
  const std::string path = folder / "a.csv", own = path + "." + std::to_string(::getpid());
  put(own + ".partial", "of another host");
  std::filesystem::create_symlink("elsewhere", path + "." + std::to_string(::getpid() + 1) + ".partial");
  {
    PartialFile partial(path);
    EXPECT_EQ(partial.number(), ::getpid() + 2);
    EXPECT_EQ(partial.partial_path(), path + "." + std::to_string(::getpid() + 2) + ".partial");
    partial.append("mine");
    partial.commit();
    put(partial.partial_path(), "of another host, by now");
  }
  EXPECT_EQ(bytes_of(path), "mine");
  EXPECT_EQ(bytes_of(own + ".partial"), "of another host");
  EXPECT_FALSE(std::filesystem::exists(folder / "elsewhere"));
  EXPECT_EQ(folder.entries(), 4u);
}

TEST(PartialFile, WithoutCommitTheOldFileStaysAndNothingElse) {
  TemporaryFolder folder;
  const std::string path = put(folder / "a.csv", "old");
  {
    PartialFile partial(path);
    partial.append("new");
    const PartialFile moved(std::move(partial));
    EXPECT_EQ(folder.entries(), 2u);
  }
  EXPECT_EQ(bytes_of(path), "old");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(PartialFile, IsFilledByOthersAndOwnedWhereItWasMade) {
  TemporaryFolder folder;
  const std::string path = folder / "a.csv";
  PartialFile made(path);
  made.append("one");
  {
    const PartialFile other(path, made.number());
    other.append(", two");
  }
  made.commit();
  EXPECT_EQ(bytes_of(path), "one, two");
}

TEST(PartialFile, HasTheRightsOfTheUmask) {
  TemporaryFolder folder;
  const mode_t before = ::umask(027);
  write_file(folder / "a.csv", "x");
  ::umask(before);
  struct stat status{};
  ASSERT_EQ(::stat((folder / "a.csv").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

/// Who takes result.json away from others does so once, not after each --resume.
TEST(PartialFile, KeepsOutWhomTheFileKeptOutThatItReplaces) {
  TemporaryFolder folder;
  const auto mode = [](const std::string& path) {
    struct stat status{};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status.st_mode & 07777;
  };
  const mode_t before = ::umask(027);
  const auto after = [&](mode_t kept) {
    const std::string path = put(folder / "a.json", "old");
    EXPECT_EQ(::chmod(path.c_str(), kept), 0);
    PartialFile partial(path);
    const mode_t on_its_way = mode(partial.partial_path());
    partial.append("new");
    partial.commit();
    EXPECT_EQ(mode(path), on_its_way);
    EXPECT_EQ(bytes_of(path), "new");
    return on_its_way;
  };
  EXPECT_EQ(after(0600), 0600u);
  EXPECT_EQ(after(0640), 0640u);
  EXPECT_EQ(after(0644), 0640u);  // the umask counts, too
  EXPECT_EQ(after(0400), 0600u);
  EXPECT_EQ(after(04750), 0750u);
  const std::string closed = put(folder / "closed", "x"), link = folder / "link";
  ASSERT_EQ(::chmod(closed.c_str(), 0600), 0);
  std::filesystem::create_symlink(closed, link);
  write_file(link, "new");
  EXPECT_EQ(mode(link), 0640u);  // a link is replaced, not what it leads to
  ::umask(before);
}

TEST(PartialFile, FailuresNameThePathAndLeaveNothing) {
  TemporaryFolder folder;
  const std::string none = folder / "none/a.csv";
  EXPECT_EQ(error_of([&] { PartialFile partial(none); }),
            none + ": cannot write: No such file or directory (does its folder exist?)");
  const std::string path = folder / "a.csv";
  ASSERT_EQ(::chmod(folder.path().c_str(), 0500), 0);
  {
    const WithoutRoot user;
    EXPECT_EQ(error_of([&] { PartialFile partial(path); }), path + ": cannot write: Permission denied");
  }
  ASSERT_EQ(::chmod(folder.path().c_str(), 0700), 0);
  std::filesystem::create_directory(path);
  EXPECT_EQ(error_of([&] { PartialFile(path).commit(); }), path + ": cannot be replaced: Is a directory");
  std::filesystem::remove(path);
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(PartialFile, FullDiskNamesThePathAndLeavesNothing) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  TemporaryFolder folder;
  const std::string path = folder / "a.h5", room = "No space left on device (free some space";
  expect_error(error_of([&] {
                 PartialFile partial(path);
                 fill_disk(partial);
                 partial.append("x");
               }),
               path + ": cannot write: ", room);
  expect_error(error_of([&] {
                 PartialFile partial(path);
                 fill_disk(partial);
                 File::create(partial);
               }),
               path + ": cannot create the file: ", room);
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(PartialFile, Hdf5ErrorsNameThePath) {
  TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  PartialFile partial(path);
  EXPECT_EQ(error_of([&] { File::open_append(partial); }), path + ": is not an HDF5 file");
  File file = File::create(partial);
  file.write_scalar("x", 1.0);
  expect_error(error_of([&] { file.write_scalar("x", 2.0); }), path + ": /x: cannot create the array: ", "");
  file.close();
  File again = File::open_append(partial);
  again.write_scalar("y", 2.0);
  again.close();
  partial.commit();
  EXPECT_EQ(File::open_read(path).read_scalar<double>("y"), 2.0);
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(PartialFile, IsKnownByItsName) {
  EXPECT_EQ(path_of_partial("out/a.h5.4711.partial"), "out/a.h5");
  EXPECT_EQ(path_of_partial("out/a.h5.partial"), "out/a.h5");
  EXPECT_EQ(path_of_partial("a.1.2.partial"), "a.1");
  EXPECT_EQ(path_of_partial("a..partial"), "a.");
  EXPECT_EQ(path_of_partial("12.partial"), "12");
  EXPECT_EQ(path_of_partial("a.h5"), std::nullopt);
  EXPECT_EQ(path_of_partial("a.h5.4711.partial.h5"), std::nullopt);
}

}  // namespace
}  // namespace fedpp::io
