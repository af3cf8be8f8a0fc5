#include "io/sequence_file.hpp"

#include <hdf5.h>

#include <cstdlib>
#include <limits>
#include <optional>
#include <random>

#include "io/support.hpp"

namespace fedpp::io {
namespace {

/// Sequences of very different lengths, more events than a block of the reader holds.
std::vector<SequenceRecord> many_sequences() {
  std::mt19937_64 draw(3);
  std::vector<SequenceRecord> records;
  for (const std::size_t length : {3u, 1u, 200000u, 2u, 5u, 90000u, 90000u, 1u, 4u}) {
    SequenceRecord record;
    record.id = 100 - static_cast<std::int64_t>(records.size());
    double time = -5;
    for (std::size_t i = 0; i < length; ++i) {
      time += static_cast<double>(draw() % 3) / 7;
      record.times.push_back(time);
      record.types.push_back(static_cast<int>(draw() % 11));
    }
    records.push_back(record);
  }
  return records;
}

void expect_same(const SequenceRecord& got, const SequenceRecord& expected) {
  EXPECT_EQ(got.id, expected.id);
  EXPECT_EQ(got.times, expected.times);
  EXPECT_EQ(got.types, expected.types);
}

std::string write_one(const std::string& path) {
  SequenceFileWriter writer(path, {"a.csv"}, "s");
  writer.append({.id = 0, .times = {1, 2}, .types = {0, 0}});
  writer.close();
  return path;
}

std::string error_of_reading(const std::string& path) {
  return error_of([&] { const SequenceFileReader reader(path); });
}

/// Three sequences of two clients.
std::string write_named(const std::string& path) {
  SequenceFileWriter writer(path, {"a.csv"}, "hour", {{"north", "south, \"old\""}, {"x", "caf\u00e9"}, "2019-03-01"});
  writer.append({.id = 0, .times = {1, 2}, .types = {0, 1}, .client = 1, .name = "p7"});
  writer.append({.id = 1, .times = {5}, .types = {1}, .client = 0, .name = "p7"});
  writer.append({.id = 2, .times = {6}, .types = {1}, .client = 1, .name = "p9"});
  writer.close();
  return path;
}

TEST(SequenceFile, KeepsClientsAndNames) {
  TemporaryFolder folder;
  const SequenceFileReader reader(write_named(folder / "a.h5"));
  EXPECT_EQ(reader.names().clients, (std::vector<std::string>{"north", "south, \"old\""}));
  EXPECT_EQ(reader.names().types, (std::vector<std::string>{"x", "caf\u00e9"}));
  EXPECT_EQ(reader.names().time_origin, "2019-03-01");
  EXPECT_EQ(reader.sequence(0).client, 1);
  EXPECT_EQ(reader.sequence(1).client, 0);
  EXPECT_EQ(reader.sequence(2).name, "p9");
  // Without names there is nothing of them in the file, as in those of versions that knew none.
  const std::string plain = write_one(folder / "b.h5");
  EXPECT_EQ(SequenceFileReader(plain).names(), SequenceNames{});
  EXPECT_EQ(SequenceFileReader(plain).sequence(0).client, -1);
  const File file = File::open_read(plain);
  EXPECT_EQ(file.children(), (std::vector<std::string>{"offsets", "sequence_id", "sources", "time", "type"}));
  EXPECT_FALSE(file.has_attribute("time_origin"));
}

TEST(SequenceFile, EveryClientMustBeOneOfTheNames) {
  TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  {
    SequenceFileWriter writer(path, {"a.csv"}, "s", {{"north"}, {}, {}});
    expect_error(error_of([&] { writer.append({.id = 3, .times = {1}, .types = {0}}); }),
                 path + ": sequence 3: ", "client -1 is none of the file's, 0 to 0");
    expect_error(error_of([&] { writer.append({.id = 3, .times = {1}, .types = {0}, .client = 1}); }),
                 path + ": sequence 3: ", "client 1 is none");
  }
  const auto damaged = [&](auto change) {
    put(path, bytes_of(write_named(folder / "whole.h5")).substr(kSealBytes));
    File file = File::open_append(path);
    change(file);
    file.close();
    return error_of_reading(path);
  };
  expect_error(damaged([](File& file) { AppendableDataset<std::int64_t>(file, "more").close(); }), "(no error)", "");
  expect_error(damaged([](File& file) {
                 H5Ldelete(file.id(), "client", H5P_DEFAULT);
                 file.write("client", std::vector<std::int64_t>{0, 1, 2});
               }),
               path, "client 2 is none of the 2 in 'client_name'; the file is damaged, import it again");
  expect_error(damaged([](File& file) {
                 H5Ldelete(file.id(), "client", H5P_DEFAULT);
                 file.write("client", std::vector<std::int64_t>{0, 1});
               }),
               path, "'client' has 2 values for 3 sequences; the file is damaged, import it again");
  expect_error(damaged([](File& file) {
                 H5Ldelete(file.id(), "sequence_name", H5P_DEFAULT);
                 file.write("sequence_name", std::vector<std::string>{"p"});
               }),
               path, "'sequence_name' has 1 values for 3 sequences");
}

TEST(SequenceFile, IsSealedAndDamageIsRefused) {
  TemporaryFolder folder;
  const std::string path = write_one(folder / "a.h5"), whole = bytes_of(path);
  EXPECT_TRUE(whole.starts_with("fedpp sequences\nformat 1\npayload-bytes "));
  EXPECT_TRUE(is_sealed(path));
  for (std::size_t at = 0; at < whole.size(); at += 97) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 4);
    expect_error(error_of_reading(put(path, bytes)), path + ": refused: ", "; copy or import it again");
  }
  put(path, whole.substr(0, whole.size() / 2));
  expect_error(error_of_reading(path), path + ": refused: truncated: ", "; copy or import it again");
}

/// Such a file is taken as it is: it was written by another program, or by a fedpp older than the seal.
TEST(SequenceFile, WithoutASealIsReadAndACutOneToBeImportedAgain) {
  TemporaryFolder folder;
  const std::string path = write_one(folder / "a.h5");
  put(path, bytes_of(path).substr(kSealBytes));
  EXPECT_FALSE(is_sealed(path));
  EXPECT_EQ(SequenceFileReader(path).sequence(0).times, (std::vector<double>{1, 2}));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const std::string text = error_of_reading(path);
  expect_error(text, path + ": cannot open: truncated file", "copy or import it again");
  EXPECT_EQ(text.find("LOCKING"), std::string::npos) << text;
}

TEST(SequenceFile, RoundTripInAnyOrder) {
  TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  const std::vector<SequenceRecord> records = many_sequences();
  {
    SequenceFileWriter writer(path, {"train.csv", "dev.csv"}, "days");
    for (const SequenceRecord& record : records) writer.append(record);
    EXPECT_EQ(writer.sequences(), 9);
    EXPECT_EQ(writer.events(), 380016);
    EXPECT_FALSE(std::filesystem::exists(path));
    writer.close();
  }
  EXPECT_EQ(folder.entries(), 1u);
  const SequenceFileReader reader(path);
  EXPECT_EQ(reader.time_unit(), "days");
  EXPECT_EQ(reader.sources(), (std::vector<std::string>{"train.csv", "dev.csv"}));
  EXPECT_EQ(reader.sequences(), 9);
  EXPECT_EQ(reader.events(), 380016);
  EXPECT_FALSE(reader.has_windows());
  for (const std::int64_t i : {0, 1, 2, 3, 4, 5, 6, 7, 8, 2, 0, 7, 5, 8}) {
    EXPECT_EQ(reader.ids()[i], records[i].id);
    expect_same(reader.sequence(i), records[i]);
    EXPECT_TRUE(reader.windows(i).empty());
  }
  std::size_t next = 0;
  read_sequences(path, [&](SequenceRecord& record) { expect_same(record, records.at(next++)); });
  EXPECT_EQ(next, records.size());
  next = 0;
  reader.for_each([&](SequenceRecord&) { ++next; }, 4);
  EXPECT_EQ(next, 4u);
  expect_error(error_of([&] { reader.sequence(9); }), path + ": there is no sequence with index 9; the file has 9", "");
  expect_error(error_of([&] { reader.windows(-1); }), path + ": there is no sequence with index -1", "");
}

TEST(SequenceFile, WindowsOfManySequencesInAnyOrder) {
  TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  const std::vector<int> counts = {3, 100000, 0, 100000, 1, 2};  // a block of the reader holds 131,072
  const auto windows_of = [](std::size_t i, int count) {
    std::vector<Window> windows;
    for (int k = 0; k < count; ++k)
      windows.push_back({static_cast<double>(i) + 2.0 * k, static_cast<double>(i) + 2.0 * k + 1});
    return windows;
  };
  SequenceFileWriter writer(path, {"a.csv"}, "s");
  for (std::size_t i = 0; i < counts.size(); ++i)
    writer.append({.id = static_cast<std::int64_t>(i), .times = {500}, .types = {0}}, windows_of(i, counts[i]));
  writer.close();
  const SequenceFileReader reader(path);
  for (const std::size_t i : {0u, 1u, 2u, 3u, 4u, 5u, 3u, 0u, 5u, 1u, 4u, 2u}) {
    const auto read = reader.windows(static_cast<std::int64_t>(i)), expected = windows_of(i, counts[i]);
    ASSERT_EQ(read.size(), expected.size());
    for (std::size_t k = 0; k < read.size(); ++k) {
      ASSERT_EQ(read[k].start, expected[k].start) << i << ", " << k;
      ASSERT_EQ(read[k].end, expected[k].end);
    }
  }
}

TEST(SequenceFile, WindowsMayBeginLateAndStandWithoutEvents) {
  TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  {
    SequenceFileWriter writer(path, {"a.csv"}, "");
    writer.append({1, {0, 1}, {0, 0}, 2});
    writer.append({2, {}, {}, 0}, std::vector<Window>{{0, 1}, {2, 3}});
    writer.append({3, {5}, {1}, 0});
    writer.append({4, {5}, {1}, 0}, std::vector<Window>{{4, 6}});
    writer.close();
  }
  const SequenceFileReader reader(path);
  ASSERT_TRUE(reader.has_windows());
  EXPECT_TRUE(reader.windows(0).empty());
  ASSERT_EQ(reader.windows(1).size(), 2u);
  EXPECT_EQ(reader.windows(1)[1].start, 2);
  EXPECT_TRUE(reader.windows(2).empty());
  EXPECT_EQ(reader.windows(3).at(0).end, 6);
  EXPECT_TRUE(reader.sequence(1).times.empty());
  const std::vector<SequenceWindows> all = read_windows(path);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].id, 2);
  EXPECT_EQ(all[1].id, 4);
}

TEST(SequenceFile, WriterRefusesWhatIsNotLegalAndLeavesNothing) {
  TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  {
    SequenceFileWriter writer(path, {}, "");
    const std::string start = path + ": sequence 7: ";
    writer.append({6, {0}, {0}, 0});
    expect_error(error_of([&] { writer.append({7, {1, 0}, {0, 0}, 0}); }), start, "event 2: time 0 comes after 1");
    expect_error(error_of([&] { writer.append({7, {std::numeric_limits<double>::quiet_NaN()}, {0}, 0}); }), start,
                 "event 1: time nan is not finite");
    expect_error(error_of([&] { writer.append({7, {0}, {-1}, 0}); }), start, "event 1: type -1 is negative");
    expect_error(error_of([&] { writer.append({7, {0, 1}, {0}, 0}); }), start, "there are 2 times but 1 types");
    expect_error(error_of([&] { writer.append({7, {}, {}, 0}); }), start, "it has neither events nor windows");
    expect_error(error_of([&] { writer.append({7, {0}, {0}, 0}, std::vector<Window>{{0, 2}, {1, 3}}); }), start,
                 "begins before the end");
    expect_error(error_of([&] { writer.append({6, {0}, {0}, 0}); }),
                 path + ": sequence 6: ", "its number is there already");
    EXPECT_EQ(folder.entries(), 1u);
  }
  EXPECT_EQ(folder.entries(), 0u);
  {
    SequenceFileWriter writer(path, {}, "");
    EXPECT_EQ(error_of([&] { writer.close(); }), path + ": not written: there are no sequences");
  }
  EXPECT_EQ(folder.entries(), 0u);
  const std::string csv = folder / "a.csv";
  expect_error(error_of([&] { SequenceFileWriter writer(csv, {}, ""); }), csv + ": a file of sequences must be named",
               "");
  const std::string none = folder / "none/a.h5";
  expect_error(error_of([&] { SequenceFileWriter writer(none, {}, ""); }), none + ": cannot write: No such file",
               "does its folder exist");
}

TEST(SequenceFile, TwoWritersOfOneFileAreEachWhole) {
  TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  std::optional<SequenceFileWriter> one(std::in_place, path, std::vector<std::string>{"one.csv"}, "s");
  std::optional<SequenceFileWriter> two(std::in_place, path, std::vector<std::string>{"two.csv"}, "s");
  for (int id = 0; id < 3; ++id) {
    one->append({id, {1, 2}, {0, 0}, 0});
    two->append({id, {3}, {1}, 0});
  }
  one->close();
  EXPECT_EQ(SequenceFileReader(path).sources(), std::vector<std::string>{"one.csv"});
  two->close();
  one.reset();
  two.reset();
  const SequenceFileReader reader(path);
  EXPECT_EQ(reader.sources(), std::vector<std::string>{"two.csv"});
  EXPECT_EQ(reader.events(), 3);
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(SequenceFile, FullDiskLeavesTheOldFileAndNothingElse) {
  TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  {
    SequenceFileWriter writer(path, {}, "");
    writer.append({1, {0}, {0}, 0});
    writer.close();
  }
  const std::string before = bytes_of(path);
  std::mt19937_64 draw(1);
  SequenceRecord record{1, {}, {}, 0};
  double time = 0;
  for (int i = 0; i < 100000; ++i) {
    record.times.push_back(time += static_cast<double>(draw()) * 1e-10);
    record.types.push_back(static_cast<int>(draw() % 1000));
  }
  std::optional<FileSizeLimit> limit(30000);
  const std::string text = error_of([&] {
    SequenceFileWriter writer(path, {}, "");
    try {
      writer.append(record);
      writer.close();
    } catch (const Error&) {
      limit.reset();
      throw;
    }
  });
  expect_error(text, path + ": ", "File too large");
  EXPECT_EQ(bytes_of(path), before);
  EXPECT_EQ(folder.entries(), 1u);
}

/// A small legal file with one thing altered.
class DamagedSequenceFile : public testing::Test {
 protected:
  void build(const std::vector<std::int64_t>& ids, const std::vector<std::int64_t>& offsets,
             const std::vector<double>& times, const std::vector<std::int64_t>& types, std::int64_t version = 1,
             const char* format = "fedpp sequences") {
    File file = File::create(path_);
    file.set_attribute("format", format);
    file.set_attribute("format_version", version);
    file.set_attribute("time_unit", "s");
    file.write("sources", std::vector<std::string>{"a.csv"});
    file.write("sequence_id", ids);
    file.write("offsets", offsets);
    file.write("time", times);
    file.write("type", types);
    file.close();
  }
  std::string error() {
    return error_of([&] { read_sequences(path_, [](SequenceRecord&) {}); });
  }
  TemporaryFolder folder_;
  std::string path_ = folder_ / "a.h5";
};

TEST_F(DamagedSequenceFile, IsRefusedWithItsReason) {
  build({1, 2}, {0, 1, 3}, {0, 0, 1}, {0, 0, 1});
  EXPECT_EQ(error(), "(no error)");
  build({1, 2}, {0, 1, 4}, {0, 0, 1}, {0, 0, 1});
  expect_error(error(), path_ + ": 'offsets' does not divide 3 elements among 2 sequences", "import it again");
  build({1, 2}, {0, 4, 3}, {0, 0, 1}, {0, 0, 1});
  expect_error(error(), path_ + ": 'offsets' does not divide", "");
  build({1, 2}, {0, 3}, {0, 0, 1}, {0, 0, 1});
  expect_error(error(), path_ + ": 'offsets' does not divide", "");
  build({1, 1}, {0, 1, 3}, {0, 0, 1}, {0, 0, 1});
  expect_error(error(), path_ + ": sequence 1 is there twice", "");
  build({}, {0}, {}, {});
  expect_error(error(), path_ + ": has no sequences", "");
  build({1, 2}, {0, 1, 3}, {0, 0, 1}, {0, 0});
  expect_error(error(), path_ + ": 'time' and 'type' differ in length", "");
  build({1, 2}, {0, 1, 3}, {0, 1, 0}, {0, 0, 1});
  expect_error(error(), path_ + ": sequence 2: event 2: time 0 comes after 1", "");
  build({1, 2}, {0, 1, 3}, {0, std::numeric_limits<double>::infinity(), 0}, {0, 0, 1});
  expect_error(error(), path_ + ": sequence 2: event 1: time inf is not finite", "");
  build({1, 2}, {0, 1, 3}, {0, 0, 1}, {0, 0, std::int64_t{1} << 32});
  expect_error(error(), path_ + ": sequence 2: event 2: type 4294967296 is above", "");
  build({1, 2}, {0, 1, 3}, {0, 0, 1}, {0, 0, 1}, 2);
  expect_error(error(), path_ + ": has format version 2, this program reads 1", "import the data again");
  build({1, 2}, {0, 1, 3}, {0, 0, 1}, {0, 0, 1}, 1, "other");
  expect_error(error(), path_ + ": is not a file of sequences made by 'fedpp import'", "");
}

TEST(SequenceSummary, CountsByHand) {
  TemporaryFolder folder;
  const SequenceSummary summary =
      summarise(put(folder / "a.csv", "sequence,time,type\n0,2,0\n0,2,3\n0,2,0\n0,7,0\n1,-1,1\n2,5,0\n2,5,1\n"));
  EXPECT_EQ(summary.sequences, 3);
  EXPECT_EQ(summary.events, 7);
  EXPECT_EQ(summary.types, 4);
  EXPECT_EQ(summary.shortest, 1);
  EXPECT_EQ(summary.longest, 4);
  EXPECT_DOUBLE_EQ(summary.mean_length, 7.0 / 3);
  EXPECT_EQ(summary.first_time, -1);
  EXPECT_EQ(summary.last_time, 7);
  EXPECT_EQ(summary.ties, 3);
  EXPECT_EQ(summary.gaps, 4);
  EXPECT_EQ(summary.timeless, 1);
  EXPECT_EQ(summary.first_timeless_line, 7);
  EXPECT_EQ(summary.type_counts, (std::vector<std::int64_t>{4, 2, 0, 1}));
}

/// Counts that the data's own README states.
TEST(SequenceSummary, OfRealData) {
  const char* shared = std::getenv("FEDPP_SHARED");
  const std::string path = std::string(shared ? shared : "") + "/data/conttime/train.csv.gz";
  if (!shared || !std::filesystem::exists(path)) GTEST_SKIP() << "the shared data sets are not here";
  const SequenceSummary summary = summarise(path);
  EXPECT_EQ(summary.sequences, 250);
  EXPECT_EQ(summary.events, 15065);
  EXPECT_EQ(summary.types, 5);
  EXPECT_EQ(summary.shortest, 20);
  EXPECT_EQ(summary.longest, 100);
  EXPECT_EQ(summary.ties, 0);
  EXPECT_EQ(summary.first_time, 0.0003810458001680672);
  EXPECT_EQ(summary.last_time, 26.97939682006836);
}

}  // namespace
}  // namespace fedpp::io
