// The table of phases over ranks whose times are known.
#include <gtest/gtest.h>

#include <sstream>

#include "federation/phase_table.hpp"

namespace {

using fedpp::gpu::ProfileEntry;

/// The cells of the line that begins with `name` after its indent; empty where there is none.
std::vector<std::string> cells(const std::string& table, const std::string& name) {
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    const auto start = line.find_first_not_of(' ');
    if (line.substr(start == std::string::npos ? 0 : start, name.size() + 1) != name + " ") continue;
    std::istringstream words(line.substr(start + name.size()));
    std::vector<std::string> found{std::to_string(start)};
    for (std::string word; words >> word;) found.push_back(word);
    return found;
  }
  return {};
}

TEST(PhaseTable, least_mean_most_and_imbalance_over_the_ranks) {
  auto world = fedpp::mpi::Communicator::world();
  const int ranks = world.size(), rank = world.rank();
  // Rank r spends 1 + r seconds; only the last one knows 'alone'.
  std::vector<ProfileEntry> mine{{{"update"}, 1.0 + rank, 3}, {{"update", "fedpp::a::b"}, 0.5, 7 + rank}};
  if (rank == ranks - 1) mine.push_back({{"alone"}, 2.0, 1});
  mine.push_back({{"end"}, 1.0, 1});
  mine.push_back({{"end", "too short to tell"}, 1e-6, 1});
  mine.push_back({{"short phase"}, 1e-6, 1});
  const auto table = fedpp::federation::phase_table(world, mine);
  if (!world.is_root()) {
    EXPECT_EQ(table, "");
    return;
  }
  const auto three = [](double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3f", x);
    return std::string(text);
  };
  const auto two = [](double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", x);
    return std::string(text);
  };
  const double mean = 0.5 * (1 + ranks);
  EXPECT_EQ(cells(table, "update"),
            (std::vector<std::string>{"0", "1.000", three(mean), three(ranks), two(ranks / mean), "3"}));
  EXPECT_EQ(cells(table, "a::b"),
            (std::vector<std::string>{"2", "0.500", "0.500", "0.500", "1.00", std::to_string(6 + ranks)}));
  EXPECT_EQ(cells(table, "alone"), (std::vector<std::string>{"0", ranks == 1 ? "2.000" : "0.000", three(2.0 / ranks),
                                                             "2.000", two(ranks), "1"}));
  EXPECT_TRUE(cells(table, "too short to tell").empty());
  EXPECT_FALSE(cells(table, "short phase").empty());
  EXPECT_LT(table.find("update"), table.find("alone"));
  EXPECT_LT(table.find("alone"), table.find("end"));
}

}  // namespace
