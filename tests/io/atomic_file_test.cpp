#include "io/atomic_file.hpp"

#include <sys/stat.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "io/partial_file.hpp"
#include "io/support.hpp"

namespace fedpp::io {
namespace {

TEST(AtomicFile, ReplacesTheWholeFileAndLeavesNothingBeside) {
  TemporaryFolder folder;
  const std::string path = folder / "a.txt";
  write_file(path, "first, and longer");
  write_file(path, "second");
  EXPECT_EQ(bytes_of(path), "second");
  EXPECT_EQ(folder.entries(), 1u);
  write_file(path, "");
  EXPECT_EQ(bytes_of(path), "");
}

TEST(AtomicFile, WritesJson) {
  TemporaryFolder folder;
  write_json(folder / "a.json", nlohmann::json{{"b", 1.5}, {"a", {1, 2}}});
  EXPECT_EQ(nlohmann::json::parse(bytes_of(folder / "a.json")), (nlohmann::json{{"a", {1, 2}}, {"b", 1.5}}));
  nlohmann::ordered_json ordered;
  ordered["z"] = 1;
  ordered["a"] = std::numeric_limits<double>::quiet_NaN();
  write_json(folder / "b.json", ordered);
  EXPECT_EQ(bytes_of(folder / "b.json"), "{\n  \"z\": 1,\n  \"a\": null\n}\n");
}

TEST(AtomicFile, MissingFolderIsNamed) {
  TemporaryFolder folder;
  const std::string path = folder / "none/a.txt";
  expect_error(error_of([&] { write_file(path, "x"); }), path + ": cannot write: No such file or directory",
               "does its folder exist");
}

TEST(AtomicFile, FolderInTheWayIsNamed) {
  TemporaryFolder folder;
  std::filesystem::create_directory(folder / "a");
  expect_error(error_of([&] { write_file(folder / "a", "x"); }), folder / "a: cannot be replaced: ", "directory");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(AtomicFile, OnlyFilesAreReplacedAndNoInput) {
  TemporaryFolder folder;
  write_file(folder / "data", "events");
  check_writable(folder / "data");
  expect_error(error_of([&] { check_writable(folder / "data", {folder / "gone", folder / "./data"}); }),
               folder / "data: is read here", "name another file");
  std::filesystem::create_symlink("data", folder / "link");
  expect_error(error_of([&] { check_writable(folder / "link"); }), folder / "link: is a symbolic link",
               "the file itself");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  expect_error(error_of([&] { check_writable(folder / "pipe"); }), folder / "pipe: is a device, pipe", "name a file");
  expect_error(error_of([&] { check_writable(folder.path()); }), folder.path() + ": is a folder", "name a file");
  EXPECT_EQ(folder.entries(), 3u);
}

TEST(AtomicFile, FailedWriteKeepsTheOldFile) {
  TemporaryFolder folder;
  const std::string path = folder / "a.txt";
  write_file(path, "old");
  std::string text;
  {
    FileSizeLimit limit(1000);
    text = error_of([&] { write_file(path, std::string(5000, 'x')); });
  }
  expect_error(text, path + ": cannot write: ", "File too large");
  EXPECT_EQ(bytes_of(path), "old");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(AtomicFile, CheckingTouchesNothingOfAnotherWriter) {
  TemporaryFolder folder;
  const std::string path = folder / "a.txt";
  put(path + ".partial", "of an older version");
  PartialFile other(path);
  other.append("half");
  check_writable(path);
  EXPECT_EQ(folder.entries(), 2u);
  EXPECT_EQ(bytes_of(other.partial_path()), "half");
  write_file(path, "between");
  other.append(" and whole");
  other.commit();
  EXPECT_EQ(bytes_of(path), "half and whole");
  EXPECT_EQ(bytes_of(path + ".partial"), "of an older version");
  EXPECT_EQ(folder.entries(), 2u);
}

TEST(AtomicFile, FolderOfAPath) {
  EXPECT_EQ(folder_of("a.txt"), ".");
  EXPECT_EQ(folder_of("b/a.txt"), "b");
  EXPECT_EQ(folder_of("/a.txt"), "/");
}

}  // namespace
}  // namespace fedpp::io
