// E-steps on averages over the samples of the weights end where those on the samples do, with all that is read later.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "gpu/kernels.hpp"
#include "model/client_batch.hpp"
#include "model/clients.hpp"
#include "model/e_steps.hpp"

namespace {

using namespace fedpp;

std::vector<double> fields_after(bool averaged, gpu::EncoderKind kind) {
  std::vector<model::Client> clients;
  for (const int id : {1, 2}) clients.push_back(test::history_client(id, kind, config::PriorMean::kLinear));
  std::vector<model::ClientPoints> points;
  for (const auto& client : clients) points.push_back({&client, &client.training});
  const auto prior = model::initial_prior({}, clients[0].embedding, 5);
  const model::ClientBatch block(points, {prior, prior}, {.samples = 5, .jitter = 1e-6});
  const auto& b = block.batch();
  const auto& f = block.fields();
  const gpu::Exec exec;
  gpu::draw_weights(exec, b, f, {3, 0, 0, 0});
  gpu::embed(exec, b, f, block.encoder());
  gpu::factorise(exec, b, f);
  gpu::features(exec, b, f);
  Kokkos::deep_copy(f.offset_center, -0.3);
  (averaged ? model::averaged_e_steps : model::e_steps)(exec, b, f, 20, 0.25);
  gpu::elbo(exec, b, f);
  gpu::moments(exec, b, f);  // of every sample
  exec.fence();
  std::vector<double> all;
  for (const auto* field : {&f.v_mean, &f.v_factor, &f.rate, &f.offset, &f.elbo, &f.projection, &f.variance, &f.c,
                            &f.alpha, &f.beta, &f.lambda}) {
    std::vector<double> part;
    gpu::to_host(*field, part);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

TEST(AveragedSteps, end_where_steps_on_the_samples_do) {
  for (const auto kind : {gpu::EncoderKind::kDeepKernel, gpu::EncoderKind::kLstm}) {
    SCOPED_TRACE(gpu::encoder_family(kind).name());
    const auto wanted = fields_after(false, kind), got = fields_after(true, kind);
    ASSERT_EQ(got.size(), wanted.size());
    bool same = true;
    for (std::size_t j = 0; j < wanted.size(); ++j) {
      ASSERT_NEAR(got[j], wanted[j], 1e-9 * (1 + std::abs(wanted[j]))) << j;
      same = same && got[j] == wanted[j];
    }
    EXPECT_FALSE(same) << "the sums are others";
  }
}

}  // namespace
