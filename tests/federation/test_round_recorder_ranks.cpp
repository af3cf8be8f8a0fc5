// What the ranks say about their clients, as rank 0 tells it.
#include <gtest/gtest.h>

#include "federation/round_recorder.hpp"
#include "mpi/communicator.hpp"

namespace {
using fedpp::federation::ClientLine;
using fedpp::federation::lines_by_client;

TEST(LinesByClient, are_told_whole_and_in_the_clients_order_on_any_ranks) {
  auto comm = fedpp::mpi::Communicator::world();
  const std::vector<ClientLine> all{{3, "client 3"}, {20, "client 20: two\nlines"}, {100, "client 100: \xff"}};
  std::vector<ClientLine> mine;
  for (int c = 2; c >= 0; --c)
    if (c % comm.size() == comm.rank()) mine.push_back(all[c]);
  const auto lines = lines_by_client(comm, mine);
  if (!comm.is_root()) {
    EXPECT_TRUE(lines.empty());
    return;
  }
  ASSERT_EQ(lines.size(), 3);
  EXPECT_EQ(lines[0], "client 3");
  EXPECT_EQ(lines[1], "client 20: two\nlines");
  EXPECT_EQ(lines[2], "client 100: \xef\xbf\xbd");  // no UTF-8, which no JSON file could hold
}

TEST(LinesByClient, may_be_none) {
  auto comm = fedpp::mpi::Communicator::world();
  EXPECT_TRUE(lines_by_client(comm, {}).empty());
}

}  // namespace
