// The profile without a tool: nesting, calls, and a tool that was there before.
#include <gtest/gtest.h>

#include <algorithm>

#include "gpu/kokkos.hpp"
#include "gpu/profile.hpp"
#include "gpu/region.hpp"
#include "model/clients.hpp"

namespace {

using namespace fedpp;

const gpu::ProfileEntry* find(const std::vector<gpu::ProfileEntry>& entries, const std::vector<std::string>& path) {
  const auto at = std::find_if(entries.begin(), entries.end(), [&](const auto& e) { return e.path == path; });
  return at == entries.end() ? nullptr : &*at;
}

TEST(Profile, tells_regions_and_kernels_by_nesting) {
  model::Client c = test::small_client(2);
  model::LocalOptions options;
  options.training.epochs = 3;
  std::vector<gpu::ProfileEntry> entries;
  {
    const gpu::Region before("opened before");
    const gpu::Profile profile;
    for (int round = 0; round < 2; ++round) {
      const gpu::Region region("round");
      (void)model::local_update({&c}, test::small_prior(), options, 3, round);
    }
    entries = profile.entries();
  }
  if (entries.empty()) GTEST_SKIP() << "this Kokkos was built without its tools interface";
  const std::vector<std::string> epoch{"round", "fedpp::local_update", "fedpp::local_epoch"};
  auto kernel = epoch;
  kernel.insert(kernel.end(), {"fedpp::update_latent", "fedpp::features::moments"});
  const auto* round = find(entries, {"round"});
  const auto* inner = find(entries, epoch);
  const auto* moments = find(entries, kernel);
  ASSERT_TRUE(round != nullptr && inner != nullptr && moments != nullptr);
  EXPECT_EQ(round->calls, 2);
  EXPECT_EQ(inner->calls, 6);
  EXPECT_EQ(moments->calls, 6);  // after q(v)
  EXPECT_GT(moments->seconds, 0);
  EXPECT_LE(moments->seconds, inner->seconds);
  EXPECT_LE(inner->seconds, round->seconds);
  for (const char* step :
       {"fedpp::draw_weights", "fedpp::augment", "fedpp::embed", "fedpp::project", "fedpp::update_latent",
        "fedpp::update_intensity", "fedpp::bound", "fedpp::adjoint", "fedpp::step"}) {
    auto path = epoch;
    path.push_back(step);
    const auto* entry = find(entries, path);
    ASSERT_NE(entry, nullptr) << step;
    EXPECT_EQ(entry->calls, 6) << step;
  }
  EXPECT_EQ(find(entries, {"opened before"}), nullptr);
  EXPECT_NE(find(entries, {"round", "fedpp::local_update", "copies"}), nullptr);
}

int kernels_of_the_tool = 0;

void launch() {
  Kokkos::parallel_for("fedpp::test::nothing", Kokkos::RangePolicy<gpu::Exec>(0, 1), FEDPP_KERNEL(const int){});
}

TEST(Profile, leaves_a_loaded_tool_what_it_gets) {
  namespace tools = Kokkos::Tools::Experimental;
  const auto nothing = tools::get_callbacks();
  tools::set_begin_parallel_for_callback([](const char*, const std::uint32_t, std::uint64_t* id) {
    ++kernels_of_the_tool;
    *id = 77;
  });
  tools::set_end_parallel_for_callback([](const std::uint64_t id) { EXPECT_EQ(id, 77u); });
  launch();
  const int before = kernels_of_the_tool;
  {
    const gpu::Profile profile;
    launch();
    EXPECT_EQ(profile.entries().size(), 1u);
  }
  launch();
  EXPECT_EQ(kernels_of_the_tool, before + 2);
  tools::set_callbacks(nothing);
}

}  // namespace
