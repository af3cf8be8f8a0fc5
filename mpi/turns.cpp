#include "mpi/turns.hpp"

namespace fedpp::mpi {

void agree(Communicator& comm, const std::optional<std::string>& error, ErrorKind kind) {
  const int first = comm.allreduce(error ? comm.rank() : comm.size(), Op::min, "agreement");
  if (first == comm.size()) return;
  std::string text = static_cast<char>(kind) + error.value_or("");
  comm.broadcast(text, first, "agreement");
  throw AgreedError(text.substr(1), first, static_cast<ErrorKind>(text.front()));
}

}  // namespace fedpp::mpi
