// What works on hosts alone fails on the emulated device, or ends the program with a word; and Reserve where a device's
// memory runs out, which no other build can show.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <vector>

#include "gpu/arrays.hpp"
#include "gpu/runtime.hpp"
#include "gpu/team.hpp"

namespace {

using namespace fedpp::gpu;

bool sanitized() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#else
  return false;
#endif
}

std::vector<double> read(const Array<double>& array) {
  std::vector<double> host;
  to_host(array, host);
  return host;
}

template <class F>
void launch(const std::string& name, int league, Index scratch, const F& f) {
  Kokkos::parallel_for(name, team_policy(Exec(), league, scratch), f);
}

TEST(EmulatedDevice, runs_nothing_before_somebody_asks_for_its_end) {
  const Array<double> x("x", 1);
  launch("writes", 1, 0, [=](const Member& member) {
    if (member.team_rank() == 0) x(0) = 1;
  });
  {
    const emulated_device::HostAccess access;
    EXPECT_EQ(*x.data(), 0);
  }
  EXPECT_EQ(read(x)[0], 1);
}

/// Every thread reads what one of them writes, before and after a barrier.
void race_within_a_team(const Array<double>& seen, const Array<double>& written) {
  const int threads = team_size();
  launch("reads what another may have written", 1, 0, [=](const Member& member) {
    if (member.team_rank() == threads / 2) written(0) = 1;
    seen(member.team_rank()) = written(0);
    member.team_barrier();
    seen(threads + member.team_rank()) = written(0);
  });
}
void race_between_teams(const Array<double>& written) {
  launch("writes where other teams do", 100, 0, [=](const Member& member) {
    if (member.team_rank() == member.league_rank() % 32) written(0) = member.league_rank();
  });
}

#if !defined(__SANITIZE_THREAD__)
TEST(EmulatedDevice, draws_the_order_of_threads_and_teams) {
  const int threads = team_size();
  const Array<double> seen("seen", 2 * threads), written("written", 1);
  race_within_a_team(seen, written);
  const auto result = read(seen);
  int before = 0, after = 0;
  for (int t = 0; t < threads; ++t) {
    before += result[t] == 1;
    after += result[threads + t] == 1;
  }
  EXPECT_GT(before, 0);
  EXPECT_LT(before, threads);
  EXPECT_EQ(after, threads);
  race_between_teams(written);
  EXPECT_NE(read(written)[0], 99);
}
#else
/// What the thread sanitizer says of a kernel's launch, in a process of its own.
#define EXPECT_RACE(...) EXPECT_EXIT((__VA_ARGS__, end()), testing::ExitedWithCode(66), "data race")
#define EXPECT_NO_RACE(...) EXPECT_EXIT((__VA_ARGS__, end()), testing::ExitedWithCode(0), "")
void end() {
  Kokkos::fence();
  std::exit(0);  // the sanitizer makes it 66
}

TEST(EmulatedDeviceDeathTest, races_are_reported) {
  const Array<double> seen("seen", 2 * team_size()), x("x", 200);
  EXPECT_RACE(race_within_a_team(seen, x));
  EXPECT_RACE(race_between_teams(x));
  EXPECT_RACE(launch("without a barrier", 1, 0, [=](const Member&) { x(0) = 1; }));
  EXPECT_RACE(Kokkos::parallel_for("range", Kokkos::RangePolicy<Exec>(0, 100), [=](const Index) { x(0) = 1; }));
  EXPECT_RACE(launch("scratch", 1, 1, [=](const Member& member) { *Scratch(member, 1).take(1) = member.team_rank(); }));
  for (const int league : {2, 32, 101})
    EXPECT_RACE(launch("neighbours", league, 0, [=](const Member& member) {
      const int i = member.league_rank();
      if (member.team_rank() == 0) x(i) = i > 0 ? x(i - 1) : 0;
    }));
  EXPECT_NO_RACE(launch("apart", 32, 1, [=](const Member& member) {
    double* own = Scratch(member, 1).take(1);
    if (member.team_rank() == 5) *own = member.league_rank();
    member.team_barrier();
    if (member.team_rank() == 7) x(member.league_rank()) = *own;
  }));
}

TEST(EmulatedDeviceDeathTest, shuffles_order_nothing_and_barriers_of_a_warp_do) {
  const Array<double> x("x", 200);
  const auto with = [=](bool barrier) {
    launch("eight threads", 1, 0, [=](const Member& member) {
      const int rank = member.team_rank(), first = rank / 8 * 8;
      const unsigned mask = 0xffu << first % 32;
      double sum = x(first);
      sum += shuffle_xor(mask, sum, 1);
      if (barrier) warp_barrier(mask);
      if (rank == first) x(first) = sum;
    });
  };
  EXPECT_RACE(with(false));
  EXPECT_NO_RACE(with(true));
}
#endif

#if defined(__SANITIZE_ADDRESS__)
TEST(EmulatedDeviceDeathTest, arrays_and_scratch_end) {
  Array<double> a, b;
  ArraySet<double> set;
  set.zeros("a", a, 10);
  set.zeros("b", b, 10);
  set.make("set");
  for (const Array<double>& x : {a, b})
    EXPECT_DEATH(
        {
          launch("beyond", 1, 0, [=](const Member&) { x.data()[10] = 1; });
          Kokkos::fence();
        },
        "AddressSanitizer");
  EXPECT_DEATH(
      {
        launch("beyond", 1, 10, [=](const Member& member) { Scratch(member, 10).take(10)[18] = 1; });
        Kokkos::fence();
      },
      "AddressSanitizer");
}
#endif

TEST(EmulatedDevice, has_arrays_and_scratch_of_no_number) {
  const Array<double> x(Kokkos::view_alloc(Kokkos::WithoutInitializing, "x"), 3), seen("seen", 20);
  EXPECT_TRUE(std::isnan(read(x)[2]));
  for (int twice = 0; twice < 2; ++twice)  // what the first left is gone
    launch("scratch", 20, 100, [=](const Member& member) {
      Scratch scratch(member, 100);
      double* own = scratch.take(100);
      if (member.team_rank() == 0) seen(member.league_rank()) = std::isnan(own[99]);
      member.team_barrier();
      for (int i = member.team_rank(); i < 100; i += member.team_size()) own[i] = 1;
    });
  for (const double no_number : read(seen)) EXPECT_EQ(no_number, 1);
}

TEST(EmulatedDevice, keeps_scratch_that_is_too_much_for_shared_memory_elsewhere) {
  const Array<double> shared("shared", 2);
  for (const Index doubles : {Index{1000}, Index{20000}})
    launch("places", 1, doubles, [=](const Member& member) {
      const bool there = member.team_scratch(0).get_shmem(8 * doubles) != nullptr;
      if (member.team_rank() == 0) shared(doubles > 1000) = there;
    });
  EXPECT_EQ(read(shared), (std::vector<double>{1, 0}));
}

TEST(EmulatedDevice, sums_and_shuffles) {
  const int threads = team_size();
  const Array<double> sums("sums", 1), other("other", threads);
  launch("sums", 1, 0, [=](const Member& member) {
    const double sum = team_sum(member, 1000, [](Index i) { return static_cast<double>(i); });
    if (member.team_rank() == 17) sums(0) = sum;
    other(member.team_rank()) = shuffle_xor(0xffu << (member.team_rank() / 8 * 8 % 32), member.team_rank(), 4);
  });
  EXPECT_EQ(read(sums)[0], 499500);
  const auto result = read(other);
  for (int t = 0; t < threads; ++t) EXPECT_EQ(result[t], t ^ 4);
}

TEST(EmulatedDeviceDeathTest, host_code_must_not_touch_device_memory) {
  const Array<double> x("x", 1);
  EXPECT_DEATH(*x.data() = 1, sanitized() ? "" : "host code touched device memory");
  EXPECT_DEATH(x(0) = 1, "host code reads an array of the device");
}

TEST(EmulatedDeviceDeathTest, kernels_must_not_touch_host_memory) {
  if (sanitized()) GTEST_SKIP() << "a sanitizer's memory is not closed";
  const std::vector<double> host(1000, 1.0);
  const double local = 2;
  const Array<double> x("x", 1);
  for (const double* from : {host.data(), &local})
    EXPECT_DEATH(
        {
          launch("reads a host's", 1, 0, [=](const Member&) { x(0) = *from; });
          Kokkos::fence();
        },
        "the kernel reads a host's touched host memory");
  const Kokkos::View<double*, Kokkos::HostSpace> array("array", 1);
  EXPECT_DEATH(
      {
        launch("reads a view", 1, 0, [=](const Member&) { x(0) = array(0); });
        Kokkos::fence();
      },
      "the kernel reads a view reads a host's array");
}

TEST(EmulatedDeviceDeathTest, all_threads_must_come_to_a_barrier) {
  EXPECT_DEATH(
      {
        launch("half a barrier", 1, 0, [=](const Member& member) {
          if (member.team_rank() < 5) member.team_barrier();
        });
        Kokkos::fence();
      },
      "thread 5 of team 0 has returned.*\n.*half a barrier waits for ever");
}

TEST(EmulatedDeviceDeathTest, all_threads_of_the_mask_must_come_to_a_shuffle) {
  EXPECT_DEATH(
      {
        launch("half a shuffle", 1, 0, [=](const Member& member) {
          if (member.team_rank() % 2 == 0) shuffle_xor(0xffffffffu, 1, 2);
        });
        Kokkos::fence();
      },
      "half a shuffle waits for ever");
  EXPECT_DEATH(
      {
        launch("beside the mask", 1, 0, [=](const Member& member) {
          if (member.team_rank() < 4) shuffle_xor(0xf, 1, 4);
        });
        Kokkos::fence();
      },
      "beside the mask shuffles with a thread that its mask leaves out");
}

TEST(EmulatedDeviceDeathTest, an_array_ends) {
  const Array<double> x("x", 10);
  EXPECT_DEATH(
      {
        launch("beyond", 1, 0, [=](const Member&) { x(10) = 1; });
        Kokkos::fence();
      },
      "beyond reads or writes beyond an array");
}

TEST(EmulatedDeviceDeathTest, kernels_copy_no_handles_of_arrays) {
  const Array<double> x("x", 10);
  EXPECT_DEATH(
      {
        launch("copies", 1, 0, [=](const Member& member) { team_for(member, 10, [=](Index i) { x(i) = 1; }); });
        Kokkos::fence();
      },
      "copies an array's handle");
}

TEST(Reserve, gives_back_what_nobody_holds_where_memory_is_short) {
  const auto entries = [](double mb) { return static_cast<Index>(mb * 1e6 / sizeof(double)); };
  Reserve<double>::drop();
  emulated_device::limit_memory(100'000'000);
  {
    const auto held = Reserve<double>::take("held", entries(30));
    Reserve<double>::take("left", entries(50));
    const auto fits =
        Reserve<double>::take("fits", entries(15));  // not in what was left: it is more than twice as long
    EXPECT_EQ(fits.extent(0), static_cast<std::size_t>(entries(15)));
    const auto needs = Reserve<double>::take("needs", entries(24));
    EXPECT_EQ(needs.extent(0), static_cast<std::size_t>(entries(24)));
    EXPECT_THROW(Reserve<double>::take("too much", entries(40)), std::exception);
    EXPECT_EQ(held.use_count(), 2);  // and the reserve's own: what is held stays
  }
  EXPECT_EQ(Reserve<double>::take("again", entries(90)).extent(0), static_cast<std::size_t>(entries(90)));
  Reserve<double>::drop();
  emulated_device::limit_memory(emulated_device::kMemory);
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const Runtime runtime(0, "auto");
  return RUN_ALL_TESTS();
}
