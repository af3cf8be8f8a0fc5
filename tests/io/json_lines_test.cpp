#include "io/json_lines.hpp"

#include <sys/stat.h>

#include <cerrno>

#include "io/appended_file.hpp"
#include "io/parse_json.hpp"
#include "io/text_file.hpp"
#include "support.hpp"

namespace fedpp::io {
namespace {

TEST(JsonLines, HalfWrittenLinesArePassedOverAndTheNextWriterBeginsANewOne) {
  const TemporaryFolder folder;
  const auto path = folder / "status.jsonl";
  EXPECT_TRUE(read_json_lines(path).objects.empty());
  {
    JsonLinesWriter(path).append({{"round", 1}});
  }
  put(path, bytes_of(path) + "{\"round\": 2, \"secon");
  {
    JsonLinesWriter writer(path);
    writer.append({{"round", 3}});
    writer.append({{"round", 4}});
  }
  const auto lines = read_json_lines(path);
  ASSERT_EQ(lines.objects.size(), 3u);
  EXPECT_EQ(lines.unreadable, 1);
  EXPECT_EQ(lines.objects[1]["round"], 3);
  EXPECT_EQ(lines.objects[2]["round"], 4);
}

TEST(JsonLines, WhatIsNoObjectIsCounted) {
  const auto lines = parse_json_lines("3\n[1]\n\n{}\n\xff\xfe\n\"x\"\nnull\n{\"a\":1}");
  EXPECT_EQ(lines.objects.size(), 2u);
  EXPECT_EQ(lines.unreadable, 5);
}

TEST(JsonLines, WhatIsNestedWithoutEndIsUnreadable) {
  const std::string deep = R"({"a":)" + std::string(200000, '[') + std::string(200000, ']') + "}";
  EXPECT_EQ(parse_json_lines(deep + "\n{}\n").unreadable, 1);
  EXPECT_TRUE(parse_json(std::string(kDeepestJson, '[') + std::string(kDeepestJson, ']')).is_array());
  EXPECT_TRUE(parse_json(std::string(kDeepestJson + 2, '[') + std::string(kDeepestJson + 2, ']')).is_discarded());
  EXPECT_TRUE(parse_json("[1").is_discarded());
  EXPECT_EQ(parse_json(R"({"b":[1,{"c":2.5}]})")["b"][1]["c"], 2.5);
}

TEST(TextFile, IsReadWholeAndIsAFile) {
  const TemporaryFolder folder;
  const std::string path = folder / "result.json";
  EXPECT_EQ(read_text(path), std::nullopt);
  EXPECT_EQ(read_text(put(path, "")), "");
  EXPECT_EQ(read_text(put(path, "two\nlines")), "two\nlines");
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  expect_error(error_of([&] { read_text(path); }), path + ": ", "is no regular file");
  if (std::filesystem::exists("/dev/zero"))
    expect_error(error_of([&] { read_text("/dev/zero"); }), "/dev/zero: ", "is no regular file");
}

TEST(JsonLines, AFileThatCannotBeWrittenIsGivenUp) {
  JsonLinesWriter writer("/nowhere/status.jsonl");
  writer.append({{"round", 1}});
}

TEST(AppendedFile, WritesToNoLinkAndToNothingButAFile) {
  const TemporaryFolder folder;
  const std::string victim = put(folder / "victim", "somebody's\n"), path = folder / "train.log";
  std::filesystem::create_symlink(victim, path);
  expect_error(error_of([&] { AppendedFile{path}; }), path + ": is a symbolic link", "take it away");
  expect_error(error_of([&] { JsonLinesWriter{path}; }), path + ": is a symbolic link", "take it away");
  std::filesystem::remove(path);
  std::filesystem::create_symlink(folder / "none", path);
  expect_error(error_of([&] { AppendedFile{path}; }), path + ": is a symbolic link", "take it away");
  EXPECT_FALSE(std::filesystem::exists(folder / "none"));
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  expect_error(error_of([&] { AppendedFile{path}; }), path + ": is no regular file", "take it away");
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  expect_error(error_of([&] { AppendedFile{path}; }), path + ": is no regular file", "take it away");
  EXPECT_EQ(bytes_of(victim), "somebody's\n");
}

TEST(AppendedFile, SaysWhatTheSystemRefuses) {
  const TemporaryFolder folder;
  EXPECT_EQ(AppendedFile(folder / "none/train.log").append("a\n"), ENOENT);
  const AppendedFile file(folder / "train.log");
  const FileSizeLimit limit(3);
  EXPECT_EQ(file.append("ab\n"), 0);
  EXPECT_EQ(file.append("cd\n"), EFBIG);
}

}  // namespace
}  // namespace fedpp::io
