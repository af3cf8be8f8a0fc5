// GoogleTest under mpirun: every rank runs all cases together; a failure on any rank is printed with the rank's number
// and fails the program on all of them. Rank 0 prints the usual progress.
#include <gtest/gtest.h>

#include <iostream>
#include <sstream>

#include "mpi/communicator.hpp"
#include "mpi/environment.hpp"

namespace {

class FailurePrinter : public testing::EmptyTestEventListener {
 public:
  explicit FailurePrinter(int rank) : rank_(rank) {}
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::ostringstream text;
    text << "rank " << rank_ << ": " << (result.file_name() ? result.file_name() : "?") << ":" << result.line_number()
         << ": " << result.message() << "\n";
    std::cerr << text.str() << std::flush;
  }

 private:
  int rank_;
};

}  // namespace

int main(int argc, char** argv) {
  fedpp::mpi::Environment environment(argc, argv);
  return environment.guard([&] {
    testing::InitGoogleTest(&argc, argv);
    auto comm = fedpp::mpi::Communicator::world();
    if (!comm.is_root()) {
      auto& listeners = testing::UnitTest::GetInstance()->listeners();
      delete listeners.Release(listeners.default_result_printer());
      listeners.Append(new FailurePrinter(comm.rank()));
    }
    return comm.allreduce(RUN_ALL_TESTS(), fedpp::mpi::Op::max, "test result");
  });
}
