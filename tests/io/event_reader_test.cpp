#include "io/event_reader.hpp"

#include <algorithm>
#include <vector>

#include "io/support.hpp"

namespace fedpp::io {

static bool operator==(const SequenceRecord& a, const SequenceRecord& b) {
  return a.id == b.id && a.times == b.times && a.types == b.types && a.first_line == b.first_line;
}

namespace {

std::vector<SequenceRecord> records_of(const std::string& path, std::int64_t max_sequences = 0) {
  std::vector<SequenceRecord> records;
  read_sequences(path, [&](SequenceRecord& record) { records.push_back(std::move(record)); }, max_sequences);
  return records;
}

using Records = std::vector<SequenceRecord>;

class EventReader : public testing::Test {
 protected:
  /// Expects that reading this content fails with "path:line: ..." that contains `part`.
  void refuses(const std::string& name, const std::string& content, int line, const std::string& part) {
    const std::string path = put(folder_ / name, content);
    expect_error(error_of([&] { records_of(path); }), path + ":" + std::to_string(line) + ": ", part);
  }
  void refuses_windows(const std::string& content, int line, const std::string& part) {
    const std::string path = put(folder_ / "windows.csv", content);
    expect_error(error_of([&] { read_windows(path); }), path + ":" + std::to_string(line) + ": ", part);
  }
  TemporaryFolder folder_;
};

TEST_F(EventReader, Csv) {
  const std::string text = "sequence,time,type\n5,0.5,2\n5,0.5,0\n5,1e1,1\n\n-2,-3.25,0\n";
  const Records expected{{5, {0.5, 0.5, 10}, {2, 0, 1}, 2}, {-2, {-3.25}, {0}, 6}};
  EXPECT_EQ(records_of(put(folder_ / "a.csv", text)), expected);
  EXPECT_EQ(records_of(put(folder_ / "a.csv.gz", gzip(text))), expected);
  EXPECT_EQ(records_of(folder_ / "a.csv", 1), Records{expected[0]});
}

TEST_F(EventReader, CsvColumnsComeInAnyOrderAndTypeMayBeMissing) {
  EXPECT_EQ(records_of(put(folder_ / "a.csv", "type, time ,note,\"sequence\"\r\n1, +2.5E-3 ,x,\"7\"\r\n3,1,,7")),
            (Records{{7, {0.0025, 1}, {1, 3}, 2}}));
  EXPECT_EQ(records_of(put(folder_ / "b.csv", "time,sequence\n1,0\n2,0\n1,1\n")),
            (Records{{0, {1, 2}, {0, 0}, 2}, {1, {1}, {0}, 4}}));
}

TEST_F(EventReader, CsvFieldsInQuotesHoldAnything) {
  const Records expected{{7, {0.5, 1}, {1, 3}, 2}, {8, {2}, {0}, 6}};
  EXPECT_EQ(records_of(put(folder_ / "a.csv",
                           "sequence,\"a, \"\"b\"\"\",time,type\n"
                           "7,\"one, two\",0.5,1\n"
                           "7, \"three\n\nlines \"\"and\"\" quotes\" ,1,3\r\n"
                           "8,5\" pipe,\"2\",0\n")),
            expected);
  EXPECT_EQ(records_of(put(folder_ / "b.csv", "sequence;\"a,b\";time;type\n7;\"\";0.5;1\n7;\";\";1;3\n")).size(), 1u);
  EXPECT_EQ(records_of(put(folder_ / "c.csv", "sequence\ttime\ttype\n7\t\"0.5\"\t\"1\"\n")).at(0).types,
            std::vector{1});
  const std::string head = "sequence,time,type,note\n";
  refuses("a.csv", head + "7,1,0,\"a\nb\"\n7,0,0,\n", 4, "time 0 comes after 1");
  refuses("a.csv", head + "7,1,x,\"a\nb\"\n", 2, "type 'x' is not an integer");  // where its row begins
  refuses("a.csv", head + "7,1,0,\"a\nb\n7,2,0,\n", 2, "a quoted field begins here and does not end");
  refuses("a.csv", head + "7,1,0,\"a\" b\n", 2, "'b' follows the end of a quoted field");
}

TEST_F(EventReader, CsvOfOtherProgramsHasOtherCaseAndSeparators) {
  const Records expected{{7, {0.5, 1}, {1, 3}, 2}};
  EXPECT_EQ(records_of(put(folder_ / "a.csv", "Sequence,TIME,Type\n7,0.5,1\n7,1,3\n")), expected);
  EXPECT_EQ(records_of(put(folder_ / "a.CSV", "sequence;time;type\n7;0.5;1\n7; 1 ;3\n")), expected);
  EXPECT_EQ(records_of(put(folder_ / "a.Csv.GZ", gzip("sequence\ttime\ttype\n7\t0.5\t1\n7\t1\t3\n"))), expected);
  refuses("a.csv", "sequence;time;type\n7;0,5;1\n", 2,
          "time '0,5' is not a number; write it like 12.5 or 1.25e1, with a point");
  refuses("a.csv", "time,Time,sequence\n1,1,1\n", 1, "column 'time' comes twice");
  // A header with commas means commas, whatever else is in it.
  refuses("a.csv", "sequence,time;type\n7,0.5;1\n", 1, "column 'time' is missing");
  const std::string windows = put(folder_ / "w.CSV", "Sequence;Start;End\n3;0;2.5\n");
  EXPECT_EQ(read_windows(windows).at(0).windows.at(0).end, 2.5);
}

TEST_F(EventReader, CsvTimesAreReadToTheLastBit) {
  for (const double time : {0.1, 1.0 / 3, 151157.1726, 5e-324, 1.7976931348623157e308, 123456789012345678.0}) {
    char text[100];
    std::snprintf(text, sizeof text, "sequence,time\n0,%.17g\n", time);
    EXPECT_EQ(records_of(put(folder_ / "a.csv", text)).at(0).times.at(0), time);
  }
}

/// One quote that is missing makes a field, and with it a message, of all rows that follow.
TEST_F(EventReader, ErrorsQuoteNoMoreThanTheBeginningOfAValueAndNothingRaw) {
  std::string rows;
  for (int i = 0; i < 1000; ++i) rows += "0,1,0,patient " + std::to_string(i) + "\n";
  const auto error = [&](const std::string& name, const std::string& text) {
    const std::string path = put(folder_ / name, text), what = error_of([&] { records_of(path); });
    EXPECT_LT(what.size(), path.size() + 450) << what;
    EXPECT_EQ(std::count_if(what.begin(), what.end(), [](char c) { return (c >= 0 && c < ' ') || c == '\x7F'; }), 0)
        << what;
    return what.substr(path.size());
  };
  const std::string head = "sequence,time,type,name\n";
  EXPECT_TRUE(
      error("a.csv", head + "0,\"1,0,a\n" + rows + "\",0,a\n").starts_with(":2: time '1,0,a\\x0a0,1,0,patient 0\\x0a"));
  error("a.csv", head + "\"0,1,0,a\n" + rows + "\",1,0,a\n");
  error("a.csv", head + "0,1,\"0,a\n" + rows + "\",a\n");
  EXPECT_NE(error("a.csv", head + "0,1,0,\"a\n" + rows + "\",\"b\"\n").find(" has 5 fields; the header has 4"),
            std::string::npos);
  error("a.csv", head + "0,1,0,\"a\" b" + std::string(5000, 'x') + "\n");
  error("a.csv", "\"sequence\n" + rows + "\",time,type\n" + rows);  // the header itself
  error("a.csv", "sequence,time,\"mark\n" + rows + "\"\n0,1,2\n");
  EXPECT_NE(error("a.csv", "sequence,time\n0,\x1B]0;title\x07\n").find("'\\x1b]0;title\\x07'"), std::string::npos);
  error("a.jsonl", "\x1B[31m\n");
  error("a.json", "[\x7F]");
}

TEST_F(EventReader, CsvErrorsNameFileAndLine) {
  const std::string head = "sequence,time,type\n";
  refuses("a.csv", head + "0,1,0\n0,3,0\n0,2.5,0\n", 4, "sequence 0: time 2.5 comes after 3; sort");
  refuses("a.csv", head + "0,1,0\n0,nan,0\n", 3, "sequence 0: time nan is not finite");
  refuses("a.csv", head + "0,-inf,0\n", 2, "sequence 0: time -inf is not finite");
  refuses("a.csv", head + "0,1e999,0\n", 2, "time '1e999' is outside the range");
  refuses(
      "a.csv", head + "0,abc,0\n", 2,
      "time 'abc' is not a number; write it like 12.5 or 1.25e1; tables with words, dates or other headers: 'fedpp import "
      "--columns'");
  refuses("a.csv", head + "0,1.5x,0\n", 2, "time '1.5x' is not a number");
  refuses("a.csv", head + "0,,0\n", 2, "time '' is not a number");
  refuses("a.csv", head + "0,1,-1\n", 2, "sequence 0: type -1 is negative; number the types from 0");
  refuses("a.csv", head + "0,1,1.5\n", 2, "type '1.5' is not an integer");
  refuses("a.csv", head + "0,1,2.0\n", 2, "type '2.0' is not an integer");
  refuses("a.csv", head + "0,1,1000000\n", 2, "sequence 0: type 1000000 is above 999999");
  refuses("a.csv", head + "0,1,99999999999999999999\n", 2, "type '99999999999999999999' is too large");
  refuses("a.csv", head + "x,1,0\n", 2, "sequence 'x' is not an integer");
  refuses("a.csv", head + "0,1,0\n1,1,0\n0,2,0\n", 4, "sequence 0 appears again (it began on line 2");
  refuses("a.csv", head + "0,1,0\n0,1\n", 3, "'0,1' has 2 fields; the header has 3");
  refuses("a.csv", head + "0,1,0,5\n", 2, "has 4 fields; the header has 3");
  refuses("a.csv", head, 1, "header but no events");
  refuses(
      "a.csv", "sequence,when,type\n0,1,0\n", 1,
      "column 'time' is missing: the header is 'sequence,when,type'; expected sequence,time[,type]; tables with words, "
      "dates or other headers: 'fedpp import --columns'");
  refuses("a.csv", "time|type|sequence\n", 1, "column 'sequence' is missing");
  refuses("a.csv", "sequence,time,time\n", 1, "column 'time' comes twice");
  refuses("a.csv", "sequence,time,mark\n0,1,0\n", 1, "there is no column 'type' but 'mark'");
  refuses("a.csv", "0,1,0\n", 1, "column 'sequence' is missing");
  refuses("a.csv.gz", gzip(head + "0,2,0\n0,1,0\n"), 3, "time 1 comes after 2");
  const std::string empty = put(folder_ / "empty.csv", "");
  EXPECT_EQ(error_of([&] { records_of(empty); }),
            empty + ": the file is empty; expected a header line sequence,time[,type]");
}

TEST_F(EventReader, AllFaultyRowsAreTold) {
  const auto told = [&](const std::string& name, const std::string& content) {
    const std::string path = put(folder_ / name, content);
    bool handed_out = false;
    std::string text = error_of([&] { read_sequences(path, [&](SequenceRecord& r) { handed_out |= r.id > 0; }); });
    EXPECT_FALSE(handed_out) << name;  // nothing behind the first fault
    for (std::size_t at; (at = text.find(path + ":")) != std::string::npos;) text.erase(at, path.size() + 1);
    return text;
  };
  // A row that is too late is told once, by the one after it; one without a number leaves the others as they are.
  EXPECT_EQ(
      told("a.csv", "sequence,time,type\n0,x,0\n0,1,0\n0,99,0\n0,2,0\n0,3\n1,1,0\n1,2,-1\n1,3,0\n0,4,0\n0,5,0\n"),
      "2: time 'x' is not a number; write it like 12.5 or 1.25e1; tables with words, dates or other headers: "
      "'fedpp import --columns'\n"
      "5: sequence 0: time 2 comes after 99; sort the events of each sequence by time\n"
      "6: '0,3' has 2 fields; the header has 3\n"
      "8: sequence 1: type -1 is negative; number the types from 0\n"
      "10: sequence 0 appears again (it began on line 2, others came between); keep the rows of a sequence together");
  const std::string good = "{\"time_since_start\": [0, 1], \"type_event\": [0, 0]}",
                    bad = "{\"time_since_start\": [0]}";
  const std::string missing = "key 'type_event' is missing; each object needs time_since_start and type_event";
  EXPECT_EQ(told("a.jsonl", bad + "\n" + good + "\n" + bad), "1: " + missing + "\n3: " + missing);
  EXPECT_EQ(told("a.json", "[" + bad + ",\n" + good + ",\n" + bad + "]"), "1: " + missing + "\n3: " + missing);
  EXPECT_EQ(told("cut.json", "[" + bad + ",\n" + good),
            "1: " + missing + "\n2: the JSON array does not end; the file seems truncated");
  EXPECT_EQ(told("inf.csv", "sequence,time\n0,1\n0,inf\n0,3\n"),
            "3: sequence 0: time inf is not finite; repair or remove the event")
      << "nothing comes after it";
  std::string rows = "sequence,time\n", expected;
  for (int i = 0; i < 12; ++i) rows += "0,nan\n";
  for (int i = 0; i < 10; ++i)
    expected += std::to_string(i + 2) + ": sequence 0: time nan is not finite; repair or remove the event\n";
  EXPECT_EQ(told("many.csv", rows), expected + "and 2 more faults");
  EXPECT_EQ(told("eleven.csv", rows.substr(0, rows.rfind("0,nan"))), expected + "and 1 more fault");
}

TEST_F(EventReader, AllFaultyWindowsAreTold) {
  const std::string path = put(folder_ / "w.csv", "sequence,start,end\n0,2,1\n0,3,4\n1,a,2\n");
  const std::string text = error_of([&] { read_windows(path); });
  EXPECT_TRUE(text.starts_with(path + ":2: ")) << text;
  EXPECT_NE(text.find("\n" + path + ":4: start 'a' is not a number"), std::string::npos) << text;
  EXPECT_EQ(text.find(path + ":3"), std::string::npos) << text;
}

TEST_F(EventReader, DamagedGzipIsReportedInsteadOfItsEffects) {
  std::string text = "sequence,time,type\n";
  unsigned state = 1;
  for (int i = 0; i < 20000; ++i)
    text += "0," + std::to_string(i) + "." + std::to_string((state = state * 1664525u + 1013904223u) % 1000) + ",0\n";
  const std::string whole = gzip(text);
  for (std::size_t at = 100; at < whole.size(); at += 4001) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 16);
    const std::string path = put(folder_ / "a.csv.gz", bytes);
    expect_error(error_of([&] { records_of(path); }), path + ":", "gzip data");
  }
}

TEST_F(EventReader, JsonLines) {
  const std::string text =
      "{\"seq_idx\": 4, \"dim_process\": 3, \"time_since_start\": [0, 0.5, 0.5], \"type_event\": [2, 0, 1]}\n"
      "\n"
      "{\"time_since_start\": [1.25e1], \"type_event\": [0]}";
  const Records expected{{4, {0, 0.5, 0.5}, {2, 0, 1}, 1}, {1, {12.5}, {0}, 3}};
  EXPECT_EQ(records_of(put(folder_ / "a.jsonl", text)), expected);
  EXPECT_EQ(records_of(put(folder_ / "a.jsonl.gz", gzip(text))), expected);
  EXPECT_EQ(records_of(put(folder_ / "a.json", text)), expected);
  EXPECT_EQ(records_of(folder_ / "a.jsonl", 1), Records{expected[0]});
}

TEST_F(EventReader, JsonArray) {
  const std::string text =
      "[\n  {\"note\": \"braces } ] \\\" in text\",\n   \"time_since_start\": [0, 1],\n   \"type_event\": [1, 0]},\n"
      "  {\"time_since_start\": [2], \"type_event\": [3]}, {\"time_since_start\": [4], \"type_event\": [5]}\n]\n";
  const Records expected{{0, {0, 1}, {1, 0}, 2}, {1, {2}, {3}, 5}, {2, {4}, {5}, 5}};
  EXPECT_EQ(records_of(put(folder_ / "a.json", text)), expected);
  EXPECT_EQ(records_of(put(folder_ / "a.json.gz", gzip(text))), expected);
  EXPECT_EQ(records_of(folder_ / "a.json", 2).size(), 2u);
}

TEST_F(EventReader, JsonErrorsNameFileAndLine) {
  const std::string good = "{\"time_since_start\": [0, 1], \"type_event\": [0, 0]}\n";
  const auto object = [](const std::string& times, const std::string& types) {
    return "{\"time_since_start\": " + times + ", \"type_event\": " + types + "}\n";
  };
  refuses("a.jsonl", good + object("[0, 2, 1]", "[0, 0, 0]"), 2, "sequence 1: event 3: time 1 comes after 2; sort");
  refuses("a.jsonl", good + object("[0, NaN]", "[0, 0]"), 2, "NaN or Infinity stands among the values");
  refuses("a.jsonl", object("[0, Infinity]", "[0, 0]"), 1, "NaN or Infinity stands among the values");
  refuses("a.jsonl", object("[0, null]", "[0, 0]"), 1, "sequence 0: event 2: time null is not a number");
  refuses("a.jsonl", object("[0, 1e999]", "[0, 0]"), 1, "is not JSON: number overflow");
  refuses("a.jsonl", object("[0, 1]", "[0]"), 1, "sequence 0: there are 2 times but 1 types");
  refuses("a.jsonl", object("[0, 1]", "[0, -1]"), 1, "sequence 0: event 2: type -1 is negative");
  refuses("a.jsonl", object("[0, 1]", "[0.5, 1]"), 1, "sequence 0: event 1: type 0.5 is not an integer");
  refuses("a.jsonl", object("[0]", "[\"x\"]"), 1, "type \"x\" is not an integer");
  // Deeper than a stack of calls.
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  refuses("a.jsonl", object("[" + deep + "]", "[0]"), 1, "event 1: time [...] is not a number");
  refuses("a.jsonl", object("[0]", "[" + deep + "]"), 1, "event 1: type [...] is not an integer");
  refuses("a.jsonl", "{\"seq_idx\": " + deep + ", " + good.substr(1), 1, "seq_idx [...] is not an integer");
  const std::string unending = put(folder_ / "a.jsonl", "{\"" + std::string(200'000, 'x'));
  EXPECT_LT(error_of([&] { records_of(unending); }).size(), unending.size() + 300);
  refuses("a.jsonl", object("[{\"t\": 1}]", "[0]"), 1, "event 1: time {...} is not a number");
  refuses("a.jsonl", object("[\"" + std::string(500, 'x') + "\"]", "[0]"), 1, std::string(59, 'x') + "... is not");
  refuses("a.jsonl", object("[0]", "[1000000]"), 1, "type 1000000 is above 999999");
  refuses("a.jsonl", object("[0]", "[18446744073709551615]"), 1, "type 18446744073709551615 is above 999999");
  refuses("a.jsonl", good + good + object("[]", "[]"), 3, "sequence 2 has no events; remove it");
  refuses("a.jsonl", "{\"type_event\": [0]}\n", 1, "key 'time_since_start' is missing");
  refuses("a.jsonl", "{\"time_since_start\": [0]}\n", 1, "key 'type_event' is missing");
  refuses("a.jsonl", object("3", "[0]"), 1, "'time_since_start' is not an array");
  refuses("a.jsonl", "[1]\n", 1, "expected an object");
  refuses("a.jsonl", good + "{\"time_since_start\": [0,\n", 2, "is not JSON: parse error");
  refuses("a.jsonl", "{\"seq_idx\": 1, " + good.substr(1) + "{\"seq_idx\": 1, " + good.substr(1), 2,
          "sequence 1 appears again (it is also on line 1)");
  refuses("a.jsonl", "{\"seq_idx\": 1.5, " + good.substr(1), 1, "seq_idx 1.5 is not an integer");
  refuses("a.jsonl", "{\"seq_idx\": 9223372036854775808, " + good.substr(1), 1,
          "seq_idx 9223372036854775808 is not an integer of 63 bits");
  refuses("a.json", "[" + good + "," + object("[2, 1]", "[0, 0]") + "]", 2,
          "sequence 1: event 2: time 1 comes after 2");
  refuses("a.json", "[" + good + good + "]", 2, "'{' is not expected here");
  refuses("a.json", "[" + good + "] x", 2, "'x' is not expected here");
  refuses("a.json", "[" + good + ",", 2, "the JSON array does not end");
  refuses("a.json", "5", 1, "'5' is not expected here");
  for (const char* content : {"", "[]", "\n \n"}) {
    const std::string path = put(folder_ / "empty.json", content);
    expect_error(error_of([&] { records_of(path); }), path + ": the file has no sequences", "time_since_start");
  }
}

TEST_F(EventReader, UnknownSuffixNamesTheKnownOnes) {
  const std::string path = put(folder_ / "a.pkl", "x");
  EXPECT_EQ(error_of([&] { records_of(path); }),
            path +
                ": the format is not known from the file's name; it must end in one of .csv, .csv.gz, .jsonl, "
                ".jsonl.gz, .json, .json.gz, .h5, .hdf5");
  const std::string none = folder_ / "none.csv";
  EXPECT_EQ(error_of([&] { records_of(none); }), none + ": cannot open: No such file or directory");
}

TEST_F(EventReader, Windows) {
  const std::string text = "sequence,start,end\n3,0,1\n3,1,2.5\n3,4,5\n1,-1,1e2\n";
  for (const std::string& path : {put(folder_ / "w.csv", text), put(folder_ / "w.csv.gz", gzip(text))}) {
    const std::vector<SequenceWindows> all = read_windows(path);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].id, 3);
    EXPECT_EQ(all[0].first_line, 2);
    ASSERT_EQ(all[0].windows.size(), 3u);
    EXPECT_EQ(all[0].windows[1].start, 1);
    EXPECT_EQ(all[0].windows[1].end, 2.5);
    EXPECT_EQ(all[1].id, 1);
    EXPECT_EQ(all[1].windows.at(0).end, 100);
  }
}

TEST_F(EventReader, WindowErrorsNameFileAndLine) {
  const std::string head = "sequence,start,end\n";
  refuses_windows(head + "0,1,1\n", 2, "sequence 0: window [1, 1] has no length");
  refuses_windows(head + "0,2,1\n", 2, "sequence 0: window [2, 1] has no length");
  refuses_windows(head + "0,0,2\n0,1,3\n", 3,
                  "sequence 0: window [1, 3] begins before the end of the preceding one, [0, 2]; sort and merge");
  refuses_windows(head + "0,0,nan\n", 2, "window [0, nan] is not finite");
  refuses_windows(head + "0,-inf,1\n", 2, "is not finite");
  refuses_windows(head + "0,0,1\n1,0,1\n0,2,3\n", 4, "sequence 0 appears again (it began on line 2");
  refuses_windows(head, 1, "header but no windows");
  refuses_windows("sequence,start\n", 1, "column 'end' is missing");
  refuses_windows(head + "0,x,1\n", 2, "start 'x' is not a number");
  const std::string path = put(folder_ / "w.jsonl", "{}");
  expect_error(error_of([&] { read_windows(path); }), path + ": windows are a CSV table", "");
}

}  // namespace
}  // namespace fedpp::io
