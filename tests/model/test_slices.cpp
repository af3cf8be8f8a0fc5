// Slices in which points of predictions are read, and the bytes that are said of them.
#include <gtest/gtest.h>

#include <algorithm>

#include "gpu/runtime.hpp"
#include "model/batch_memory.hpp"
#include "model/clients.hpp"
#include "model/point_slices.hpp"
#include "model/prediction.hpp"

namespace {

using namespace fedpp;
using model::Client;
using model::ClientPoints;
using model::PredictionOptions;

Client client_with(std::size_t lists) {
  return model::make_client(0, test::small_encoder(), std::vector<data::Realisation>(lists), 8, 1.0);
}

std::vector<data::Realisation> points_alike(std::size_t lists) {
  std::mt19937_64 engine(4);
  return std::vector<data::Realisation>(lists, test::random_realisation(engine, 20, 30));
}

PredictionOptions in_room_of(double megabytes) {  // where a host's slices are larger than its work space
  PredictionOptions options;
  options.workspace_mb = gpu::on_host() ? megabytes / 8 : megabytes / 0.5;
  return options;
}

TEST(Slices, of_points_alike_are_equally_full) {
  const Client client = client_with(50);
  const auto points = points_alike(50);
  const auto slices = model::slices_of({{&client, &points}}, in_room_of(0.8));
  ASSERT_GT(slices.size(), 2u);
  EXPECT_GT(slices[0].size(), 1u);
  std::size_t next = 0;
  for (std::size_t s = 0; s < slices.size(); ++s) {
    if (s + 1 < slices.size()) {
      EXPECT_EQ(slices[s].size(), slices[0].size()) << s;
    }
    for (const auto& part : slices[s]) EXPECT_EQ(part.realisation, next++);
  }
  EXPECT_EQ(next, 50u);
}

/// Since every slice forms the whole history anew.
TEST(Slices, have_no_fewer_points_than_the_history_has_events) {
  std::mt19937_64 engine(5);
  auto r = test::random_realisation(engine, 900, 3000);
  r.streams.push_back({0.0, r.events, std::vector<int>(r.events.size(), 0)});
  for (int j = 0; j < 900; ++j) r.event_history.push_back({0, j});
  r.node_history.assign(r.nodes.size(), {0, 0});
  const Client client =
      model::make_client(0, test::small_encoder(gpu::EncoderKind::kLstm), std::vector<data::Realisation>{r}, 7, 1.0);
  PredictionOptions options;
  options.part_bytes = 1;
  const auto slices = model::slices_of({{&client, &client.training}}, options);
  ASSERT_GT(slices.size(), 1u);
  for (std::size_t s = 0; s + 1 < slices.size(); ++s) EXPECT_GE(slices[s][0].last - slices[s][0].first, 900u);
}

TEST(SlicedBytes, are_those_of_all_points_where_one_slice_holds_them_and_fewer_elsewhere) {
  const Client client = client_with(50);
  const auto points = points_alike(50);
  const ClientPoints all{&client, &points};
  const double bytes = model::array_bytes({&all, 1}, {.samples = 8});
  EXPECT_NEAR(model::sliced_bytes(all, in_room_of(1000)), bytes, 1);
  const auto small = in_room_of(0.8);
  ASSERT_GT(model::slices_of({all}, small).size(), 2u);
  EXPECT_LT(model::sliced_bytes(all, small), bytes - 1e6);
}

TEST(PredictionBytes, are_those_of_the_set_that_takes_most) {
  const Client client = client_with(3);
  const auto few = points_alike(3);
  auto many = few;
  std::mt19937_64 engine(6);
  for (auto& r : many) r = test::random_realisation(engine, 200, 700);
  const PredictionOptions options;
  const auto bytes = [&](const std::vector<const std::vector<data::Realisation>*>& sets) {
    return model::prediction_bytes({&client, sets}, options);
  };
  EXPECT_GT(bytes({&many}), bytes({&few}));
  EXPECT_EQ(bytes({&few, &many, &few}), bytes({&many}));
}

TEST(DrawnBytes, grow_by_a_number_for_every_draw_and_point) {
  const Client client = client_with(1);
  EXPECT_EQ(model::drawn_bytes(client, 4, 30, 101) - model::drawn_bytes(client, 4, 30, 1), 30 * 100 * 8);
}

}  // namespace
