#include <gtest/gtest.h>

#include <limits>
#include <regex>
#include <string>
#include <utility>

#include "config/date.hpp"
#include "config/error.hpp"
#include "data/event_table.hpp"
#include "data/unix_time.hpp"
#include "data/words.hpp"
#include "files.hpp"

using namespace fedpp::data;
namespace io = fedpp::io;

namespace {

using Strings = std::vector<std::string>;
using Doubles = std::vector<double>;
using Ints = std::vector<int>;

const EventColumns kVisits{"patient", "when", "ward", "site"};
const TimeAxis kHours{"hour", std::nullopt, "", ""};

EventTable read(const std::string& file, const EventColumns& columns = kVisits, const TimeAxis& axis = kHours,
                const std::string& windows = "") {
  return read_event_table({file}, columns, axis, windows);
}

/// Rows of no order, names in quotes, a column that nobody asked for.
const std::string kRows =
    "site,note,when,\"ward\",patient\n"
    "north,\"late, but \"\"well\"\"\",2019-03-02 06:30,surgery,p7\n"
    "\"south, old\",,2019-03-01T12:00:00,emergency,p7\n"
    "north,x,2019-03-01T18:00:00.5,emergency,p7\n"
    "north,x,2019-03-01,\"intensive\ncare\",p3\n"
    "north,x,2019-03-02T06:30:00,emergency,p7\n"
    "\"south, old\",x,2019-03-04,surgery,p9\n";

}  // namespace

TEST(EventTable, WordsAndDatesBecomeNumbersThatNamesBelongTo) {
  const Folder folder;
  const EventTable table = read(folder.write("a.csv", kRows));
  EXPECT_EQ(table.names.clients, (Strings{"north", "south, old"}));
  EXPECT_EQ(table.names.types, (Strings{"surgery", "emergency", "intensive\ncare"}));
  EXPECT_EQ(table.names.time_origin, "2019-03-01");
  ASSERT_EQ(table.sequences.size(), 4u);
  const auto expect = [&](std::size_t i, const char* name, std::int64_t client, const Doubles& times, const Ints& types,
                          std::int64_t line) {
    const io::SequenceRecord& sequence = table.sequences[i];
    EXPECT_EQ(sequence.id, static_cast<std::int64_t>(i));
    EXPECT_EQ(sequence.name, name);
    EXPECT_EQ(sequence.client, client);
    EXPECT_EQ(sequence.times, times);
    EXPECT_EQ(sequence.types, types);
    EXPECT_EQ(sequence.first_line, line);
  };
  // Patient p7 of the north is another than that of the south; equal times stay in the order of the rows.
  expect(0, "p7", 0, {18 + 0.5 / 3600, 30.5, 30.5}, {1, 0, 1}, 2);
  expect(1, "p7", 1, {12}, {1}, 3);
  expect(2, "p3", 0, {0}, {2}, 5);
  expect(3, "p9", 1, {72}, {0}, 8);
}

TEST(EventTable, WholeNumbersStayWhatTheyAre) {
  const Folder folder;
  const EventTable table = read(folder.write("a.csv", "Sequence;TIME;type\n40;2.5;3\n7;-1e1;0\n40;1.5;11\n"), {},
                                {"file unit", std::nullopt, "", ""});
  ASSERT_EQ(table.sequences.size(), 2u);
  EXPECT_EQ(table.sequences[0].id, 40);
  EXPECT_EQ(table.sequences[0].times, (Doubles{1.5, 2.5}));
  EXPECT_EQ(table.sequences[0].types, (Ints{11, 3}));
  EXPECT_EQ(table.sequences[1].id, 7);
  EXPECT_EQ(table.sequences[0].name, "");
  EXPECT_EQ(table.sequences[0].client, -1);
  EXPECT_EQ(table.names, io::SequenceNames{});
  // A leading zero may mean something: such numbers are words.
  const EventTable wards = read(folder.write("b.csv", "sequence,time,type\n01,1,007\n1,2,7\n"), {}, {});
  EXPECT_EQ(wards.names.types, (Strings{"007", "7"}));
  EXPECT_EQ(wards.sequences[1].name, "1");
  EXPECT_EQ(wards.sequences[1].id, 1);
}

TEST(EventTable, ClientsAreInTheOrderOfTheirNames) {
  const Folder folder;
  const std::string head = "sequence,time,client\n";
  EXPECT_EQ(read(folder.write("a.csv", head + "0,1,10\n0,1,9\n0,1,100\n"), {}, {}).names.clients,
            (Strings{"9", "10", "100"}));
  EXPECT_EQ(read(folder.write("b.csv", head + "0,1,10\n0,1,9\n0,1,b\n"), {}, {}).names.clients,
            (Strings{"10", "9", "b"}));
  // One sequence a client, whose column then says both.
  const EventTable sensors =
      read(folder.write("c.csv", "sensor,time\nb,1\na,1\n"), {"sensor", "time", {}, "sensor"}, {});
  EXPECT_EQ(sensors.names.clients, (Strings{"a", "b"}));
  EXPECT_EQ(sensors.sequences[0].client, 1);
}

TEST(EventTable, RowsAppendedLaterChangeNoNumber) {
  const Folder folder;
  const EventTable before = read(folder.write("a.csv", kRows));
  const EventTable after = read(folder.write("b.csv", kRows + "north,x,2019-03-09,admission,p1\n"
                                                              "north,x,2019-03-09,surgery,p7\n"));
  ASSERT_EQ(after.sequences.size(), before.sequences.size() + 1);
  for (std::size_t i = 0; i < before.sequences.size(); ++i) {
    EXPECT_EQ(after.sequences[i].name, before.sequences[i].name);
    EXPECT_EQ(after.sequences[i].client, before.sequences[i].client);
  }
  EXPECT_EQ(after.sequences[0].types, (Ints{1, 0, 1, 0}));
  EXPECT_EQ(after.sequences.back().types, (Ints{3}));
}

TEST(EventTable, WordsOfAnotherTableKeepItsNumbers) {
  const Folder folder;
  const auto read_with = [&](const std::string& rows) {
    return read_event_table({folder.write("a.csv", "sequence,time,type\n" + rows)}, {}, {}, "", {"x", "y"});
  };
  const EventTable table = read_with("0,1,z\n0,2,y\n");
  EXPECT_EQ(table.names.types, (Strings{"x", "y", "z"}));
  EXPECT_EQ(table.sequences[0].types, (Ints{2, 1}));
  EXPECT_EQ(read_with("0,1,7\n").sequences[0].types, (Ints{2}));  // a word among words
}

TEST(EventTable, SeveralFilesAreOneTable) {
  const Folder folder;
  const std::string a = folder.write("a.csv", "patient,when,ward\np1,2019-03-02,x\n");
  const std::string b = folder.write("b.csv", "ward,when,patient\ny,2019-03-01T12:00,p1\nx,2019-03-03,p2\n");
  const EventTable table = read_event_table({a, b}, {"patient", "when", "ward", {}}, kHours);
  ASSERT_EQ(table.sequences.size(), 2u);
  EXPECT_EQ(table.sequences[0].times, (Doubles{12, 24}));
  EXPECT_EQ(table.sequences[0].types, (Ints{1, 0}));
  EXPECT_EQ(table.names.types, (Strings{"x", "y"}));
  // Where the first has a column that was not named, the others must have it.
  EXPECT_USER_ERROR(read_event_table({folder.write("c.csv", "sequence,time,type\n0,1,a\n"),
                                      folder.write("d.csv", "sequence,time\n0,1\n")},
                                     {}, {}),
                    "d.csv:1: column 'type' is missing");
}

TEST(EventTable, TimesCountFromAnOriginInTheUnit) {
  const Folder folder;
  const std::string file = folder.write("a.csv", "sequence,time\n0,2019-03-11T12:00:00Z\n0,2019-03-10T01:00+02:00\n");
  const auto times = [&](const TimeAxis& axis) { return read(file, {}, axis).sequences[0].times; };
  EXPECT_EQ(times({"day", std::nullopt, "", ""}), (Doubles{23. / 24, 2.5}));  // from the midnight of UTC
  EXPECT_EQ(times({"min", fedpp::config::parse_date("2019-03-12")->second, "", ""}), (Doubles{-49 * 60, -12 * 60}));
  EXPECT_EQ(times({"week", fedpp::config::parse_date("2019-03-11T12:00:00")->second, "", ""}),
            (Doubles{-37. / 168, 0}));
  EXPECT_EQ(read(file, {}, {"s", fedpp::config::parse_date("2019-03-11T12:00:00")->second, "", ""}).names.time_origin,
            "2019-03-11T12:00:00");
  EXPECT_USER_ERROR(times({"file unit", std::nullopt, "", ""}), "a.csv: column 'time' holds dates",
                    "s, min, hour, day, week");
  // Of numbers an origin is kept as it is said.
  const std::string numbers = folder.write("b.csv", "sequence,time\n0,1.5\n");
  EXPECT_EQ(read(numbers, {}, {"day", fedpp::config::parse_date("2019-03-12")->second, "", ""}).names.time_origin,
            "2019-03-12");
  EXPECT_EQ(read(numbers, {}, {"day", std::nullopt, "", ""}).names.time_origin, "");
}

TEST(EventTable, UnixTimeIsDates) {
  const Folder folder;
  const auto read_unix = [&](const std::string& rows, const std::string& unit, const std::string& windows = "") {
    return read(folder.write("a.csv", "sequence,time\n" + rows), {}, {"hour", std::nullopt, unit, ""}, windows);
  };
  // 2019-03-01T00:26:40 and half an hour later.
  for (const auto& [rows, unit] :
       std::initializer_list<std::pair<const char*, const char*>>{{"0,1551400000\n0,1551401800.0\n", "s"},
                                                                  {"0,1551400000000\n0,1551401800000\n", "ms"},
                                                                  {"0,1551400000000000\n0,1551401800000000\n", "us"},
                                                                  {"0,1.5514e18\n0,1551401800000000000\n", "ns"}}) {
    const EventTable table = read_unix(rows, unit);
    EXPECT_EQ(table.names.time_origin, "2019-03-01") << unit;
    EXPECT_EQ(table.sequences[0].times, (Doubles{1600. / 3600, 3400. / 3600})) << unit;
  }
  // Nanoseconds since midnight, of 19 digits.
  const auto ns = read_unix("0,1551398400000000001\n0,1551398400000000100\n0,1551398400000000120\n", "ns").sequences[0];
  EXPECT_EQ(ns.times, (Doubles{1e-9 / 3600, 100e-9 / 3600, 120e-9 / 3600}));
  EXPECT_EQ(read_unix("0,-1\n0,-0.5\n", "s").names.time_origin, "1969-12-31");
  EXPECT_EQ(read_unix("0,-1500\n", "ms").sequences[0].times, (Doubles{24 - 1.5 / 3600}));
  const auto windows = folder.write("w.csv", "sequence,start,end\n0,1551396600000,1551403800000\n");
  EXPECT_EQ(read_unix("0,1551400000000\n", "ms", windows).names.time_origin, "2019-02-28");  // windows count as well
  EXPECT_USER_ERROR(read_unix("0,1\n0,1551400000123\n", "s"), "a.csv:3: time '1551400000123' as Unix time in s",
                    "s, ms, us, ns");
  EXPECT_USER_ERROR(read_unix("0,2019-03-01\n", "s"), "a.csv:2: time '2019-03-01' is no number");
  EXPECT_USER_ERROR(read_unix("0,inf\n", "s"), "a.csv:2: time 'inf' is no number");
}

TEST(UnixTime, NumbersThatLookLikeItAreDoubtedWithTheirUnit) {
  using fedpp::data::doubt_about_numbers;
  for (const auto& [unit, ticks] : {std::pair{"s", 1.0}, {"ms", 1e3}, {"us", 1e6}, {"ns", 1e9}}) {
    const auto text = doubt_about_numbers(1.5e9 * ticks, 1.6e9 * ticks);
    EXPECT_NE(text.find(std::string("Unix time in ") + unit + ", 2017-07-14"), std::string::npos) << text;
    EXPECT_NE(text.find(std::string("--unix-time ") + unit + " "), std::string::npos) << text;
  }
  EXPECT_NE(doubt_about_numbers(631152000, 631152001), "");  // the first second of 1990
  EXPECT_EQ(doubt_about_numbers(631151999, 631152001), "");
  EXPECT_EQ(doubt_about_numbers(4102444799, 4102444800), "");  // the first second of 2100
  EXPECT_EQ(doubt_about_numbers(0, 1.6e9), "");
  EXPECT_EQ(doubt_about_numbers(0, 100), "");
}

TEST(EventTable, WindowsNameSequencesAsTheEventsDo) {
  const Folder folder;
  const std::string file = folder.write("a.csv", kRows);
  const std::string head = "patient,site,start,end\n";
  const std::string rows =
      "p7,north,2019-03-03,2019-03-04\np7,north,2019-03-01,2019-03-02\np7,\"south, old\",2019-03-01,"
      "2019-03-02\np3,north,2019-03-01,2019-03-02\np9,\"south, old\",2019-02-28,2019-03-05\n";
  const EventTable table =
      read(file, kVisits, kHours, folder.write("w.csv", head + rows + "p0,north,2019-03-01,2019-03-02\n"));
  EXPECT_EQ(table.names.time_origin, "2019-02-28");  // windows count as well
  ASSERT_EQ(table.sequences.size(), 5u);
  ASSERT_EQ(table.windows.size(), 5u);
  ASSERT_EQ(table.windows[0].size(), 2u);
  EXPECT_EQ(table.windows[0][0].start, 24);
  EXPECT_EQ(table.windows[0][1].end, 96);
  EXPECT_EQ(table.windows[3][0].end, 120);
  EXPECT_EQ(table.sequences[4].name, "p0");
  EXPECT_TRUE(table.sequences[4].times.empty());
  EXPECT_USER_ERROR(read(file, kVisits, kHours, folder.write("w.csv", head + "p7,north,2019-03-01,2019-03-04\n")),
                    "a.csv:3: sequence 'p7' of client 'south, old' has no row in the windows table");
  EXPECT_USER_ERROR(
      read(file, kVisits, kHours, folder.write("w.csv", head + rows + "p3,north,2019-03-01T12:00,2019-03-04\n")),
      "w.csv:7: sequence 'p3': window [36, 96] begins before the end of the preceding one");
  EXPECT_USER_ERROR(read(file, kVisits, kHours, folder.write("w.csv", head + "p7,north,24,48\n")),
                    "w.csv:2: start '24' is a number, but the times before are dates");
  EXPECT_USER_ERROR(read(file, kVisits, kHours, folder.write("w.csv", head + "p7,north,x,y\n,north,x,y\n")),
                    "w.csv:2: start 'x'", "w.csv:3: column 'patient' is empty");
}

TEST(EventTable, FaultsNameFileLineValueAndRemedy) {
  const Folder folder;
  const auto refuses = [&](const std::string& text, const char* place, const char* what, const char* more = "") {
    EXPECT_USER_ERROR(read(folder.write("a.csv", text)), place, what, more);
  };
  const std::string head = "patient,when,ward,site\n", row = "p1,2019-03-01,x,north\n";
  refuses("patient,when,department,site\n",
          "a.csv:1: ", "column 'ward' is missing: the header is 'patient,when,department,site'");
  refuses("", "a.csv: ", "the file is empty");
  refuses(head, "a.csv:1: ", "header but no events");
  refuses(head + row + "p1,2019-03-01,,north\n",
          "a.csv:3: ", "column 'ward' is empty; fill it in, or take the row out");
  refuses(head + row + "p1,,x,north\n", "a.csv:3: ", "column 'when' is empty");
  refuses(head + row + " ,2019-03-01,x,north\n", "a.csv:3: ", "column 'patient' is empty");
  refuses(head + row + "p1,01/03/2019,x,north\n",
          "a.csv:3: ", "when '01/03/2019' is neither a number nor a date that exists; write it like 12.5, 2019-03-01");
  refuses(head + row + "p1,2019-02-29,x,north\n", "a.csv:3: ", "when '2019-02-29' is neither");
  refuses(head + row + "p1,17,x,north\n", "a.csv:3: ", "when '17' is a number, but the times before are dates");
  refuses(head + "p1,17,x,north\n" + row, "a.csv:3: ", "when '2019-03-01' is a date, but the times before are numbers");
  refuses(head + "p1,nan,x,north\n", "a.csv:2: ", "when 'nan' is not finite");
  refuses(head + "p1,1e999,x,north\n", "a.csv:2: ", "when '1e999' is neither");
  refuses(head + row + "p1,2019-03-01T00:00Z,x,north\n", "a.csv:3: ", "has a distance from UTC, and the times before");
  refuses(head + "p1,2019-03-01T00:00Z,x,north\n" + row, "a.csv:3: ", "has no distance from UTC as the times before");
  refuses(head + row + "p1,2019-03-01,x\n", "a.csv:3: ", "'p1,2019-03-01,x' has 3 fields; the header has 4");
  refuses(head + row + "p1,2019-03-01,\"x,north\n" + row, "a.csv:3: ", "a quoted field begins here and does not end");
  refuses(head + row + "p1,2019-03-01,\"x\"y,north\n", "a.csv:3: ", "'y,north' follows the end of a quoted field");
  refuses(head + "p1,2019-03-01,caf\xE9,north\n", "a.csv:2: ", "column 'ward' is not UTF-8");
  refuses("patient,when,ward,site,When\n", "a.csv:1: ", "column 'when' comes twice");
  refuses(head + "p1,x,x,north\n" + row + "p1,2019-03-01,x\n", "a.csv:2: when 'x' is neither", "\n", "a.csv:4: ");
  // One quote that is missing makes a field of all rows that follow.
  std::string rows;
  for (int i = 0; i < 1000; ++i) rows += "p" + std::to_string(i) + row.substr(2);
  const std::string sixty = (row + rows).substr(3, 60), cut = std::regex_replace(sixty, std::regex("\n"), "\\x0a");
  refuses(head + "p1,\"" + (row + rows).substr(3) + "\",x,north\n",
          "a.csv:2: ", ("when '" + cut + "...' is neither").c_str());
  EXPECT_USER_ERROR(read((folder.path / "none.csv").string()), "none.csv: cannot open");
  EXPECT_USER_ERROR(read(folder.write("a.jsonl", "{}")), "a.jsonl: --columns, --like and --unix-time read CSV tables");
}

TEST(Words, NumbersAreKnownByTheirUsualForm) {
  Words words;
  EXPECT_TRUE(words.are_numbers(9));
  for (const char* word : {"3", "0", "3", "10"}) words.place(word);
  EXPECT_EQ(words.words(), (Strings{"3", "0", "10"}));
  EXPECT_TRUE(words.are_numbers(10));
  EXPECT_FALSE(words.are_numbers(9));
  EXPECT_EQ(words.sorted(), (std::vector<std::size_t>{1, 0, 2}));
  for (const char* word : {"03", "-1", "1.0", "+1", " 1", "99999999999999999999"}) {
    Words other = words;
    other.place(word);
    EXPECT_FALSE(other.are_numbers(std::numeric_limits<std::int64_t>::max())) << word;
  }
}
