// A local epoch takes no memory from the allocator, copies nothing between host and device, and waits for nothing: counted
// in malloc itself, and by Kokkos' callbacks for its own arrays, copies and fences.
#include <gtest/gtest.h>

#include "counted_malloc.hpp"
#include "gpu/kokkos.hpp"
#include "model/alignment.hpp"
#include "model/client_batch.hpp"
#include "model/clients.hpp"
#include "model/device_mixture.hpp"
#include "model/kept_block.hpp"
#include "model/local_epoch.hpp"
#include "model/local_update.hpp"
#include "model/model_mixture.hpp"
#include "model/reserves.hpp"

namespace {

using namespace fedpp;

/// A GPU's driver allocates beside, which is not ours to decide.
constexpr bool kCountsMalloc = test::kCountsMalloc && gpu::kHostBackend;

long arrays = 0, copies = 0, fences = 0;

/// What `f` allocates, in malloc and as arrays of Kokkos, what it copies, and how often it waits for the device.
struct Counted {
  long allocations = 0, arrays = 0, copies = 0, fences = 0;
};
template <class F>
Counted count(const F& f) {
  namespace tools = Kokkos::Tools::Experimental;
  const auto before = tools::get_callbacks();
  tools::set_allocate_data_callback([](auto, const char*, const void*, std::uint64_t size) {
    ::arrays += size > 0;  // Kokkos' scratch may be empty
  });
  tools::set_begin_deep_copy_callback(
      [](auto, const char*, const void*, auto, const char*, const void*, std::uint64_t) { ++::copies; });
  tools::set_begin_fence_callback([](const char*, const std::uint32_t, std::uint64_t*) { ++::fences; });
  ::arrays = ::copies = ::fences = 0;
  const long mallocs = test::counted_mallocs(f);
  tools::set_callbacks(before);
  return {mallocs, ::arrays, ::copies, ::fences};
}

/// A fence that one asks for is one that is counted; none where this Kokkos tells no tool of its backend's fences.
long counted_fence() {
  return count([] { gpu::Exec().fence(); }).fences;
}

long launches = 0;

/// Mallocs that `f` may call: none; since Kokkos 4 one at every launch and fence, which copy their names.
template <class F>
long most_allocations(const F& f) {
#if KOKKOS_VERSION >= 40000
  namespace tools = Kokkos::Tools::Experimental;
  const auto before = tools::get_callbacks();
  const auto count_it = [](const char*, const std::uint32_t, std::uint64_t*) { ++::launches; };
  tools::set_begin_parallel_for_callback(count_it);
  tools::set_begin_parallel_reduce_callback(count_it);
  tools::set_begin_parallel_scan_callback(count_it);
  ::launches = 0;
  f();
  tools::set_callbacks(before);
  ++::launches;  // the fence
#else
  (void)f;
#endif
  return ::launches;
}

class NoAllocation : public testing::TestWithParam<gpu::EncoderKind> {};

TEST_P(NoAllocation, in_a_local_epoch) {
  std::mt19937_64 engine(3);
  std::vector<model::Client> clients;
  for (const int id : {1, 2, 3}) clients.push_back(test::history_client(id, GetParam()));
  const auto prior = model::initial_prior({}, clients[0].embedding, 5);
  std::vector<model::ClientPoints> points;
  for (const auto& c : clients) points.push_back({&c, &c.training});
  for (auto& c : clients)
    for (auto& r : c.training)
      for (std::size_t j = 0; j < r.events.size(); ++j)
        r.marks.push_back({static_cast<int>(j), static_cast<int>(j % 2), 1.0});
  for (const auto precision : {gpu::Precision::kDouble, gpu::Precision::kMixed}) {
    const model::ClientBatch batch(points, {prior, prior, prior},
                                   {.samples = 2, .jitter = 1e-6, .with_gradient = true, .precision = precision});
    const auto adam = gpu::make_adam_state(batch.batch());
    Kokkos::deep_copy(adam.prior_sd, 1.0);
    const gpu::Exec exec;
    std::uint32_t number = 0;
    const auto alignment = model::make_alignment(batch, points, prior, {1, 1, 1});
    const model::EpochParts parts{batch, adam, {}, {.steps = 3, .realisations = 1}, &alignment};
    const auto epoch = [&] {
      model::local_epoch(exec, parts, {1, 0, number++, 0});
      exec.fence();
    };
    epoch();  // names of kernels, scratch of teams: made at first use
    const auto counted = count(epoch);
    if (kCountsMalloc) {
      EXPECT_LE(counted.allocations, most_allocations(epoch));
    }
    EXPECT_EQ(counted.arrays, 0);
    EXPECT_EQ(counted.copies, 0);
    EXPECT_EQ(counted.fences, counted_fence());  // the one after the epoch
  }
}

TEST(NoAllocation, in_a_local_epoch_through_a_mixture) {
  auto client = test::small_client(1);
  const auto prior = test::small_prior();
  client.state.core = prior;
  client.state.mixing = {0.5, 0.5};
  const std::vector<model::WeightPosterior> models{prior, prior};
  const std::vector<double> anchor{0.5, 0.5};
  const model::ClientBatch batch({{&client, &client.training}}, {prior},
                                 {.samples = 2, .jitter = 1e-6, .with_gradient = true});
  const auto adam = gpu::make_adam_state(batch.batch());
  Kokkos::deep_copy(adam.prior_sd, 1.0);
  const gpu::Exec exec;
  const model::DeviceMixture mixture(exec, batch, {&client}, {models, anchor, 1e-3, 1});
  const model::EpochParts parts{batch, adam, {}, {}, nullptr, &mixture.device()};
  std::uint32_t number = 0;
  const auto epoch = [&] {
    model::local_epoch(exec, parts, {1, 0, number++, 0});
    exec.fence();
  };
  epoch();
  const auto counted = count(epoch);
  if (kCountsMalloc) {
    EXPECT_LE(counted.allocations, most_allocations(epoch));
  }
  EXPECT_EQ(counted.arrays + counted.copies, 0);
  EXPECT_EQ(counted.fences, counted_fence());
}

TEST_P(NoAllocation, of_arrays_in_a_round_of_the_same_clients) {
  std::vector<model::Client> clients;
  for (const int id : {1, 2, 3}) clients.push_back(test::history_client(id, GetParam()));
  const auto prior = model::initial_prior({}, clients[0].embedding, 5);
  model::LocalOptions options;
  options.workspace_mb = 128;
  model::KeptBlock kept;
  int number = 0;
  test::drop_reserves();
  const auto round = [&](const std::vector<model::Client*>& participants) {
    return count([&] { (void)model::local_update(participants, prior, options, 1, number++, {&kept}); });
  };
  if (round({&clients[0], &clients[1]}).arrays == 0)
    GTEST_SKIP() << "this Kokkos was built without its tools interface";
  EXPECT_EQ(round({&clients[0], &clients[1]}).arrays, 0);
  test::drop_reserves();
  EXPECT_GT(round({&clients[1], &clients[2]}).arrays, 0);
  EXPECT_EQ(round({&clients[1], &clients[2]}).arrays, 0);
}

/// The counters see what they should.
TEST(NoAllocation, would_be_noticed) {
  const gpu::Array<double> a("a", 100);
  std::vector<double> host;
  const auto counted = count([&] {
    gpu::to_host(a, host);
    const gpu::Array<double> another("another", 100);
  });
  if (kCountsMalloc) {
    EXPECT_GE(counted.allocations, 2);
  }
  EXPECT_GE(counted.arrays, 1);
  EXPECT_GE(counted.copies, 1);
#if defined(FEDPP_DEVICE_BACKEND) || KOKKOS_VERSION >= 40000
  EXPECT_EQ(counted_fence(), 1);
#endif
}

INSTANTIATE_TEST_SUITE_P(encoders, NoAllocation, testing::ValuesIn([] {
                           std::vector<gpu::EncoderKind> kinds;
                           for (const auto* family : gpu::encoder_families())
                             kinds.push_back(*gpu::encoder_kind(family->name()));
                           return kinds;
                         }()),
                         [](const auto& info) {
                           std::string name = gpu::encoder_family(info.param).name();
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
