#include "io/shown.hpp"

#include <gtest/gtest.h>

namespace fedpp::io {
namespace {

TEST(Shown, ControlCharactersSayNothingToTheTerminal) {
  EXPECT_EQ(visible("caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 'a' \\"),
            "caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 'a' \\");
  EXPECT_EQ(visible("a\n\t\x1B[31m\x7F"
                    "b\x1F "),
            "a\\x0a\\x09\\x1b[31m\\x7fb\\x1f ");
  EXPECT_EQ(visible(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(visible("\xC2\x80\xC2\x9B\xC2\x9F\xC2\xA0"), "\\x80\\x9b\\x9f\xC2\xA0");
  EXPECT_EQ(visible("\x9B"
                    "31m \xC3"),
            "\\x9b31m \\xc3");  // a terminal of eight bits knows it, too
  EXPECT_EQ(visible(""), "");
}

TEST(Shown, ValuesAreCutBetweenCharacters) {
  const std::string sixty(60, 'x');
  EXPECT_EQ(shown(sixty), "'" + sixty + "'");
  EXPECT_EQ(shown(sixty + "y"), "'" + sixty + "...'");
  EXPECT_EQ(shown(std::string(17000, '\n')).size(), 2 + 3 + 60 * 4u);
  std::string accents;
  for (int i = 0; i < 60; ++i) accents += "\xC3\xA9";
  EXPECT_EQ(shown(accents), "'" + accents + "'");
  EXPECT_EQ(shown(accents + "\xC3\xA9"), "'" + accents + "...'");
  EXPECT_EQ(shown(""), "''");
}

}  // namespace

TEST(Shown, RangesOfNumbers) {
  EXPECT_EQ(ranges({}), "");
  EXPECT_EQ(ranges({4}), "4");
  EXPECT_EQ(ranges({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
}

}  // namespace fedpp::io
