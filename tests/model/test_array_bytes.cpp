// What a batch is said to take before it is made, against what its arrays take: Kokkos' callbacks tell.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "gpu/adam.hpp"
#include "gpu/averages.hpp"
#include "gpu/kokkos.hpp"
#include "model/batch_memory.hpp"
#include "model/client_batch.hpp"
#include "model/clients.hpp"
#include "model/reserves.hpp"

namespace {

using namespace fedpp;

double held = 0;

/// Bytes of the arrays that live while what `make` returns does.
template <class F>
double bytes_of(const F& make) {
  namespace tools = Kokkos::Tools::Experimental;
  const auto before = tools::get_callbacks();
  tools::set_allocate_data_callback(
      [](auto, const char*, const void*, std::uint64_t bytes) { held += static_cast<double>(bytes); });
  tools::set_deallocate_data_callback(
      [](auto, const char*, const void*, std::uint64_t bytes) { held -= static_cast<double>(bytes); });
  test::drop_reserves();
  held = 0;
  const auto made = make();
  tools::set_callbacks(before);
  return held;
}

class ArrayBytes : public testing::TestWithParam<gpu::EncoderKind> {};

/// A client's realisations all make one set, or none does.
std::vector<model::Client> two_clients(gpu::EncoderKind kind, bool sets) {
  std::vector<model::Client> clients;
  for (const int id : {1, 2}) clients.push_back(test::history_client(id, kind));
  for (auto& client : clients)
    for (std::size_t i = 1; i < client.training.size() && !sets; ++i) client.inducing[i].times[0] += 0.01 * i;
  return clients;
}

/// 64 samples make a chunk of every realisation, one sample one of all.
void expect_bound_within_three_per_cent(const std::vector<model::Client>& clients, gpu::Precision precision) {
  const auto prior = model::initial_prior({}, clients[0].embedding, 5);
  std::vector<model::ClientPoints> points;
  for (const auto& client : clients) points.push_back({&client, &client.training});
  for (const bool with_gradient : {false, true})
    for (const int samples : {1, 64}) {
      SCOPED_TRACE(std::to_string(samples) + (with_gradient ? " samples, with the adjoint" : " samples"));
      struct Block {
        model::ClientBatch batch;
        gpu::AdamState adam;
      };
      const model::BatchOptions options{
          .samples = samples, .jitter = 1e-6, .with_gradient = with_gradient, .precision = precision};
      const double taken = bytes_of([&] {
        auto block = std::make_unique<Block>(Block{{points, {prior, prior}, options}, {}});
        if (with_gradient) block->adam = gpu::make_adam_state(block->batch.batch());
        return block;
      });
      const double bound = model::array_bytes(points, options);
      // A device's arrays begin at multiples of 256 bytes, which a bound that grows with the batch passes over.
      const double padding = gpu::kHostBackend ? 0 : 25e3;
      EXPECT_GE(bound + padding, taken);
      EXPECT_LE(bound, 1.03 * taken);
    }
}

TEST_P(ArrayBytes, bound_what_a_batch_takes_by_three_per_cent) {
  expect_bound_within_three_per_cent(two_clients(GetParam(), /*sets=*/false), gpu::Precision::kDouble);
}

TEST_P(ArrayBytes, bound_what_a_batch_of_sets_takes) {
  expect_bound_within_three_per_cent(two_clients(GetParam(), /*sets=*/true), gpu::Precision::kDouble);
}

TEST_P(ArrayBytes, bound_what_a_batch_in_mixed_precision_takes) {
  expect_bound_within_three_per_cent(two_clients(GetParam(), /*sets=*/false), gpu::Precision::kMixed);
}

TEST(AverageBytes, bound_what_averages_take_by_three_per_cent) {
  const auto client = test::history_client(1, gpu::EncoderKind::kDeepKernel);
  const model::ClientBatch block({{&client, &client.training}}, {model::initial_prior({}, client.embedding, 5)},
                                 {.samples = 8, .jitter = 1e-6});
  const double taken = bytes_of([&] { return gpu::average(gpu::Exec(), block.batch(), block.fields()); });
  double bound = 0;
  for (const auto& extent : model::extents_of({&client, &client.training}))
    bound += static_cast<double>(gpu::average_doubles(extent) * sizeof(double));
  const double padding = gpu::kHostBackend ? 0 : 2e3;
  EXPECT_GE(bound + padding, taken);
  EXPECT_LE(bound, 1.03 * taken);
}

INSTANTIATE_TEST_SUITE_P(Encoders, ArrayBytes,
                         testing::Values(gpu::EncoderKind::kRbf, gpu::EncoderKind::kDeepKernel, gpu::EncoderKind::kLstm,
                                         gpu::EncoderKind::kAttention, gpu::EncoderKind::kDecay),
                         [](const auto& info) {
                           std::string name = gpu::encoder_family(info.param).name();
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
