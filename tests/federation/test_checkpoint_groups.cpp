// What a checkpoint of others holds is looked at before anybody starts from it.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "config/error.hpp"
#include "federation/checkpoint_groups.hpp"

namespace fedpp::federation {
namespace {

struct CheckpointGroups : testing::Test {
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("fedpp_checkpoint_groups_{}.h5", getpid())).string();
  ~CheckpointGroups() override { std::filesystem::remove(path); }
};

TEST_F(CheckpointGroups, a_posterior_is_finite_with_positive_sds) {
  const auto written = [&](double mean, double sd) {
    io::File file = io::File::create(path);
    write_posterior(file, "theta", {{0.5, mean}, {sd, 2.0}});
    file.close();
    return io::File::open_read(path);
  };
  EXPECT_EQ(read_posterior(written(-1e300, 1e-300), "theta").mean[1], -1e300);
  for (const auto& [mean, sd, words] : {std::tuple{std::nan(""), 1.0, "mean[1] = nan is not finite"},
                                        {HUGE_VAL, 1.0, "mean[1] = inf is not finite"},
                                        {0.0, std::nan(""), "sd[0] = nan is not finite"},
                                        {0.0, 0.0, "sd[0] = 0 is not positive"},
                                        {0.0, -1.0, "sd[0] = -1 is not positive"}})
    try {
      read_posterior(written(mean, sd), "theta");
      ADD_FAILURE() << words;
    } catch (const UserError& error) {
      const std::string told = error.what();
      EXPECT_NE(told.find(path + ": /theta_" + words), std::string::npos) << told;
    }
}

TEST_F(CheckpointGroups, a_history_is_a_list_of_rounds) {
  for (const auto& [text, rounds] : {std::pair{R"([{"round":1}])", true}, {"{}", false}, {"[1", false}}) {
    io::File file = io::File::create(path);
    file.write_scalar("rounds", std::string(text));
    file.close();
    const auto read = [&] { return read_rounds(io::File::open_read(path)).text(); };
    if (rounds) {
      EXPECT_EQ(read(), text);
    } else {
      EXPECT_THROW(read(), UserError) << text;
    }
  }
}

}  // namespace
}  // namespace fedpp::federation
