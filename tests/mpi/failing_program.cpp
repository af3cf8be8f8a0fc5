// Fails on rank 1 of three in the way its argument says; the tests look at the exit code and the text.
#include <stdexcept>
#include <string>

#include "mpi/communicator.hpp"
#include "mpi/environment.hpp"
#include "mpi/turns.hpp"

int main(int argc, char** argv) {
  fedpp::mpi::Environment environment(argc, argv);
  const std::string how = argc > 1 ? argv[1] : "";
  auto comm = fedpp::mpi::Communicator::world();
  const auto fail = [&] {
    if (comm.rank() == 1) throw std::runtime_error("client 7 broke");
  };
  const auto body = [&] {
    how == "agreed" ? fedpp::mpi::together(comm, fail) : fail();
    comm.barrier();  // the others wait here for a rank that does not come
    return 0;
  };
  return how == "uncaught" ? body() : environment.guard(body);
}
