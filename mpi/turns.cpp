#include "mpi/turns.hpp"

namespace fedpp::mpi {

void agree(Communicator& comm, const std::optional<std::string>& error) {
  const int first = comm.allreduce(error ? comm.rank() : comm.size(), Op::min, "agreement");
  if (first == comm.size()) return;
  std::string text = error.value_or("");
  comm.broadcast(text, first, "agreement");
  throw AgreedError(text, first);
}

}  // namespace fedpp::mpi
