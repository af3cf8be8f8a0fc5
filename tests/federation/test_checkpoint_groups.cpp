// What a checkpoint of others holds is looked at before anybody starts from it.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "config/error.hpp"
#include "federation/checkpoint_groups.hpp"

namespace fedpp::federation {
namespace {

struct CheckpointGroups : testing::Test {
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("fedpp_checkpoint_groups_{}.h5", getpid())).string();
  ~CheckpointGroups() override { std::filesystem::remove(path); }

  io::File written(const std::function<void(io::File&)>& write) const {
    io::File file = io::File::create(path);
    write(file);
    file.close();
    return io::File::open_read(path);
  }
  static std::string error_of(const std::function<void()>& read) {
    try {
      read();
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(CheckpointGroups, a_posterior_is_finite_with_positive_sds) {
  const auto read = [&](double mean, double sd) {
    const auto file = written([&](io::File& f) { write_posterior(f, "theta", {{0.5, mean}, {sd, 2.0}}); });
    return read_posterior(file, "theta");
  };
  EXPECT_EQ(read(-1e300, 1e-300).mean[1], -1e300);
  for (const auto& [mean, sd, words] : {std::tuple{std::nan(""), 1.0, "mean[1] = nan is not finite"},
                                        {HUGE_VAL, 1.0, "mean[1] = inf is not finite"},
                                        {0.0, std::nan(""), "sd[0] = nan is not finite"},
                                        {0.0, 0.0, "sd[0] = 0 is not positive"},
                                        {0.0, -1.0, "sd[0] = -1 is not positive"}}) {
    const auto told = error_of([&] { read(mean, sd); });
    EXPECT_NE(told.find(path + ": /theta_" + words), std::string::npos) << told;
  }
}

TEST_F(CheckpointGroups, a_posterior_has_as_many_sds_as_means_and_as_weights_that_it_is_of) {
  const std::vector<double> two{1.0, 2.0}, three{1.0, 2.0, 3.0};
  for (const auto& [mean, sd, wanted, words] :
       {std::tuple{two, three, std::optional<std::size_t>{}, "/theta_sd has 3 entries"},
        {two, three, std::optional<std::size_t>{2}, "/theta_sd has 3 entries"},
        {three, two, std::optional<std::size_t>{2}, "/theta_mean has 3 entries"},
        {two, two, std::optional<std::size_t>{3}, "/theta_mean has 2 entries"}}) {
    const auto told = error_of([&] {
      read_posterior(written([&](io::File& f) { write_posterior(f, "theta", {mean, sd}); }), "theta", wanted);
    });
    EXPECT_NE(told.find(path + ": " + words), std::string::npos) << told;
  }
}

TEST_F(CheckpointGroups, a_history_is_a_list_of_rounds_with_who_took_part) {
  const auto read = [&](const std::string& text) {
    return read_rounds(written([&](io::File& f) { f.write_scalar("rounds", text); })).text();
  };
  const std::string whole = R"([{"left_out":[],"participants":[1]}])";
  EXPECT_EQ(read(whole), whole);
  EXPECT_EQ(read("[]"), "[]");
  for (const auto* text : {"{}", "[1", "[1]", R"([{"participants":[1]}])", R"([{"left_out":1,"participants":[1]}])"}) {
    const auto told = error_of([&] { read(text); });
    EXPECT_NE(told.find(path + ": 'rounds' is not what fedpp writes"), std::string::npos) << text << told;
  }
}

TEST_F(CheckpointGroups, a_configuration_has_sections) {
  const auto read = [&](const std::string& text) {
    return read_configuration(written([&](io::File& f) { f.write_scalar("configuration", text); }));
  };
  EXPECT_EQ(read(R"({"data":{"clients":3}})"), R"({"data":{"clients":3}})");
  for (const std::string& text :
       {std::string(), std::string("null"), std::string("[{}]"), std::string(R"({"data":3})"),
        R"({"data":{"train":)" + std::string(100000, '[') + std::string(100000, ']') + "}}"}) {
    const auto told = error_of([&] { read(text); });
    EXPECT_NE(told.find(path + ": 'configuration' is not what fedpp writes"), std::string::npos) << text.substr(0, 40);
  }
}

TEST_F(CheckpointGroups, inputs_are_scaled_by_numbers) {
  const data::InputScale good{{false, 1.0, 2.0, 3.0}, {-4.0, 5.0}, 6, {}};
  const auto read = [&](const data::InputScale& scale) {
    return read_input_scale(
        written([&](io::File& f) { write_input_scale(f.create_group("inputs"), scale); }).group("inputs"));
  };
  const auto back = read(good);
  EXPECT_EQ(back.clock.scale, 2.0);
  EXPECT_EQ(back.gaps.mean, -4.0);
  const auto refused = [&](double data::Clock::* number, double value) {
    auto scale = good;
    scale.clock.*number = value;
    return error_of([&] { read(scale); });
  };
  for (const double value : {0.0, -1.0, HUGE_VAL, std::nan("")}) {
    EXPECT_NE(refused(&data::Clock::scale, value).find("'inputs/scale' is not what fedpp writes"), std::string::npos);
    EXPECT_NE(refused(&data::Clock::window, value).find("'inputs/window' is not what"), std::string::npos);
  }
  EXPECT_NE(refused(&data::Clock::origin, HUGE_VAL).find("'inputs/origin' is not what"), std::string::npos);
  EXPECT_EQ(refused(&data::Clock::origin, -1e9), "");
}

TEST_F(CheckpointGroups, a_clients_state_is_of_its_weights_and_of_numbers) {
  const std::vector<double> three{1.0, 2.0, 3.0};
  model::ClientState good;
  good.weights = {three, three};
  good.raw = good.first_mean = good.second_mean = good.first_raw = good.second_raw = three;
  good.v_mean = {0.5, -0.5};
  good.v_factor = {1.0, 0.0, 0.0, 1.0};
  good.started = true;
  const auto refused = [&](const std::function<void(model::ClientState&)>& change) {
    auto state = good;
    change(state);
    return error_of([&] {
      const auto group = written([&](io::File& f) {
        write_weights(f, state);
        write_latent(f, state);
      });
      read_weights(group, 3);
      read_latent(group, good);
    });
  };
  EXPECT_EQ(refused([](auto&) {}), "");
  using State = model::ClientState;
  using Numbers = std::vector<double> State::*;
  for (const auto& [member, name] : {std::pair<Numbers, const char*>{&State::raw, "raw"},
                                     {&State::first_mean, "first_mean"},
                                     {&State::second_mean, "second_mean"},
                                     {&State::first_raw, "first_raw"},
                                     {&State::second_raw, "second_raw"}}) {
    const auto told = refused([&](State& state) { (state.*member).push_back(1); });
    EXPECT_NE(told.find(fmt::format("{}: /{} has 4 entries", path, name)), std::string::npos) << told;
  }
  const auto of_three = refused([](State& s) {
    s.v_mean = {0.5, 0.5, 0.5};
    s.v_factor.assign(9, 1.0);
  });
  EXPECT_NE(of_three.find(path + ": /v_mean has 3 entries"), std::string::npos) << of_three;
  EXPECT_NE(refused([](State& s) { s.core = {{1.0}, {1.0}}; }).find("core_mean has 1 entries"), std::string::npos);
  EXPECT_NE(refused([](State& s) { s.rate = 0; }).find("a positive number"), std::string::npos);
  EXPECT_NE(refused([](State& s) { s.offset = std::nan(""); }).find("finite numbers"), std::string::npos);
  EXPECT_NE(refused([](State& s) { s.v_mean[1] = HUGE_VAL; }).find("finite numbers"), std::string::npos);
  EXPECT_NE(refused([](State& s) { s.v_factor[3] = std::nan(""); }).find("finite numbers"), std::string::npos);
}

TEST_F(CheckpointGroups, factors_are_held_as_triangles_and_a_start_not_at_all) {
  model::LatentState state{1.5, -0.25, {1, 2, 3, 4}, {5, 6, 0, 7, 8, 9, 0, 10}};  // two of M = 2
  {
    const auto file = written([&](io::File& f) { write_latent(f, state); });
    EXPECT_EQ(file.read_vector<double>("v_triangle"), (std::vector<double>{5, 6, 7, 8, 9, 10}));
    const auto back = read_latent(file, state);
    EXPECT_EQ(back.rate, 1.5);
    EXPECT_EQ(back.offset, -0.25);
    EXPECT_EQ(back.v_mean, state.v_mean);
    EXPECT_EQ(back.v_factor, state.v_factor);
  }

  // Squares of layouts before 6; too few numbers of either.
  const auto with = [&](const char* name, const std::vector<double>& factors) {
    return written([&](io::File& f) {
      f.write_scalar("rate", 1.5);
      f.write_scalar("offset", -0.25);
      f.write("v_mean", state.v_mean);
      f.write(name, factors);
    });
  };
  EXPECT_EQ(read_latent(with("v_factor", state.v_factor), state).v_factor, state.v_factor);
  for (const auto& [name, size] : {std::pair{"v_factor", 7}, {"v_triangle", 5}}) {
    const auto told = error_of([&, n = name, s = size] { read_latent(with(n, std::vector<double>(s, 1.0)), state); });
    EXPECT_NE(told.find(fmt::format("/{} has {} entries", name, size)), std::string::npos) << told;
  }

  auto start = state;
  model::start_latent(start, 2, 2);
  const auto unmoved = written([&](io::File& f) { write_latent(f, start); });
  EXPECT_FALSE(unmoved.exists("v_mean") || unmoved.exists("v_triangle"));
  const auto at_start = read_latent(unmoved, state);
  EXPECT_EQ(at_start.rate, 1.5);
  EXPECT_EQ(at_start.v_mean, std::vector<double>(4, 0.0));
  EXPECT_EQ(at_start.v_factor, (std::vector<double>{1, 0, 0, 1, 1, 0, 0, 1}));
}

TEST_F(CheckpointGroups, an_upload_and_a_prior_are_of_the_models_weights) {
  KeptUploads uploads{{4, {2, {{1.0, 2.0}, {1.0, 1.0}}}}};
  model::Priors priors{{{1.0, 2.0}, {1.0, 1.0}}};
  priors.own[4] = {{1.0}, {1.0}};
  const auto file = written([&](io::File& f) {
    write_upload(f, uploads, 4);
    write_own_prior(f, "prior", priors, 4);
  });
  read_upload(file, uploads, 4, 2);
  EXPECT_NE(error_of([&] { read_upload(file, uploads, 4, 3); }).find("/upload_mean has 2 entries"), std::string::npos);
  EXPECT_NE(error_of([&] { read_own_prior(file, "prior", priors, 4); }).find("/prior_mean has 1 entries"),
            std::string::npos);
}

}  // namespace
}  // namespace fedpp::federation
