#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "config/data_files.hpp"
#include "errors.hpp"

using namespace fedpp::config;
using testing::HasSubstr;
using testing::Not;

TEST(CheckClientFiles, NamesTheFirstThatIsMissingAndHowManyAre) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "fedpp_check_client_files";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "site0.csv") << "0,1,0\n";
  const Resolved run = read_text("[data]\nclient_files = 'site{client}.csv'\nclients = 3\n", "run.toml", folder);
  EXPECT_NO_THROW(check_data_files(run.config, run.origins));
  try {
    check_client_files(run.config, run.origins);
    FAIL() << "no error";
  } catch (const fedpp::UserError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("run.toml:2:1: data.client_files: cannot open \"" + (folder / "site1.csv").string()));
    EXPECT_THAT(error.what(), HasSubstr("missing for 2 of data.clients = 3"));
  }
  for (const char* name : {"site1.csv", "site2.csv"}) std::ofstream(folder / name) << "0,1,0\n";
  EXPECT_NO_THROW(check_client_files(run.config, run.origins));
}

TEST(CheckDataFiles, RefusesOneFileUnderTwoNames) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "fedpp_check_same_files";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "a.csv") << "0,1,0\n";
  std::filesystem::remove(folder / "b.csv");
  std::filesystem::create_symlink("a.csv", folder / "b.csv");
  const Resolved run = read_text("[data]\ntrain = ['a.csv']\ntest = ['b.csv']\n", "run.toml", folder);
  try {
    check_data_files(run.config, run.origins);
    FAIL() << "no error";
  } catch (const fedpp::UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("run.toml:3:1: data.test: \"" + (folder / "b.csv").string()));
    EXPECT_THAT(error.what(), HasSubstr("is the same file as"));
  }
}

TEST(CheckDataFiles, NamesKeyAndFileThatCannotBeRead) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "fedpp_check_files";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "there.csv") << "0,1,0\n";
  const Resolved run = read_text("[data]\ntrain = ['there.csv', 'gone.csv']\ntest = ['.']\n", "run.toml", folder);
  try {
    check_data_files(run.config, run.origins);
    FAIL() << "no error";
  } catch (const fedpp::UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("run.toml:2:1: data.train: cannot open \"" + (folder / "gone.csv").string()));
    EXPECT_THAT(error.what(), HasSubstr("is a folder"));
    EXPECT_THAT(error.what(), Not(HasSubstr("there.csv")));
  }
}
