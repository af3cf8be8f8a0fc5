#include "federation/sums.hpp"

#include "mpi/exact_reduce.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {

void LocalSums::reduce(mpi::ExactSums&, const std::optional<std::string>& error, std::string_view) {
  if (error) throw mpi::Error(*error);
}

void CommunicatorSums::reduce(mpi::ExactSums& sums, const std::optional<std::string>& error, std::string_view kind) {
  mpi::agree(comm_, error);
  mpi::allreduce(comm_, sums, kind);
}

void CommunicatorSums::total(std::span<std::uint64_t> counts, std::string_view kind) {
  comm_.allreduce(counts, mpi::Op::sum, kind);
}

std::uint64_t CommunicatorSums::total(std::uint64_t count, std::string_view kind) {
  return comm_.allreduce(count, mpi::Op::sum, kind);
}

}  // namespace fedpp::federation
