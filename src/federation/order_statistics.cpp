#include "federation/order_statistics.hpp"

#include <bit>
#include <cassert>
#include <cmath>

#include "mpi/exact_reduce.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {

namespace {

/// Integers in the order of the doubles.
std::uint64_t ordered(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x == 0 ? 0.0 : x);  // -0 is 0
  return bits >> 63 ? ~bits : bits | std::uint64_t{1} << 63;
}
double back(std::uint64_t order) {
  return std::bit_cast<double>(order >> 63 ? order & ~(std::uint64_t{1} << 63) : ~order);
}

}  // namespace

std::vector<double> order_statistic(mpi::Communicator& comm, const Columns& mine, std::size_t n, std::uint64_t rank,
                                    std::string_view kind) {
  std::vector<std::uint64_t> low(n, 0), high(n, ~std::uint64_t{0}), count(n);
  for (int step = 0; step < 64; ++step) {  // the smallest number with `rank` numbers up to it is in [low, high]
    const auto middle = [&](std::size_t j) { return low[j] + (high[j] - low[j]) / 2; };
    for (std::size_t j = 0; j < n; ++j) {
      count[j] = 0;
      for (const auto& client : mine) count[j] += ordered(client[j]) <= middle(j);
    }
    comm.allreduce(std::span<std::uint64_t>(count), mpi::Op::sum, kind);
    for (std::size_t j = 0; j < n; ++j) {
      if (low[j] == high[j]) continue;
      if (count[j] >= rank)
        high[j] = middle(j);
      else
        low[j] = middle(j) + 1;
    }
  }
  std::vector<double> found;
  for (const auto order : low) found.push_back(back(order));
  return found;
}

std::vector<double> medians(mpi::Communicator& comm, const Columns& mine, std::size_t n, std::uint64_t count,
                            std::string_view kind) {
  auto lower = order_statistic(comm, mine, n, (count + 1) / 2, kind);
  if (count % 2 == 1) return lower;
  const auto upper = order_statistic(comm, mine, n, count / 2 + 1, kind);
  for (std::size_t j = 0; j < n; ++j) lower[j] = 0.5 * lower[j] + 0.5 * upper[j];
  return lower;
}

std::vector<double> trimmed_means(mpi::Communicator& comm, const Columns& mine, std::size_t n, std::uint64_t count,
                                  double trim, std::string_view kind) {
  assert(trim >= 0 && trim < 0.5);
  // That 0.29 is a little less than 29 hundredths keeps no upload in.
  const auto wanted = static_cast<std::uint64_t>(std::floor(trim * static_cast<double>(count) * (1 + 1e-12)));
  const auto cut = std::min(wanted, (count - 1) / 2);
  const auto least = order_statistic(comm, mine, n, cut + 1, kind);
  const auto most = order_statistic(comm, mine, n, count - cut, kind);
  // Below `least` and above `most` everything is taken off; between them everything is kept; of those equal to an end,
  // as many as make up the number.
  std::vector<std::uint64_t> below(n, 0), above(n, 0), between(n, 0);
  mpi::ExactSums inner(n, mpi::FixedPoint::two_words(), count);
  std::optional<std::string> error;
  for (const auto& client : mine)
    for (std::size_t j = 0; j < n; ++j) {
      below[j] += client[j] <= least[j];
      above[j] += client[j] >= most[j];
      if (!(client[j] > least[j] && client[j] < most[j])) continue;
      ++between[j];
      try {
        inner.add(j, client[j]);
      } catch (const mpi::Error& reason) {
        error = reason.what();
      }
    }
  mpi::agree(comm, error);
  mpi::allreduce(comm, inner, kind);
  for (auto* counts : {&below, &above, &between}) comm.allreduce(std::span<std::uint64_t>(*counts), mpi::Op::sum, kind);
  std::vector<double> means(n);
  for (std::size_t j = 0; j < n; ++j) {
    const auto kept = static_cast<double>(count - 2 * cut);
    if (least[j] == most[j]) {
      means[j] = least[j];
      continue;
    }
    const auto at_least = static_cast<double>(below[j] - cut), at_most = static_cast<double>(above[j] - cut);
    means[j] = (inner.value(j) + at_least * least[j] + at_most * most[j]) / kept;
  }
  return means;
}

}  // namespace fedpp::federation
