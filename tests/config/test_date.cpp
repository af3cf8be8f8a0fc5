#include <gtest/gtest.h>

#include "config/date.hpp"

namespace fedpp::config {
namespace {

/// Seconds since 1970, from `date -u -d ... +%s` of GNU coreutils.
TEST(Date, IsReadAsIso8601WritesIt) {
  struct Case {
    const char* text;
    std::int64_t seconds;
    int nanoseconds;
    bool offset;
  };
  for (const Case& c :
       {Case{"1970-01-01", 0, 0, false}, Case{"2019-03-01", 1551398400, 0, false},
        Case{"2019-03-01T06:30", 1551421800, 0, false}, Case{"2019-03-01 06:30:15", 1551421815, 0, false},
        Case{"2019-03-01T06:30:15.25", 1551421815, 250000000, false},
        Case{"2019-03-01T06:30:15.000000001Z", 1551421815, 1, true},
        Case{"2019-03-01T06:30:15+01:00", 1551418215, 0, true}, Case{"2019-03-01 06:30-0330", 1551434400, 0, true},
        Case{"2019-03-01T06:30:15+05", 1551403815, 0, true}, Case{"2024-02-29T23:59:59", 1709251199, 0, false},
        Case{"1969-12-31", -86400, 0, false}, Case{"1582-10-15", -12219292800, 0, false},
        Case{"9999-12-31T23:59:59", 253402300799, 0, false}, Case{"0001-01-01", -62135596800, 0, false}}) {
    const auto date = parse_date(c.text);
    ASSERT_TRUE(date) << c.text;
    EXPECT_EQ(date->second.time_since_epoch().count(), c.seconds) << c.text;
    EXPECT_EQ(date->nanoseconds, c.nanoseconds) << c.text;
    EXPECT_EQ(date->offset, c.offset) << c.text;
  }
}

TEST(Date, WhatIsNoneIsRefused) {
  for (const char* text : {"",
                           "2019",
                           "2019-03",
                           "2019-3-1",
                           "20190301",
                           "2019-02-29",
                           "2019-02-30",
                           "2019-13-01",
                           "2019-00-10",
                           "2019-03-00",
                           "0000-01-01",
                           "-001-01-01",
                           "12019-03-01",
                           "2019-03-01T",
                           "2019-03-01T06",
                           "2019-03-01T24:00",
                           "2019-03-01T06:60",
                           "2019-03-01T06:30:60",
                           "2019-03-01T06:30:",
                           "2019-03-01T06:30:15.",
                           "2019-03-01T06:30:15.1234567891",
                           "2019-03-01T06:30:15,25",
                           "2019-03-01t06:30",
                           "2019-03-01  06:30",
                           "2019-03-01Z",
                           "2019-03-01T06:30z",
                           "2019-03-01T06:30+",
                           "2019-03-01T06:30+1",
                           "2019-03-01T06:30+01:",
                           "2019-03-01T06:30+01:60",
                           "2019-03-01T06:30+24:00",
                           "2019-03-01T06:30Z+01:00",
                           "2019-03-01T06:30 UTC",
                           "01/03/2019",
                           "1 March 2019",
                           "9999-12-31T23:59:59-01:00",
                           "0001-01-01T00:00+01:00",
                           " 2019-03-01",
                           "2019-03-01 "})
    EXPECT_FALSE(parse_date(text)) << text;
}

TEST(Date, IsWrittenAsItIsRead) {
  for (const char* text :
       {"2019-03-01", "2019-03-01T06:30:05", "0001-01-01", "9999-12-31T23:59:59", "1969-07-20T20:17:40"})
    EXPECT_EQ(to_text(parse_date(text)->second), text);
  EXPECT_EQ(to_text_with_time(parse_date("2019-03-01")->second), "2019-03-01T00:00:00");
  EXPECT_EQ(to_text(parse_date("9999-12-31T23:59:59")->second + std::chrono::seconds(1)), "");
}

TEST(Date, UnitsAreThoseOfTheirNames) {
  EXPECT_EQ(seconds_of("week"), 7 * 24 * 60 * 60);
  EXPECT_EQ(seconds_of("s"), 1);
  EXPECT_FALSE(seconds_of("hours"));
  EXPECT_FALSE(seconds_of("file unit"));
}

TEST(Date, TimesAreCountedFromAnOrigin) {
  EXPECT_EQ(date_at("2019-03-01", "hour", 6.5), "2019-03-01T06:30:00");
  EXPECT_EQ(date_at("2019-03-01", "s", -0.25), "2019-02-28T23:59:59");
  for (const double time : {1e9, -1e9, 1e300, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_EQ(date_at("2019-03-01", "day", time), "") << time;
  EXPECT_EQ(date_at("", "day", 1), "");
  EXPECT_EQ(date_at("2019-03-01", "file unit", 1), "");
  for (const auto* unit : {"s", "min", "hour", "day", "week"})
    for (std::int64_t second = 0; second < 400'000'000; second += 9'991) {
      const auto written = to_text_with_time(std::chrono::sys_seconds(std::chrono::seconds(1'551'398'400 + second)));
      ASSERT_EQ(date_at("2019-03-01", unit, static_cast<double>(second) / *seconds_of(unit)), written) << unit;
      ASSERT_EQ(date_at("2019-03-01", unit, *time_of(*parse_date(written), "2019-03-01", unit)), written) << unit;
    }
  const auto date = parse_date("2019-02-28 23:59:58.5").value();
  EXPECT_EQ(time_of(date, "2019-03-01", "s"), -1.5);
  EXPECT_EQ(time_of(parse_date("2019-03-01T06:30").value(), "2019-02-28", "hour"), 30.5);
  EXPECT_FALSE(time_of(date, "", "s"));
  EXPECT_FALSE(time_of(date, "2019-03-01", "file unit"));
}

}  // namespace
}  // namespace fedpp::config
