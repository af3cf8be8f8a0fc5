// The steps of a local epoch on one client, each alone and all together.
#include <functional>
#include <string>

#include "clients.hpp"
#include "gpu/averages.hpp"
#include "gpu/encoder_operator.hpp"
#include "gpu/expectation.hpp"
#include "measure.hpp"
#include "model/client_batch.hpp"
#include "model/e_steps.hpp"
#include "model/local_epoch.hpp"

namespace {

using namespace fedpp;

/// A client's batch as local_epoch finds it after the first E-step.
class Prepared {
 public:
  Prepared(const bench::Shape& shape, config::Encoder encoder, gpu::Precision precision = gpu::Precision::kDouble)
      : client_(bench::make_client(shape, encoder)),
        points_{&client_, &client_.training},
        batch_({points_}, {model::initial_prior({}, client_.embedding, 1)},
               {.samples = shape.samples, .jitter = 1e-6, .with_gradient = true, .precision = precision}),
        adam_(gpu::make_adam_state(batch_.batch())) {
    Kokkos::deep_copy(adam_.prior_sd, 1.0);
    Kokkos::deep_copy(adam_.learning_rate, 1e-3);
    Kokkos::deep_copy(adam_.raw, 0.5);
    epoch(gpu::Exec());
  }
  void epoch(const gpu::Exec& exec) { model::local_epoch(exec, {batch_, adam_, {}, {}}, {1, 0, epoch_++, 0}); }
  const model::ClientBatch& block() const { return batch_; }
  const gpu::Batch& batch() const { return batch_.batch(); }
  const gpu::Fields& fields() const { return batch_.fields(); }
  gpu::EncoderOperator& encoder() const { return batch_.encoder(); }

  using CostOf = gpu::Cost(const gpu::ClientExtent&, const gpu::RealisationExtent&);
  gpu::Cost cost(CostOf* of) const {
    const auto extents = model::extents_of(points_);
    gpu::Cost sum;
    for (const auto& r : extents) sum += of({batch_.samples(), client_.embedding.encoder, batch_.batch().precision}, r);
    return sum;
  }

 private:
  model::Client client_;
  model::ClientPoints points_;
  model::ClientBatch batch_;
  gpu::AdamState adam_;
  std::uint32_t epoch_ = 0;
};

struct Step {
  const char* name;
  Prepared::CostOf* cost;
  std::function<void(const gpu::Exec&, Prepared&)> run;
};

/// 1.3 three times; five sums over the columns each.
gpu::Cost augment_cost(const gpu::ClientExtent& c, const gpu::RealisationExtent& r) {
  return {0, 8.0 * r.columns * (2 * c.samples + 7)};
}
gpu::Cost e_step_alone_cost(const gpu::ClientExtent& c, const gpu::RealisationExtent& r) {
  return gpu::moments_cost(c, r) + gpu::variational_cost(c, r);
}

const std::vector<Step>& steps() {
  static const std::vector<Step> all{
      {"embed", gpu::embed_cost, [](auto& e, auto& p) { gpu::embed(e, p.batch(), p.fields(), p.encoder()); }},
      {"factorise", gpu::factorise_cost, [](auto& e, auto& p) { gpu::factorise(e, p.batch(), p.fields()); }},
      {"features", gpu::features_cost, [](auto& e, auto& p) { gpu::features(e, p.batch(), p.fields()); }},
      {"moments", gpu::moments_cost, [](auto& e, auto& p) { gpu::moments(e, p.batch(), p.fields()); }},
      {"augment", augment_cost, [](auto& e, auto& p) { gpu::augment(e, p.batch(), p.fields()); }},
      {"variational", gpu::variational_cost,
       [](auto& e, auto& p) { gpu::update_variational(e, p.batch(), p.fields()); }},
      {"e_step", e_step_alone_cost, [](auto& e, auto& p) { model::e_steps(e, p.batch(), p.fields(), 1); }},
      {"adjoint", [](const auto& c, const auto& r) { return gpu::adjoint_cost(c, r) + gpu::embed_adjoint_cost(c, r); },
       [](auto& e, auto& p) { gpu::adjoint(e, p.batch(), p.block().chunks(), p.fields(), p.encoder()); }},
      {"local_epoch", gpu::local_epoch_cost, [](auto& e, auto& p) { p.epoch(e); }},
  };
  return all;
}

struct NamedShape {
  const char* name;
  bench::Shape shape;
};
constexpr NamedShape kShapes[] = {
    {"pooled_M50", {1, 15'000, 200, 50, 1}},                          // workload (a), a large client
    {"pooled_M50_small", {1, 3'500, 200, 50, 1}},                     // workload (a), a usual one
    {"pooled_M100", {1, 15'000, 400, 100, 1}},                        //
    {"pooled_M50_S8", {1, 3'500, 200, 50, 8}},                        // as a score has them
    {"small_M32_S8", {1, 150, 64, 32, 8}},                            // of a client of workload (d)
    {"per_sequence_M32_S8", {100, 60, 64, 32, 8}},                    // lists over one window
    {"per_sequence_M32_S8_own_windows", {100, 60, 64, 32, 8, true}},  // a client of workload (b)
};

/// One of many E-steps on averages over the samples of the weights, which scores take; `form`: what comes before them.
void averaged_e_step(benchmark::State& state, const NamedShape& shape, bool form) {
  Prepared prepared(shape.shape, config::Encoder::kDeepKernel);
  const auto& b = prepared.batch();
  const auto& f = prepared.fields();
  const gpu::Averages averages = gpu::average(gpu::Exec(), b, f);
  gpu::moments(gpu::Exec(), averages, f);
  bench::measure(state, prepared.cost(form ? gpu::average_cost : gpu::averaged_step_cost), [&](const gpu::Exec& exec) {
    if (form) {
      gpu::form_averages(exec, b, f, averages);
      return;
    }
    gpu::augment(exec, averages.batch, f);  // as model::e_steps() of one step
    gpu::update_variational(exec, averages, f);
    gpu::moments(exec, averages, f);
    gpu::augment(exec, averages.batch, f);
    gpu::update_rate(exec, b, f);
    gpu::augment(exec, averages.batch, f);
    gpu::update_offset(exec, b, f);
    gpu::augment(exec, averages.batch, f, true);
  });
}

void step(benchmark::State& state, const NamedShape& shape, const Step& step, gpu::Precision precision) {
  Prepared prepared(shape.shape, config::Encoder::kDeepKernel, precision);
  bench::measure(state, prepared.cost(step.cost), [&](const gpu::Exec& exec) { step.run(exec, prepared); }, precision);
}

/// 100 streams of 60 tokens and 120 nodes: embed and its adjoint, of every encoder that is registered.
void encoder(benchmark::State& state, config::Encoder name, bool adjoint) {
  Prepared prepared({100, 60, 120, 20, 1}, name);
  const auto run = [&](const gpu::Exec& exec) {
    if (adjoint) {
      prepared.encoder().adjoint(exec, prepared.batch(), prepared.fields());
      prepared.encoder().collect(exec, prepared.batch(), prepared.fields());
    } else {
      prepared.encoder().embed(exec, prepared.batch(), prepared.fields(), false);
    }
  };
  // The adjoint may overwrite what it is given and what embed() left: used again and again, that would be other numbers.
  bench::measure(state, prepared.cost(adjoint ? gpu::embed_adjoint_cost : gpu::embed_cost), run,
                 [&](const gpu::Exec& exec) {
                   Kokkos::deep_copy(exec, prepared.fields().embedding_adjoint, 1e-3);
                   Kokkos::deep_copy(exec, prepared.fields().inducing_embedding_adjoint, 1e-3);
                   if (adjoint) prepared.encoder().embed(exec, prepared.batch(), prepared.fields(), false);
                 });
}

/// E[log lambda], E[lambda] of 100,000 points.
void expectation(benchmark::State& state) {
  const gpu::Array<double> mean("mean", 100'000), variance("variance", 100'000), rate("rate", 100'000);
  const gpu::Array<double> a("a", 100'000), b("b", 100'000);
  Kokkos::deep_copy(variance, 0.5);
  Kokkos::deep_copy(rate, 1.0);
  bench::measure(state, {0, 8.0 * 5 * 100'000},
                 [&](const gpu::Exec& exec) { gpu::expected_intensity(exec, mean, variance, rate, a, b); });
}

const bool registered = [] {
  for (const auto& shape : kShapes)
    for (const auto& s : steps())
      for (const auto precision : {gpu::Precision::kDouble, gpu::Precision::kMixed})
        benchmark::RegisterBenchmark(
            (std::string("step/") + s.name + "/" + shape.name + (precision == gpu::Precision::kMixed ? "/mixed" : ""))
                .c_str(),
            [&shape, &s, precision](auto& state) { step(state, shape, s, precision); })
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond);
  for (const auto& shape : kShapes)
    for (const bool form : {false, true})
      if (shape.shape.samples > 1)
        benchmark::RegisterBenchmark(
            (std::string("step/") + (form ? "average" : "averaged_e_step") + "/" + shape.name).c_str(),
            [&shape, form](auto& state) { averaged_e_step(state, shape, form); })
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond);
  for (const auto* family : gpu::encoder_families())
    for (const bool adjoint : {false, true})
      benchmark::RegisterBenchmark(
          (std::string("encoder/") + family->name() + (adjoint ? "/adjoint" : "/embed")).c_str(),
          [family, adjoint](benchmark::State& state) {
            encoder(state, *config::from_word<config::Encoder>(family->name()), adjoint);
          })
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("step/expectation", expectation)->UseManualTime()->Unit(benchmark::kMillisecond);
  return true;
}();

}  // namespace
