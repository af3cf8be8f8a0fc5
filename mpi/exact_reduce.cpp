#include "mpi/exact_reduce.hpp"

#include <fmt/format.h>

#include <climits>
#include <numeric>

namespace fedpp::mpi {

namespace {

// MPI's operation of 128-bit addition. The element is a pair of words, so no library may split one over two calls.
void add_pairs(void* terms, void* sums, int* count, MPI_Datatype*) {
  const auto* term = static_cast<const std::uint64_t*>(terms);
  auto* sum = static_cast<std::uint64_t*>(sums);
  for (int i = 0; i < *count; ++i) ExactSums::add_two_words(term + 2 * i, sum + 2 * i);
}

class PairType {
 public:
  PairType() {
    check(MPI_Type_contiguous(2, MPI_UINT64_T, &handle), "MPI_Type_contiguous");
    check(MPI_Type_commit(&handle), "MPI_Type_commit");
  }
  ~PairType() { MPI_Type_free(&handle); }
  PairType(const PairType&) = delete;
  PairType& operator=(const PairType&) = delete;
  MPI_Datatype handle = MPI_DATATYPE_NULL;
};

class PairSum {
 public:
  PairSum() { check(MPI_Op_create(add_pairs, 1, &handle), "MPI_Op_create"); }
  ~PairSum() { MPI_Op_free(&handle); }
  PairSum(const PairSum&) = delete;
  PairSum& operator=(const PairSum&) = delete;
  MPI_Op handle = MPI_OP_NULL;
};

constexpr std::size_t kWord = sizeof(std::uint64_t);

}  // namespace

void allreduce(Communicator& comm, ExactSums& sums, std::string_view kind) {
  if (sums.format().words == 1) {
    comm.allreduce_in_place(sums.words().data(), sums.size(), MPI_UINT64_T, kWord, MPI_SUM, kind);
  } else {
    const PairType pair;
    const PairSum add;
    comm.allreduce_in_place(sums.words().data(), sums.size(), pair.handle, 2 * kWord, add.handle, kind);
  }
}

ExactSums reduce_scatter(Communicator& comm, const ExactSums& sums, std::span<const std::size_t> shares,
                         std::string_view kind) {
  if (shares.size() != static_cast<std::size_t>(comm.size()) ||
      std::accumulate(shares.begin(), shares.end(), std::size_t{0}) != sums.size() || sums.size() > INT_MAX)
    throw Error(
        fmt::format("scattering '{}': {} sums over {} shares for {} ranks; one share a rank, at most 2^31 - 1 sums",
                    kind, sums.size(), shares.size(), comm.size()));
  const std::vector<int> counts(shares.begin(), shares.end());
  ExactSums total(shares[comm.rank()], sums.format(), sums.contributions());
  const auto* const values = sums.words().data();
  auto* const own = total.words().data();
  if (sums.format().words == 1) {
    comm.reduce_scatter(values, own, counts, MPI_UINT64_T, kWord, MPI_SUM, kind);
  } else {
    const PairType pair;
    const PairSum add;
    comm.reduce_scatter(values, own, counts, pair.handle, 2 * kWord, add.handle, kind);
  }
  return total;
}

}  // namespace fedpp::mpi
