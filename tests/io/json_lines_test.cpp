#include "io/json_lines.hpp"

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

TEST(JsonLines, AFileThatCannotBeWrittenIsGivenUp) {
  JsonLinesWriter writer("/nowhere/status.jsonl");
  writer.append({{"round", 1}});
}

}  // namespace
}  // namespace fedpp::io
