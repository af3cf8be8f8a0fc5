#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>
#include <random>
#include <string>

#include "mpi/communicator.hpp"
#include "mpi/exact_reduce.hpp"
#include "mpi/turns.hpp"

namespace {
using fedpp::mpi::AgreedError;
using fedpp::mpi::Communicator;
using fedpp::mpi::ExactSums;
using fedpp::mpi::FixedPoint;
using fedpp::mpi::Op;

TEST(Communicator, broadcast_gather_and_reductions_do_what_plain_loops_do) {
  auto comm = Communicator::world();
  const int last = comm.size() - 1;
  std::vector<double> x(1000);
  if (comm.rank() == last) {
    for (int i = 0; i < 1000; ++i) x[i] = std::sqrt(i);
  }
  comm.broadcast(x, last, "x");
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(x[i], std::sqrt(i));

  std::string text = comm.rank() == 0 ? "theta" : "something longer that is replaced";
  comm.broadcast(text, 0, "text");
  EXPECT_EQ(text, "theta");

  const std::uint64_t big = ~std::uint64_t{0} - 10;
  EXPECT_EQ(comm.allreduce(comm.rank() == 0 ? big : std::uint64_t{20}, Op::sum, "sum"),
            big + 20 * std::uint64_t(comm.size() - 1));
  EXPECT_EQ(comm.allreduce(-comm.rank(), Op::min, "min"), -last);
  EXPECT_EQ(comm.allreduce(std::int64_t{comm.rank()}, Op::max, "max"), last);
  EXPECT_EQ(comm.max(0.5 * comm.rank(), "max"), 0.5 * last);
  EXPECT_EQ(comm.min(0.5 * comm.rank(), "min"), 0.0);
  comm.barrier();

  const auto texts = comm.gather(std::string(comm.rank(), 'a' + comm.rank()), 0, "texts");
  ASSERT_EQ(texts.size(), comm.is_root() ? comm.size() : 0u);
  for (std::size_t r = 0; r < texts.size(); ++r) EXPECT_EQ(texts[r], std::string(r, 'a' + r));
}

TEST(ExactReduce, scattered_totals_have_the_bits_of_the_reduced_ones) {
  auto comm = Communicator::world();
  // Uneven shares; the last rank has none where there are several.
  std::vector<std::size_t> shares;
  for (int r = 0; r < comm.size(); ++r) shares.push_back(comm.size() > 1 && r == comm.size() - 1 ? 0 : 3 + 2 * r);
  const auto size = std::accumulate(shares.begin(), shares.end(), std::size_t{0});
  for (const auto format : {FixedPoint::one_word(40), FixedPoint::two_words()}) {
    ExactSums sums(size, format, 64);
    std::mt19937 random(comm.rank());
    std::normal_distribution<double> normal;
    for (int c = 0; c < 5; ++c)
      for (std::size_t i = 0; i < size; ++i) sums.add(i, normal(random));
    auto everywhere = sums;
    const auto before = comm.ledger().entries().contains("scatter") ? comm.ledger().entries().at("scatter").bytes : 0;
    const auto mine = fedpp::mpi::reduce_scatter(comm, sums, shares, "scatter");
    fedpp::mpi::allreduce(comm, everywhere, "reduce");
    ASSERT_EQ(mine.size(), shares[comm.rank()]);
    const auto first = std::accumulate(shares.begin(), shares.begin() + comm.rank(), std::size_t{0});
    for (std::size_t i = 0; i < mine.size(); ++i) EXPECT_EQ(mine.value(i), everywhere.value(first + i));
    if (comm.size() > 1) {
      EXPECT_EQ(comm.ledger().entries().at("scatter").bytes - before, (size - mine.size()) * 8 * format.words);
    }
    shares.back() += 1;
    EXPECT_THROW(fedpp::mpi::reduce_scatter(comm, sums, shares, "scatter"), fedpp::mpi::Error);
    shares.back() -= 1;
  }
}

TEST(Communicator, ranks_of_one_machine_have_different_node_ranks) {
  auto comm = Communicator::world();
  char name[MPI_MAX_PROCESSOR_NAME];
  int length = 0;
  ASSERT_EQ(MPI_Get_processor_name(name, &length), MPI_SUCCESS);
  const std::string mine(name, length);
  int before = 0;
  for (int r = 0; r < comm.size(); ++r) {
    std::string machine = mine;
    comm.broadcast(machine, r, "machine");
    if (r < comm.rank() && machine == mine) ++before;
  }
  EXPECT_EQ(comm.node_rank(), before);
}

TEST(Communicator, mpi_errors_become_exceptions) {
  auto comm = Communicator::world();
  std::vector<double> x(1);
  EXPECT_THROW(comm.broadcast(x, comm.size() + 3, "x"), fedpp::mpi::Error);
  EXPECT_THROW(comm.send_token(comm.size() + 3, 1), fedpp::mpi::Error);
}

TEST(Ledger, counts_what_leaves_the_rank_by_kind) {
  auto comm = Communicator::world();
  const bool alone = comm.size() == 1;
  std::vector<double> theta(10);
  for (int round = 0; round < 3; ++round) {
    comm.broadcast(theta, 0, "broadcast theta");
    ExactSums one(10, FixedPoint::one_word(40), 1), two(10, FixedPoint::two_words(), 1);
    fedpp::mpi::allreduce(comm, one, "reduce uploads");
    fedpp::mpi::allreduce(comm, two, "scores");
    const std::uint64_t expected = alone ? 0 : comm.is_root() ? 320 : 240;
    EXPECT_EQ(comm.ledger().end_round(), expected);
  }
  if (!alone) {
    EXPECT_EQ(comm.ledger().entries().at("reduce uploads").calls, 3u);
    EXPECT_EQ(comm.ledger().entries().at("reduce uploads").bytes, 240u);
    EXPECT_EQ(comm.ledger().entries().count("broadcast theta"), comm.is_root() ? 1u : 0u);
  }
  const auto all = comm.ledger_of_all_ranks();
  const auto table = fedpp::mpi::Ledger::table(all);
  if (!comm.is_root()) {
    EXPECT_TRUE(all.empty());
  } else if (!alone) {
    EXPECT_NE(table.find("reduce uploads"), std::string::npos);
    EXPECT_NE(table.find(std::to_string(240 * comm.size())), std::string::npos) << table;
  }
}

class ReducedFormats : public testing::TestWithParam<FixedPoint> {};

TEST_P(ReducedFormats, reduced_sums_have_the_bits_of_one_process_for_any_dealing) {
  auto comm = Communicator::world();
  const int size = 37, terms = 101;
  std::mt19937_64 engine(7);  // the same on every rank
  std::normal_distribution<double> normal(0, 3);
  std::vector<std::vector<double>> x(terms, std::vector<double>(size));
  for (auto& row : x)
    for (auto& value : row) value = normal(engine);

  ExactSums alone(size, GetParam(), terms);
  for (const auto& row : x)
    for (int i = 0; i < size; ++i) alone.add(i, row[i]);

  for (int dealing = 0; dealing < 5; ++dealing) {
    std::shuffle(x.begin(), x.end(), engine);
    ExactSums mine(size, GetParam(), terms);
    for (const auto& row : x) {
      if (static_cast<int>(engine() % comm.size()) != comm.rank()) continue;
      for (int i = 0; i < size; ++i) mine.add(i, row[i]);
    }
    fedpp::mpi::allreduce(comm, mine, "sums");
    EXPECT_TRUE(std::ranges::equal(mine.words(), alone.words()));
  }
}

TEST_P(ReducedFormats, carries_survive_the_collective) {
  auto comm = Communicator::world();
  ExactSums sums(1, GetParam(), comm.size());
  sums.add(0, comm.is_root() ? 1.0 : -std::ldexp(1.0, -GetParam().fraction_bits));
  fedpp::mpi::allreduce(comm, sums, "sums");
  const auto minus_units = static_cast<std::uint64_t>(comm.size() - 1);
  const std::uint64_t one = GetParam().fraction_bits < 64 ? std::uint64_t{1} << GetParam().fraction_bits : 0;
  EXPECT_EQ(sums.words()[0], one - minus_units);
  if (GetParam().words == 2) {
    EXPECT_EQ(sums.words()[1], comm.size() == 1 ? 1u : 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(ExactReduce, ReducedFormats,
                         testing::Values(FixedPoint::one_word(40), FixedPoint::two_words()),
                         [](const auto& info) { return "words" + std::to_string(info.param.words); });

TEST(Turns, ranks_run_one_after_another) {
  auto comm = Communicator::world();
  for (int repeat = 0; repeat < 3; ++repeat) {
    // A chain through a second communicator: each rank must find the number that its predecessor left there.
    auto chain = Communicator::world();
    int seen = 0;
    fedpp::mpi::in_turn(comm, [&] {
      seen = chain.rank() == 0 ? 0 : chain.receive_token(chain.rank() - 1);
      if (chain.rank() + 1 < chain.size()) chain.send_token(chain.rank() + 1, seen + 1);
    });
    EXPECT_EQ(seen, comm.rank());
  }
}

TEST(Turns, a_failure_ends_the_turns_and_all_ranks_throw_its_text) {
  auto comm = Communicator::world();
  for (int culprit = 0; culprit < comm.size(); ++culprit) {
    bool ran = false;
    try {
      fedpp::mpi::in_turn(comm, [&] {
        ran = true;
        if (comm.rank() == culprit) throw std::runtime_error("disk full on " + std::to_string(culprit));
      });
      ADD_FAILURE() << "nothing thrown";
    } catch (const AgreedError& error) {
      EXPECT_EQ(error.what(), "disk full on " + std::to_string(culprit));
      EXPECT_EQ(error.rank, culprit);
    }
    EXPECT_EQ(ran, comm.rank() <= culprit);
  }
}

TEST(Turns, the_lowest_rank_with_an_error_says_of_which_kind_it_is) {
  using fedpp::mpi::ErrorKind;
  auto comm = Communicator::world();
  const auto agreed = [&](const auto& f) {
    try {
      fedpp::mpi::together(comm, f);
    } catch (const AgreedError& error) {
      return error.kind;
    }
    ADD_FAILURE() << "nothing thrown";
    return ErrorKind::kFailure;
  };
  EXPECT_EQ(agreed([&] { throw std::runtime_error("disk full"); }), ErrorKind::kFailure);
  EXPECT_EQ(agreed([&] {
              if (comm.rank() == 0) throw std::invalid_argument("no such key");
              throw fedpp::mpi::Interrupted("asked to stop");
            }),
            ErrorKind::kMistake);
  EXPECT_EQ(agreed([&] {
              if (comm.rank() + 1 == comm.size()) throw fedpp::mpi::Interrupted("asked to stop");
            }),
            ErrorKind::kInterrupted);
}

TEST(Turns, memory_that_runs_out_is_said_with_a_remedy) {
  auto comm = Communicator::world();
  fedpp::mpi::set_memory_remedy("use a larger machine");
  try {
    fedpp::mpi::together(comm, [&] { throw std::bad_alloc(); });
    ADD_FAILURE() << "nothing thrown";
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.kind, fedpp::mpi::ErrorKind::kFailure);
    EXPECT_EQ(std::string(error.what()), "memory ran out (std::bad_alloc): use a larger machine");
  }
  const std::runtime_error of_kokkos("Kokkos failed to allocate memory for label \"k\"");
  EXPECT_EQ(fedpp::mpi::text_of(of_kokkos),
            "memory ran out (Kokkos failed to allocate memory for label \"k\"): use a larger machine");
}

TEST(Turns, agreement_throws_the_lowest_ranks_text_everywhere) {
  auto comm = Communicator::world();
  EXPECT_NO_THROW(fedpp::mpi::agree(comm, std::nullopt));
  const int first = comm.size() / 2;
  try {
    fedpp::mpi::together(comm, [&] {
      if (comm.rank() >= first) throw std::runtime_error("rank " + std::to_string(comm.rank()));
    });
    ADD_FAILURE() << "nothing thrown";
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.what(), "rank " + std::to_string(first));
  }
}
}  // namespace
