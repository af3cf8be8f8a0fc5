// Files that the ranks write in turn, under the name that rank 0 has made.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "federation/shared_file.hpp"
#include "io/error.hpp"
#include "mpi/communicator.hpp"
#include "mpi/turns.hpp"

namespace {
using fedpp::federation::begin_shared_file;
using fedpp::mpi::Communicator;

/// A folder of all ranks; rank 0 deletes it.
class SharedFolder {
 public:
  explicit SharedFolder(Communicator& comm) : comm_(comm) {
    if (comm.is_root()) {
      path_ = (std::filesystem::temp_directory_path() / "fedpp-shared-XXXXXX").string();
      EXPECT_NE(::mkdtemp(path_.data()), nullptr);
    }
    comm.broadcast(path_, 0, "test");
  }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;
  ~SharedFolder() {
    comm_.barrier();
    std::error_code ignored;
    if (comm_.is_root()) std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  std::ptrdiff_t entries() const {
    comm_.barrier();
    const auto count = std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator());
    comm_.barrier();
    return count;
  }

 private:
  Communicator& comm_;
  std::string path_;
};

TEST(SharedFile, is_filled_by_all_ranks_and_put_in_its_place_by_the_first) {
  auto comm = Communicator::world();
  const SharedFolder folder(comm);
  std::string expected;
  for (int rank = 0; rank < comm.size(); ++rank) expected += std::to_string(rank) + "\n";
  {
    auto one = begin_shared_file(comm, folder / "a.csv");
    const auto two = begin_shared_file(comm, folder / "a.csv");
    EXPECT_EQ(folder.entries(), 2);
    fedpp::mpi::in_turn(comm, [&] {
      one.append(std::to_string(comm.rank()) + "\n");
      two.append("another program's");
    });
    if (comm.is_root()) one.commit();
    comm.barrier();
  }
  EXPECT_EQ(folder.entries(), 1);
  std::ifstream file(folder / "a.csv");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), expected);
}

TEST(SharedFile, a_failure_on_any_rank_leaves_nothing) {
  auto comm = Communicator::world();
  const SharedFolder folder(comm);
  const auto write = [&] {
    const auto partial = begin_shared_file(comm, folder / "a.csv");
    fedpp::mpi::in_turn(comm, [&] {
      if (comm.rank() == comm.size() - 1) throw fedpp::io::Error("no room");
      partial.append("x");
    });
  };
  EXPECT_THROW(write(), fedpp::mpi::AgreedError);
  EXPECT_EQ(folder.entries(), 0);
}

TEST(SharedFile, that_cannot_be_made_is_named_on_all_ranks) {
  auto comm = Communicator::world();
  const SharedFolder folder(comm);
  const std::string path = folder / "none/a.csv";
  try {
    begin_shared_file(comm, path);
    FAIL() << "no error";
  } catch (const fedpp::mpi::AgreedError& error) {
    EXPECT_EQ(std::string(error.what()), path + ": cannot write: No such file or directory (does its folder exist?)");
  }
}

}  // namespace
