// A device that fails its self-test: all ranks end with the same words, which name the rank, the host, the device and
// the remedy, and none waits for another.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "federation/machine.hpp"
#include "mpi/communicator.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {
namespace {

gpu::Device sound(int rank) { return {fmt::format("device {}", rank), ""}; }

/// What this rank ends with; nothing where the examination goes through.
std::optional<mpi::AgreedError> error_of(mpi::Communicator& world, const std::function<gpu::Device()>& examine) {
  try {
    examine_ranks(world, examine);
  } catch (const mpi::AgreedError& error) {
    return error;
  }
  return std::nullopt;
}

/// The host and process of a rank, on all of them.
std::string whereabouts_of(mpi::Communicator& world, int rank) {
  std::string text = world.rank() == rank ? whereabouts() : "";
  world.broadcast(text, rank, "test");
  return text;
}

TEST(Machine, SoundDevicesAreToldOnRank0) {
  auto world = mpi::Communicator::world();
  const auto ranks = examine_ranks(world, [&] { return sound(world.rank()); });
  ASSERT_EQ(ranks.lines.size(), world.is_root() ? world.size() : 0);
  for (std::size_t r = 0; r < ranks.lines.size(); ++r) {
    EXPECT_TRUE(ranks.lines[r].starts_with(fmt::format("rank {}: host ", r))) << ranks.lines[r];
    EXPECT_TRUE(ranks.lines[r].ends_with(fmt::format("device {}, self-test passed", r))) << ranks.lines[r];
  }
}

TEST(Machine, RanksWithOneDeviceShareIt) {
  EXPECT_EQ(sharers({"GPU-a", "GPU-b", "GPU-a", "", "", "GPU-a"}), (std::vector<std::int64_t>{3, 1, 3, 1, 1, 3}));
  EXPECT_TRUE(sharers({}).empty());
  auto world = mpi::Communicator::world();
  share_devices(world);  // of ranks on a host: nothing to share
}

TEST(Machine, AFaultOnAnyRankEndsAllWithItsPlaceAndTheRemedy) {
  auto world = mpi::Communicator::world();
  for (int faulty = 0; faulty < world.size(); ++faulty) {
    const auto error = error_of(world, [&] {
      auto device = sound(world.rank());
      if (world.rank() == faulty) device.fault = "7 of 100 words came back wrong, the first at 3";
      return device;
    });
    ASSERT_TRUE(error) << "rank " << faulty << " has a fault";
    EXPECT_EQ(std::string(error->what()),
              fmt::format("rank {0}, {1}, device {0}: self-test failed: 7 of 100 words came back wrong, the first at "
                          "3; leave this node out and start again",
                          faulty, whereabouts_of(world, faulty)));
    EXPECT_EQ(error->rank, faulty);
    EXPECT_EQ(error->kind, mpi::ErrorKind::kFailure)
        << "a job script takes exit code 2 for what trying again does not mend";
  }
}

TEST(Machine, OfSeveralFaultsTheLowestRanksIsTold) {
  auto world = mpi::Communicator::world();
  const int lowest = world.size() / 2;
  const auto error = error_of(world, [&] {
    auto device = sound(world.rank());
    if (world.rank() >= lowest) device.fault = fmt::format("fault {}", world.rank());
    return device;
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->rank, lowest);
  EXPECT_NE(std::string(error->what()).find(fmt::format("self-test failed: fault {};", lowest)), std::string::npos);
}

TEST(Machine, AnExaminationThatThrowsIsAFaultWithItsPlace) {
  auto world = mpi::Communicator::world();
  const int faulty = world.size() - 1;
  const auto error = error_of(world, [&] {
    // Of the type that elsewhere is a user's mistake.
    if (world.rank() == faulty) throw std::invalid_argument("uncorrectable ECC error encountered");
    return sound(world.rank());
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(std::string(error->what()),
            fmt::format("rank {}, {}, its device: self-test failed: uncorrectable ECC error encountered; leave this "
                        "node out and start again",
                        faulty, whereabouts_of(world, faulty)));
  EXPECT_EQ(error->kind, mpi::ErrorKind::kFailure);
}

TEST(Machine, MemoryThatRunsOutInTheExaminationIsNoFaultOfTheNode) {
  auto world = mpi::Communicator::world();
  const auto error = error_of(world, []() -> gpu::Device { throw std::bad_alloc(); });
  ASSERT_TRUE(error);
  EXPECT_TRUE(std::string(error->what()).starts_with("memory ran out")) << error->what();
  EXPECT_EQ(std::string(error->what()).find("leave this node out"), std::string::npos) << error->what();
}

}  // namespace
}  // namespace fedpp::federation
