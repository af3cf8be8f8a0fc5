// What is said of the kernels' scratch before a run, against what launches ask for on the emulated device, and the
// refusal of sizes for which a device, a real one too, has no room.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "config/error.hpp"
#include "gpu/team.hpp"
#include "model/clients.hpp"
#include "model/device_room.hpp"
#include "model/local_update.hpp"
#include "model/prediction.hpp"

namespace {

using namespace fedpp;

std::string refusal(const gpu::Encoder& encoder, const config::Config& config) {
  try {
    model::check_device_room(encoder, config);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

gpu::Encoder encoder_of(const config::Model& model) { return model::make_embedding(model, {}).encoder; }

#if defined(KOKKOS_ENABLE_EMULATED_DEVICE)

class DeviceRoom : public testing::TestWithParam<gpu::EncoderKind> {
 protected:
  /// A client with so many inducing points that some kernels' scratch is global memory.
  model::Client client() const {
    const auto small = test::history_client(3, GetParam());
    return model::make_client(3, small.embedding, small.training, 60, 1.0);
  }
  static void expect_said(const gpu::ScratchWanted& said) {
    const auto launched = emulated_device::most_scratch();
    EXPECT_EQ(said.team, static_cast<gpu::Index>(std::max(launched.bytes[0], launched.bytes[1])));
    EXPECT_EQ(said.teams, static_cast<gpu::Index>(launched.teams));
  }
};

TEST_P(DeviceRoom, of_a_local_update_is_what_its_launches_ask_for) {
  for (const auto precision : {config::Precision::kDouble, config::Precision::kMixed}) {
    auto client = this->client();
    config::Config config;
    config.training.samples = 2;
    config.training.epochs = 1;
    config.training.precision = precision;
    const auto prior = model::initial_prior(config.model, client.embedding, 5);
    emulated_device::most_scratch();
    model::local_update({&client}, prior, model::local_options(config), 7, 0);
    expect_said(model::scratch_of({&client, &client.training},
                                  {.samples = 2, .with_gradient = true, .precision = model::precision_of(precision)}));
  }
}

TEST_P(DeviceRoom, of_a_prediction_is_what_its_launches_ask_for) {
  auto client = this->client();
  const auto prior = model::initial_prior({}, client.embedding, 5);
  for (const int e_steps : {1, 8}) {  // on samples, and on averages over them
    model::PredictionOptions options;
    options.samples = 8;
    options.e_steps = e_steps;
    emulated_device::most_scratch();
    model::predict({{&client, {&client.training}}}, prior, options);
    const auto launched = emulated_device::most_scratch();
    const auto said = model::scratch_of({&client, &client.training}, {.samples = options.samples});
    EXPECT_GE(said.team, static_cast<gpu::Index>(std::max(launched.bytes[0], launched.bytes[1])));
    EXPECT_GE(said.teams, static_cast<gpu::Index>(launched.teams));
    EXPECT_LE(static_cast<double>(said.team),
              1.2 * static_cast<double>(std::max(launched.bytes[0], launched.bytes[1])));
  }
}

INSTANTIATE_TEST_SUITE_P(Encoders, DeviceRoom,
                         testing::Values(gpu::EncoderKind::kRbf, gpu::EncoderKind::kDeepKernel, gpu::EncoderKind::kLstm,
                                         gpu::EncoderKind::kAttention, gpu::EncoderKind::kDecay),
                         [](const auto& info) {
                           std::string name = gpu::encoder_family(info.param).name();
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

#endif

#if defined(FEDPP_DEVICE_BACKEND)

TEST(DeviceLimit, too_many_inducing_points_are_refused_with_the_most_that_fit) {
  config::Config config;
  config.model.encoder = config::Encoder::kDeepKernel;
  config.model.inducing = 2400;
  const auto text = refusal(encoder_of(config.model), config);
  EXPECT_NE(text.find("model.inducing = 2400"), std::string::npos) << text;
  const std::string before = "take at most ";
  ASSERT_NE(text.find(before), std::string::npos) << text;
  const int fit = std::stoi(text.substr(text.find(before) + before.size()));
  config.model.inducing = fit;
  EXPECT_EQ(refusal(encoder_of(config.model), config), "");
  config.model.inducing = fit + 1;
  EXPECT_NE(refusal(encoder_of(config.model), config), "");
}

TEST(DeviceLimit, too_wide_an_encoder_is_refused_by_its_width) {
  config::Config config;
  config.model.encoder = config::Encoder::kAttention;
  config.model.width = 40'000;
  const auto text = refusal(encoder_of(config.model), config);
  EXPECT_NE(text.find("model.width = 40000"), std::string::npos) << text;
}

#else

TEST(DeviceLimit, hosts_have_none) {
  config::Config config;
  config.model.encoder = config::Encoder::kDeepKernel;
  config.model.inducing = 20'000;
  EXPECT_EQ(refusal(encoder_of(config.model), config), "");
}

#endif

TEST(ScratchWanted, of_two_clients_is_no_more_than_all_teams_at_a_time_hold) {
  gpu::ScratchWanted wanted, other;
  const gpu::Index doubles = 1 << 20;
  const auto bytes = gpu::team_scratch(doubles).bytes;
  wanted.launch(1, doubles);
  EXPECT_EQ(wanted.teams, gpu::kHostBackend ? bytes * gpu::concurrent_teams() : bytes);  // hosts: of every thread
  other.launch(1'000'000, doubles);
  EXPECT_EQ(other.teams, bytes * gpu::concurrent_teams());
  wanted += other;
  EXPECT_EQ(wanted.team, bytes);
  EXPECT_EQ(wanted.teams, bytes * gpu::concurrent_teams());
}

}  // namespace
