// Small files in a folder of their own, gone with the test.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

struct Folder {
  std::filesystem::path path;
  Folder() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    path = std::filesystem::temp_directory_path() /
           (std::string("fedpp-data-") + test->name() + "-" + std::to_string(getpid()));
    std::filesystem::create_directories(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name) << text;
    return (path / name).string();
  }
};

/// Expects a UserError whose text has all the parts.
#define EXPECT_USER_ERROR(statement, ...)                                                                        \
  try {                                                                                                          \
    statement;                                                                                                   \
    ADD_FAILURE() << "no error";                                                                                 \
  } catch (const fedpp::UserError& error) {                                                                      \
    for (const char* part : {__VA_ARGS__})                                                                       \
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << part << " not in: " << error.what(); \
  }
