#include "io/line_reader.hpp"

#include <vector>

#include "io/support.hpp"

namespace fedpp::io {
namespace {

std::vector<std::string> lines_of(const std::string& path) {
  LineReader reader(path);
  std::vector<std::string> lines;
  std::string_view line;
  while (reader.next(line)) {
    lines.emplace_back(line);
    EXPECT_EQ(reader.line_number(), static_cast<std::int64_t>(lines.size()));
  }
  EXPECT_FALSE(reader.next(line));
  return lines;
}

using Lines = std::vector<std::string>;

TEST(LineReader, PlainLinesInAllTheirEndings) {
  TemporaryFolder folder;
  EXPECT_EQ(lines_of(put(folder / "a", "one\ntwo\n\nfour\n")), (Lines{"one", "two", "", "four"}));
  EXPECT_EQ(lines_of(put(folder / "b", "one\r\ntwo\r\n")), (Lines{"one", "two"}));
  EXPECT_EQ(lines_of(put(folder / "c", "one\ntwo")), (Lines{"one", "two"}));
  EXPECT_EQ(lines_of(put(folder / "d", "one\r\ntwo\r")), (Lines{"one", "two"}));
  EXPECT_EQ(lines_of(put(folder / "e", "")), (Lines{}));
  EXPECT_EQ(lines_of(put(folder / "f", "\n")), (Lines{""}));
  EXPECT_EQ(lines_of(put(folder / "g", "\xEF\xBB\xBFone\n\xEF\xBB\xBFtwo\n")), (Lines{"one", "\xEF\xBB\xBFtwo"}));
}

/// Lines around the sizes of the buffers, some far longer.
Lines long_lines() {
  Lines lines;
  for (const std::size_t length : {0u, 1u, 65534u, 65535u, 65536u, 65537u, 131072u, 3u, 500000u, 0u, 7u}) {
    std::string line;
    while (line.size() < length) line += static_cast<char>('a' + (line.size() * 31 + length) % 26);
    lines.push_back(line);
  }
  return lines;
}

std::string joined(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

TEST(LineReader, LongLinesPlainAndGzip) {
  TemporaryFolder folder;
  const Lines lines = long_lines();
  EXPECT_EQ(lines_of(put(folder / "a", joined(lines))), lines);
  EXPECT_EQ(lines_of(put(folder / "a.gz", gzip(joined(lines)))), lines);
}

TEST(LineReader, ALineWithoutEndIsRefused) {
  TemporaryFolder folder;
  const std::string lines = "short\n" + std::string(99999, 'x') + "\nshort\n", path = put(folder / "a.gz", gzip(lines));
  std::string_view line;
  LineReader most(path, 1 << 17);
  for (const std::size_t length : {5u, 99999u, 5u}) {
    ASSERT_TRUE(most.next(line));
    EXPECT_EQ(line.size(), length);
  }
  LineReader reader(path, 50000);
  ASSERT_TRUE(reader.next(line));
  expect_error(error_of([&] { reader.next(line); }), path + ":2: the line has more than 50000 bytes", "put its end");
}

TEST(LineReader, GzipIsKnownByItsContentAndMayHaveMembers) {
  TemporaryFolder folder;
  EXPECT_EQ(lines_of(put(folder / "a", gzip("one\ntw") + gzip("") + gzip("o\nthree"))), (Lines{"one", "two", "three"}));
  EXPECT_EQ(lines_of(put(folder / "b.gz", gzip(""))), (Lines{}));
}

/// Numbers do not compress away, so that damage can be anywhere.
std::string numbers() {
  std::string text;
  unsigned state = 1;
  for (int i = 0; i < 3000; ++i) {
    state = state * 1664525u + 1013904223u;
    text += std::to_string(state) + "\n";
  }
  return text;
}

TEST(LineReader, TruncatedGzipIsRefusedAtEveryLength) {
  TemporaryFolder folder;
  const std::string whole = gzip(numbers());
  for (std::size_t length = 1; length < whole.size(); length += (length < 30 || length > whole.size() - 30) ? 1 : 251) {
    const std::string path = put(folder / "a.gz", whole.substr(0, length));
    expect_error(error_of([&] { lines_of(path); }), path + ":", "gzip");
  }
  const std::string path = put(folder / "a.gz", whole.substr(0, whole.size() / 2));
  LineReader reader(path);
  std::string_view line;
  std::int64_t count = 0;
  const std::string text = error_of([&] {
    while (reader.next(line)) ++count;
  });
  EXPECT_GT(count, 1000);
  expect_error(text, path + ":" + std::to_string(count + 1) + ": ", "truncated");
}

TEST(LineReader, CorruptGzipIsRefusedWhereverTheDamage) {
  TemporaryFolder folder;
  const std::string whole = gzip(numbers());
  // The ten bytes of the header carry nothing of the text and have no checksum.
  for (std::size_t at = 10; at < whole.size(); at += 97) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << (at % 8)));
    const std::string path = put(folder / "a.gz", bytes);
    expect_error(error_of([&] { lines_of(path); }), path + ":", "gzip");
  }
  const std::string path = put(folder / "a.gz", gzip("one\n") + "garbage");
  expect_error(error_of([&] { lines_of(path); }), path + ":", "corrupt");
}

TEST(LineReader, FilesThatCannotBeReadAreNamed) {
  TemporaryFolder folder;
  const std::string none = folder / "none";
  EXPECT_EQ(error_of([&] { LineReader reader(none); }), none + ": cannot open: No such file or directory");
  EXPECT_EQ(error_of([&] { LineReader reader(folder.path()); }), folder.path() + ": is a folder; expected a file");
  const std::string plain = put(folder / "plain.gz", "one\n");
  expect_error(error_of([&] { lines_of(plain); }), plain + ":1: ", "not gzip data");
}

TEST(LineReader, OtherEncodingsAndLineEndsAreNamedWithTheRemedy) {
  TemporaryFolder folder;
  for (const std::string mark : {"\xFF\xFE", "\xFE\xFF"}) {
    const std::string path = put(folder / "wide", mark + std::string("o\0n\0\n\0", 6));
    expect_error(error_of([&] { lines_of(path); }), path + ":1: ", "iconv -f UTF-16 -t UTF-8");
  }
  for (const std::string text : {"one\rtwo\r", "one\rtwo", "a,b\r1,2\r3,4\n"}) {
    const std::string path = put(folder / "old", text);
    expect_error(error_of([&] { lines_of(path); }), path + ":1: ", "tr '\\r' '\\n'");
  }
  EXPECT_EQ(lines_of(put(folder / "quoted", "\"a\rb\",c\n1,2\n")), (Lines{"\"a\rb\",c", "1,2"}));
}

TEST(LineReader, ErrorsCarryTheLine) {
  TemporaryFolder folder;
  const std::string path = put(folder / "a", "one\ntwo\n");
  LineReader reader(path);
  std::string_view line;
  reader.next(line);
  reader.next(line);
  EXPECT_EQ(std::string(reader.error("no").what()), path + ":2: no");
}

}  // namespace
}  // namespace fedpp::io
