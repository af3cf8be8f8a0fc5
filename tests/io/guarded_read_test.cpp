#include "io/guarded_read.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "io/support.hpp"

namespace fedpp::io {
namespace {

constexpr TrialLimits kShort{.cpu_seconds = 1, .seconds = 2, .bytes = 64u << 20};
constexpr const char* kRemedy = "; write it anew";

class GuardedRead : public testing::Test {
 protected:
  void SetUp() override {
    File file = File::create(path_);
    file.write("x", std::vector<double>{1, 2});
    file.close();
  }
  std::string error(const TrialRead& read, const TrialLimits& limits = kShort) {
    return error_of([&] { try_reading(path_, read, kRemedy, limits); });
  }
  TemporaryFolder folder_;
  std::string path_ = folder_ / "a.h5";
};

TEST_F(GuardedRead, WhatTheChildCameThroughIsOpened) {
  const File file = open_guarded(path_, [](File trial) { trial.read_vector<double>("x"); }, kRemedy);
  EXPECT_EQ(file.read_vector<double>("x"), (std::vector<double>{1, 2}));
}

TEST_F(GuardedRead, ACrashIsAnErrorWithTheRemedy) {
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE})
    expect_error(error([&](File) { std::raise(signal); }), path_ + ": refused: HDF5 crashed on it (",
                 std::string("), so it is damaged") + kRemedy);
  expect_error(error([](File) { std::raise(SIGKILL); }), path_ + ": refused: the process that read it first was killed",
               kRemedy);
  expect_error(error([](File) { ::_exit(0); }), path_ + ": refused: HDF5 gave up on it", kRemedy);
}

TEST_F(GuardedRead, AHandlerOfTheParentDoesNotKeepTheChildAlive) {
  const auto before = std::signal(SIGSEGV, [](int) { std::fputs("a handler of the parent\n", stderr); });
  const std::string text = error([](File) { std::raise(SIGSEGV); });
  std::signal(SIGSEGV, before);
  expect_error(text, path_ + ": refused: HDF5 crashed on it (", kRemedy);
}

TEST_F(GuardedRead, AChildThatNeverEndsIsEnded) {
  const auto loop = [](File) {
    while (::getpid() > 0) {
    }
  };
  expect_error(error(loop, {1, 60, 64u << 20}), path_ + ": refused: HDF5 was not through with it after 1 s of work",
               kRemedy);
  const auto sleep = [](File) {
    for (;;) ::pause();
  };
  expect_error(error(sleep, {60, 1, 64u << 20}), path_ + ": refused: HDF5 was not through with it after 1 s", kRemedy);
}

TEST_F(GuardedRead, MemoryHasALimit) {
  if (!kMemoryIsLimited) GTEST_SKIP() << "limits of memory do not go with this sanitizer";
  const auto allocate = [](File) { std::vector<char> bytes(100u << 20); };
  expect_error(error(allocate), path_ + ": refused: reading it takes more than 64 MB of memory", kRemedy);
  EXPECT_EQ(error(allocate, {1, 2, 512u << 20}), "(no error)");
}

TEST_F(GuardedRead, AnErrorOfTheChildIsTheCallers) {
  const std::string long_text(100'000, 'x');  // more than a pipe holds
  EXPECT_EQ(error([&](File) { throw Error(long_text); }), long_text);
  EXPECT_EQ(error([](File file) { file.read_vector<double>("y"); }).find(path_ + ": /y: "), 0u);
  put(path_, "text");
  EXPECT_EQ(error([](File) {}), path_ + ": is not an HDF5 file");
}

TEST_F(GuardedRead, AFileIsTriedOnceUntilItChanges) {
  const std::string tries = folder_ / "tries";
  const TrialRead count = [&](File) { std::ofstream(tries, std::ios::app) << '.'; };
  for (int i = 0; i < 3; ++i) open_guarded(path_, count, kRemedy);
  EXPECT_EQ(bytes_of(tries), ".");
  File file = File::open_append(path_);
  file.write("y", std::vector<double>{3});
  file.close();
  open_guarded(path_, count, kRemedy);
  EXPECT_EQ(bytes_of(tries), "..");
}

TEST_F(GuardedRead, LimitsGrowWithTheFile) {
  const TrialLimits small = trial_limits(0), large = trial_limits(1u << 30);
  EXPECT_GE(small.cpu_seconds, 10u);
  EXPECT_GE(large.cpu_seconds, 1000u);
  EXPECT_GT(large.seconds, large.cpu_seconds);
  EXPECT_GE(large.bytes, small.bytes);
}

}  // namespace
}  // namespace fedpp::io
