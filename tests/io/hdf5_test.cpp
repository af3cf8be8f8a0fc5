#include "io/hdf5.hpp"

#include <hdf5.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <optional>
#include <thread>

#include "io/support.hpp"

namespace fedpp::io {
namespace {

TEST(Hdf5, RoundTripOfArraysAndScalars) {
  TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  const std::vector<double> doubles{1.5, -0.0, std::numeric_limits<double>::infinity(), 1e-310, 0.1, 3};
  const std::vector<std::int64_t> integers{std::numeric_limits<std::int64_t>::min(),
                                           std::numeric_limits<std::int64_t>::max()};
  const std::vector<std::string> texts{"", "zwei", "trois \xC3\xA9t\xC3\xA9"};
  {
    File file = File::create(path);
    file.write("matrix", std::span<const double>(doubles), {2, 3});
    file.write("group/inner/integers", integers);
    file.write("texts", texts);
    file.write("empty", std::vector<double>{});
    file.write("hollow", std::span<const double>(), {3, 0});
    file.write("no_texts", std::vector<std::string>{});
    file.write_scalar("number", 2.25);
    file.write_scalar("count", std::int64_t{-3});
    file.write_scalar("text", std::string("one"));
    file.close();
  }
  const File file = File::open_read(path);
  const Array<double> matrix = file.read<double>("matrix", 2);
  EXPECT_EQ(matrix.shape, (Shape{2, 3}));
  EXPECT_EQ(matrix.values, doubles);
  EXPECT_TRUE(std::signbit(matrix.values[1]));
  EXPECT_EQ(file.read_vector<std::int64_t>("group/inner/integers"), integers);
  EXPECT_EQ(file.group("group").read_vector<std::int64_t>("inner/integers"), integers);
  EXPECT_EQ(file.read_vector<std::string>("texts"), texts);
  EXPECT_TRUE(file.read_vector<double>("empty").empty());
  EXPECT_EQ(file.read<double>("hollow").shape, (Shape{3, 0}));
  EXPECT_TRUE(file.read_vector<std::string>("no_texts").empty());
  EXPECT_EQ(file.read_scalar<double>("number"), 2.25);
  EXPECT_EQ(file.read_scalar<std::int64_t>("count"), -3);
  EXPECT_EQ(file.read_scalar<std::string>("text"), "one");
  EXPECT_EQ(file.shape("matrix"), (Shape{2, 3}));
  EXPECT_EQ(file.shape("texts"), Shape{3});
  EXPECT_EQ(file.shape("number"), Shape{});
}

TEST(Hdf5, GroupsAndExistence) {
  TemporaryFolder folder;
  File file = File::create(folder / "a.h5");
  Group group = file.create_group("b/c");
  group.write_scalar("x", 1.0);
  file.create_group("a");
  file.write_scalar("d", 1.0);
  EXPECT_EQ(file.children(), (std::vector<std::string>{"a", "b", "d"}));
  EXPECT_EQ(group.path(), "/b/c");
  EXPECT_EQ(file.group("b").group("c").path(), "/b/c");
  EXPECT_TRUE(file.exists("b/c/x"));
  EXPECT_FALSE(file.exists("b/none/x"));
  EXPECT_FALSE(file.exists("none"));
  EXPECT_TRUE(file.is_group("b"));
  EXPECT_FALSE(file.is_group("d"));
}

TEST(Hdf5, Attributes) {
  TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  {
    File file = File::create(path);
    file.set_attribute("real", 0.1);
    file.set_attribute("integer", std::int64_t{-5});
    file.set_attribute("text", "old");
    file.set_attribute("text", std::string("new \xC2\xB5"));
    file.close();
  }
  const File file = File::open_read(path);
  EXPECT_EQ(file.attribute<double>("real"), 0.1);
  EXPECT_EQ(file.attribute<std::int64_t>("integer"), -5);
  EXPECT_EQ(file.attribute<double>("integer"), -5.0);
  EXPECT_EQ(file.attribute<std::string>("text"), "new \xC2\xB5");
  EXPECT_TRUE(file.has_attribute("real"));
  EXPECT_FALSE(file.has_attribute("none"));
  EXPECT_EQ(error_of([&] { file.attribute<double>("none"); }), path + ": /@none: there is no such attribute");
  expect_error(error_of([&] { file.attribute<std::int64_t>("real"); }),
               path + ": /@real: holds 64-bit floating point; expected integers", "");
  expect_error(error_of([&] { file.attribute<double>("text"); }),
               path + ": /@text: holds string; expected floating-point", "");
  expect_error(error_of([&] { file.attribute<std::string>("real"); }),
               path + ": /@real: holds 64-bit floating point; expected strings", "");
}

/// Types that other programs write: narrower numbers, strings of fixed size with either padding.
TEST(Hdf5, ForeignTypes) {
  TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  {
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hsize_t two[] = {2};
    const hid_t space = H5Screate_simple(1, two, nullptr), null = H5Screate(H5S_NULL);
    const auto write = [&](const char* name, hid_t file_type, hid_t memory_type, const void* data) {
      const hid_t set = H5Dcreate2(file, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      H5Dwrite(set, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
      H5Dclose(set);
    };
    const double halves[] = {0.5, -2.0};
    const std::int64_t small[] = {-1, 2, 3};
    write("float32be", H5T_IEEE_F32BE, H5T_NATIVE_DOUBLE, halves);
    write("int16", H5T_STD_I16BE, H5T_NATIVE_INT64, small);
    write("uint32", H5T_STD_U32LE, H5T_NATIVE_INT64, &small[1]);
    write("uint64", H5T_STD_U64LE, H5T_NATIVE_INT64, &small[1]);
    const hid_t padded = H5Tcopy(H5T_C_S1);
    H5Tset_size(padded, 4);
    H5Tset_strpad(padded, H5T_STR_NULLPAD);
    write("nullpad", padded, padded, "ab\0\0abcd");
    H5Tset_strpad(padded, H5T_STR_SPACEPAD);
    write("spacepad", padded, padded, "ab  a cd");
    H5Dclose(H5Dcreate2(file, "null", H5T_NATIVE_DOUBLE, null, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Tclose(padded);
    H5Sclose(space);
    H5Sclose(null);
    H5Fclose(file);
  }
  const File file = File::open_read(path);
  EXPECT_EQ(file.read_vector<double>("float32be"), (std::vector<double>{0.5, -2.0}));
  EXPECT_EQ(file.read_vector<std::int64_t>("int16"), (std::vector<std::int64_t>{-1, 2}));
  EXPECT_EQ(file.read_vector<std::int64_t>("uint32").at(0), 2);
  EXPECT_EQ(file.read_vector<std::string>("nullpad"), (std::vector<std::string>{"ab", "abcd"}));
  EXPECT_EQ(file.read_vector<std::string>("spacepad"), (std::vector<std::string>{"ab", "a cd"}));
  expect_error(error_of([&] { file.read_vector<std::int64_t>("uint64"); }),
               path + ": /uint64: holds unsigned 64-bit integer; expected integers that fit", "");
  expect_error(error_of([&] { file.read_vector<double>("null"); }), path + ": /null: is an empty", "");
}

TEST(Hdf5, ReadsRefuseWrongClassAndRank) {
  TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  File file = File::create(path);
  Group group = file.create_group("g");
  group.write("m", std::span<const double>(std::vector<double>(6)), {2, 3});
  file.write("i", std::vector<std::int64_t>{1});
  file.write("s", std::vector<std::string>{"x"});
  EXPECT_EQ(error_of([&] { group.read<double>("m", 1); }), path + ": /g/m: is shape (2, 3); expected rank 1");
  EXPECT_EQ(error_of([&] { file.read_scalar<std::int64_t>("i"); }), path + ": /i: is shape (1); expected rank 0");
  expect_error(error_of([&] { file.read<double>("i"); }),
               path + ": /i: holds signed 64-bit integer; expected floating-point", "");
  expect_error(error_of([&] { group.read<std::int64_t>("m"); }),
               path + ": /g/m: holds 64-bit floating point; expected integers", "");
  expect_error(error_of([&] { file.read<double>("s"); }), path + ": /s: holds string", "");
  expect_error(error_of([&] { file.read<std::string>("i"); }),
               path + ": /i: holds signed 64-bit integer; expected strings", "");
  expect_error(error_of([&] { file.read<double>("none"); }), path + ": /none: cannot open the array: ", "none");
  expect_error(error_of([&] { file.read<double>("g"); }), path + ": /g: cannot open the array: ", "");
  expect_error(error_of([&] { file.group("none"); }), path + ": /none: cannot open the group: ", "");
}

/// What was never written takes no place in the file, and all of the memory that its shape asks for.
TEST(Hdf5, ArraysAreNoLargerThanWhatTheFileHoldsOfThem) {
  TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  File file = File::create(path);
  const auto unwritten = [&](const char* name, std::vector<hsize_t> extents, hid_t type) {
    const std::vector<hsize_t> chunk(extents.size(), 4);
    const hid_t space = H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr),
                chunked = H5Pcreate(H5P_DATASET_CREATE);
    ASSERT_GE(H5Pset_chunk(chunked, static_cast<int>(chunk.size()), chunk.data()), 0);
    const hid_t dataset = H5Dcreate2(file.id(), name, type, space, H5P_DEFAULT, chunked, H5P_DEFAULT);
    ASSERT_GE(dataset, 0);
    H5Dclose(dataset);
    H5Pclose(chunked);
    H5Sclose(space);
  };
  const hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, 8);
  unwritten("few", {5}, H5T_NATIVE_DOUBLE);
  unwritten("many", {hsize_t{1} << 40}, H5T_NATIVE_DOUBLE);
  unwritten("texts", {hsize_t{1} << 40}, text);
  unwritten("uncountable", {hsize_t{1} << 62, 4}, H5T_NATIVE_DOUBLE);
  H5Tclose(text);
  EXPECT_EQ(file.read_vector<double>("few"), std::vector<double>(5));
  expect_error(error_of([&] { file.read_vector<double>("many"); }),
               path + ": /many: refused: it says that it has 1099511627776 entries", "holds 0 bytes");
  expect_error(error_of([&] { file.read_slice<double>("many", 0, std::uint64_t{1} << 39); }), path + ": /many: refused",
               "holds 0 bytes");
  EXPECT_EQ(file.read_slice<double>("many", 7, 2), std::vector<double>(2));
  expect_error(error_of([&] { file.read_vector<std::string>("texts"); }), path + ": /texts: refused", "holds 0 bytes");
  expect_error(error_of([&] { file.read<double>("uncountable"); }),
               path + ": /uncountable: has shape (4611686018427387904, 4)", "more entries");
  // As much as deflate can make of nothing but zeros is read.
  const std::vector<double> zeros(40'000'000);
  AppendableDataset<double> growing(file, "zeros", 1 << 20, 9);
  for (const double zero : zeros) growing.append(zero);
  growing.close();
  EXPECT_EQ(file.read_vector<double>("zeros").size(), zeros.size());
}

TEST(Hdf5, WritesRefuseWhatCannotBe) {
  TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  File file = File::create(path);
  file.write_scalar("x", 1.0);
  expect_error(error_of([&] { file.write_scalar("x", 2.0); }), path + ": /x: cannot create the array: ", "exists");
  expect_error(error_of([&] { file.write("m", std::span<const double>(std::vector<double>(5)), {2, 3}); }),
               path + ": /m: 5 values do not fill shape (2, 3)", "");
  expect_error(error_of([&] { file.write("t", std::vector<std::string>{std::string("a\0b", 3)}); }),
               path + ": /t: ", "NUL");
  expect_error(error_of([&] { file.set_attribute("t", std::string("a\0b", 3)); }), path + ": /@t: ", "NUL");
  expect_error(error_of([&] { file.create_group("x"); }), path + ": /x: cannot create the group: ", "");
  file.close();
  File reader = File::open_read(path);
  expect_error(error_of([&] { reader.write_scalar("y", 1.0); }),
               path + ": /y: cannot create the array: ", "no write intent");
}

TEST(Hdf5, FilesThatCannotBeOpenedSayWhy) {
  TemporaryFolder folder;
  const std::string none = folder / "none.h5";
  EXPECT_EQ(error_of([&] { File::open_read(none); }), none + ": cannot open: No such file or directory");
  const std::string text = put(folder / "text.h5", "not HDF5");
  EXPECT_EQ(error_of([&] { File::open_read(text); }), text + ": is not an HDF5 file");
  EXPECT_EQ(error_of([&] { File::open_append(folder.path()); }),
            folder.path() + ": is a folder; expected an HDF5 file");
  const std::string inside = folder / "none/a.h5";
  expect_error(error_of([&] { File::create(inside); }),
               inside + ": cannot create the file: ", "No such file or directory");
  expect_error(error_of([&] { File::create(folder / "a.h5", 100); }), folder / "a.h5: user block: ", "");
}

/// A received file must not show what else the account may read.
TEST(Hdf5, WhatLeadsToAnotherFileOrPlaceIsRefused) {
  TemporaryFolder folder;
  const std::string other = folder / "other.h5", path = folder / "a.h5";
  const std::string secret = put(folder / "secret", "a private key, 24 bytes.");
  {
    File file = File::create(other);
    file.write("group/values", std::vector<double>{1, 2, 3});
    file.close();
  }
  {
    File file = File::create(path);
    file.write("own/values", std::vector<double>{1});
    const auto link = [&](const char* name, const char* target) {
      ASSERT_GE(H5Lcreate_external(other.c_str(), target, file.id(), name, H5P_DEFAULT, H5P_DEFAULT), 0);
    };
    link("external", "/group/values");
    link("external_group", "/group");
    link("own/external_group", "/group");
    link("dangling", "/none");
    ASSERT_GE(H5Lcreate_soft("/own/values", file.id(), "soft", H5P_DEFAULT, H5P_DEFAULT), 0);
    ASSERT_GE(H5Lcreate_hard(file.id(), "/own/values", file.id(), "hard", H5P_DEFAULT, H5P_DEFAULT), 0);
    const hsize_t extent[] = {3};
    const hid_t space = H5Screate_simple(1, extent, nullptr), stored = H5Pcreate(H5P_DATASET_CREATE),
                gathered = H5Pcreate(H5P_DATASET_CREATE);
    ASSERT_GE(H5Pset_external(stored, secret.c_str(), 0, 24), 0);
    ASSERT_GE(H5Pset_virtual(gathered, space, other.c_str(), "/group/values", space), 0);
    for (const auto& [name, properties] : {std::pair{"stored", stored}, std::pair{"own/virtual", gathered}}) {
      const hid_t dataset = H5Dcreate2(file.id(), name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
      ASSERT_GE(dataset, 0);
      H5Dclose(dataset);
    }
    H5Pclose(stored);
    H5Pclose(gathered);
    H5Sclose(space);
    file.close();
  }
  const File file = File::open_read(path);
  EXPECT_EQ(file.read_vector<double>("hard"), (std::vector<double>{1}));
  const auto refused = [&](const std::string& object, const char* why, auto read) {
    SCOPED_TRACE(object);
    const std::string error = error_of([&] { read(object); });
    expect_error(error, path + ": /" + object + ": refused: ", why);
    expect_error(error, path, "h5copy");
  };
  const auto values = [&](const std::string& name) { file.read_vector<double>(name); };
  const auto slice = [&](const std::string& name) { file.read_slice<double>(name, 0, 1); };
  const auto info = [&](const std::string& name) { file.shape(name); };
  const auto group = [&](const std::string& name) { file.group(name); };
  const auto exists = [&](const std::string& name) { file.exists(name); };
  for (const char* name : {"external", "external_group/values", "own/external_group/values", "soft", "dangling"}) {
    refused(name, "link", values);
    refused(name, "link", slice);
    refused(name, "link", info);
    refused(name, "link", exists);
  }
  for (const char* name : {"external_group", "own/external_group"}) {
    refused(name, "link", group);
    refused(name, "link", [&](const std::string& object) { file.is_group(object); });
  }
  expect_error(error_of([&] { file.group("own").group("external_group"); }), path + ": /own/external_group: ", "link");
  for (const auto& [name, why] : {std::pair{"stored", "external storage"}, std::pair{"own/virtual", "virtual"}}) {
    refused(name, why, values);
    refused(name, why, slice);
    refused(name, why, info);
  }
}

TEST(Hdf5, AppendsToAFileAndKeepsTheUserBlock) {
  TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  {
    File file = File::create(path, 1024);
    file.write_scalar("x", 1.0);
    file.close();
  }
  {
    File file = File::open_append(path);
    file.write_scalar("y", 2.0);
    file.close();
  }
  EXPECT_EQ(bytes_of(path).substr(0, 1024), std::string(1024, '\0'));
  EXPECT_EQ(bytes_of(path).substr(1025, 3), "HDF");
  const File file = File::open_read(path);
  EXPECT_EQ(file.read_scalar<double>("x") + file.read_scalar<double>("y"), 3.0);
}

TEST(Hdf5, SlicesOfOneDimension) {
  TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  File file = File::create(path);
  file.write("a", std::vector<double>{0, 1, 2, 3, 4});
  file.write("m", std::span<const double>(std::vector<double>(4)), {2, 2});
  EXPECT_EQ(file.read_slice<double>("a", 1, 3), (std::vector<double>{1, 2, 3}));
  EXPECT_TRUE(file.read_slice<double>("a", 5, 0).empty());
  EXPECT_EQ(error_of([&] { file.read_slice<double>("a", 3, 3); }), path + ": /a: has 5 elements; [3, 6) was asked for");
  expect_error(error_of([&] { file.read_slice<double>("a", 6, 0); }), path + ": /a: has 5 elements", "");
  EXPECT_EQ(error_of([&] { file.read_slice<double>("m", 0, 1); }), path + ": /m: is shape (2, 2); expected rank 1");
  expect_error(error_of([&] { file.read_slice<std::int64_t>("a", 0, 1); }), path + ": /a: holds 64-bit floating point",
               "");
}

TEST(Hdf5, AppendableDatasetsGrowOverChunks) {
  TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  std::vector<std::int64_t> expected;
  {
    File file = File::create(path);
    AppendableDataset<std::int64_t> data(file, "deep/data", 16);
    for (std::int64_t length : {1, 0, 15, 3, 16, 100, 7}) {
      std::vector<std::int64_t> piece;
      for (std::int64_t i = 0; i < length; ++i) piece.push_back(static_cast<std::int64_t>(expected.size()) * 3 + i);
      data.append(std::span<const std::int64_t>(piece));
      expected.insert(expected.end(), piece.begin(), piece.end());
      data.append(-length);
      expected.push_back(-length);
      EXPECT_EQ(data.size(), expected.size());
    }
    data.close();
    AppendableDataset<double> nothing(file, "nothing", 16);
    nothing.close();
    file.close();
  }
  const File file = File::open_read(path);
  EXPECT_EQ(file.read_vector<std::int64_t>("deep/data"), expected);
  EXPECT_TRUE(file.read_vector<double>("nothing").empty());
}

TEST(Hdf5, DamagedChunksAreFoundByTheirChecksum) {
  TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  const std::vector<double> values(1000, 0.1);
  {
    File file = File::create(path);
    AppendableDataset<double> data(file, "data", 1000, 0);
    data.append(std::span<const double>(values));
    data.close();
    file.close();
  }
  std::string bytes = bytes_of(path);
  // Shuffled bytes of 0.1: a long run of one value.
  const std::size_t at = bytes.find(std::string(100, '\x99'));
  ASSERT_NE(at, std::string::npos);
  bytes[at + 50] = static_cast<char>(bytes[at + 50] ^ 4);
  put(path, bytes);
  const File file = File::open_read(path);
  expect_error(error_of([&] { file.read_vector<double>("data"); }), path + ": /data: cannot read: ", "checksum");
}

/// Runs `write` on a new file that may not grow beyond 20000 bytes, ends that limit at the failure, and closes the
/// file.
template <class Write>
std::string error_of_growing(const std::string& path, Write write) {
  std::optional<FileSizeLimit> limit(20000);
  return error_of([&] {
    File file = File::create(path);
    try {
      write(file);
      file.close();
    } catch (const Error&) {
      limit.reset();
      // The file is lost; what comes later must not look like a success.
      EXPECT_TRUE(error_of([&] { file.close(); }).starts_with(path + ": cannot "));
      throw;
    }
  });
}

TEST(Hdf5, GrowingBeyondALimitIsAnErrorAndHdf5StaysSound) {
  TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  const std::vector<double> values(100000, 1.5);
  expect_error(error_of_growing(path, [&](File& file) { file.write("a", values); }),
               path + ": /a: cannot write: ", "File too large");
  expect_error(error_of_growing(path,
                                [&](File& file) {
                                  AppendableDataset<double> data(file, "b", 512, 0);
                                  data.append(std::span<const double>(values));
                                  data.close();
                                }),
               path + ": /b: cannot write: ", "File too large");
  // Small arrays wait in HDF5's caches until the file is flushed.
  expect_error(error_of_growing(path,
                                [&](File& file) {
                                  for (int i = 0; i < 2000; ++i)
                                    file.create_group("group" + std::to_string(i)).set_attribute("x", 1.0);
                                }),
               path, "File too large");
  File file = File::create(path);
  file.write_scalar("x", 1.0);
  file.close();
  EXPECT_EQ(File::open_read(path).read_scalar<double>("x"), 1.0);
}

TEST(Hdf5, FullDiskIsAnError) {
  // A link to /dev/full takes nothing, as a full disk.
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  std::filesystem::create_symlink("/dev/full", path);
  expect_error(error_of([&] { File::create(path); }),
               path + ": cannot create the file: ", "No space left on device (free some space");
}

/// Between two looks at it.
TEST(Hdf5, AFileThatIsDeletedMeanwhileIsNotCalledDamaged) {
  TemporaryFolder folder;
  const std::string path = folder / "a.h5", kept = folder / "kept.h5";
  File::create(kept).close();
  for (int i = 0; i < 1000; ++i) {
    std::filesystem::create_hard_link(kept, path);
    std::jthread other([&] {
      const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(i / 5);
      while (std::chrono::steady_clock::now() < until);
      std::filesystem::remove(path);
    });
    const std::string error = error_of([&] { File::open_read(path); });
    EXPECT_EQ(error.find("damaged"), std::string::npos) << error;
    EXPECT_EQ(error.find("not an HDF5"), std::string::npos) << error;
  }
}

TEST(Hdf5, ClosingIsStrongAndTwiceIsLegal) {
  TemporaryFolder folder;
  File file = File::create(folder / "a.h5");
  Group group = file.create_group("g");
  file.close();
  file.close();
  expect_error(error_of([&] { group.write_scalar("x", 1.0); }), folder / "a.h5: /g/x: ", "");
}

}  // namespace
}  // namespace fedpp::io
