#include "mpi/turns.hpp"

#include <string>

namespace fedpp::mpi {

void agree(Communicator& comm, const std::optional<std::string>& error, ErrorKind kind) {
  const int first = comm.allreduce(error ? comm.rank() : comm.size(), Op::min, "agreement");
  if (first == comm.size()) return;
  const bool all = comm.allreduce(error ? 1 : 0, Op::min, "agreement") == 1;
  std::string text = static_cast<char>(kind) + error.value_or("");
  if (!all && comm.node_size() < comm.size())
    text += " (rank " + std::to_string(comm.rank()) + " on " + node_name() + ")";
  comm.broadcast(text, first, "agreement");
  throw AgreedError(text.substr(1), first, static_cast<ErrorKind>(text.front()));
}

}  // namespace fedpp::mpi
