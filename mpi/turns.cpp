#include "mpi/turns.hpp"

namespace fedpp::mpi {

void agree(Communicator& comm, const std::optional<std::string>& error, bool users_mistake) {
  const int first = comm.allreduce(error ? comm.rank() : comm.size(), Op::min, "agreement");
  if (first == comm.size()) return;
  std::string text = (users_mistake ? "m" : "f") + error.value_or("");
  comm.broadcast(text, first, "agreement");
  throw AgreedError(text.substr(1), first, text.front() == 'm');
}

}  // namespace fedpp::mpi
