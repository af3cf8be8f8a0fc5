// What left this rank, by kind (theory 2.6): calls and bytes, counted inside the communicator's calls, so that nothing
// can be sent past it. Counted is the payload that a rank hands to others once: the root's buffer of a broadcast, every
// rank's contribution to a reduction, what all but the root send in a gather. MPI's internal forwarding is not counted,
// and a communicator of one rank sends nothing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace fedpp::mpi {

class Ledger {
 public:
  struct Entry {
    std::uint64_t calls = 0, bytes = 0;
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  /// One call that sent `bytes` from this rank.
  void count(std::string_view kind, std::uint64_t bytes);

  const Entries& entries() const { return entries_; }

  /// Bytes since the last call of this function (or the start): called once a round.
  std::uint64_t end_round();

  /// A table with one line a kind and a total.
  static std::string table(const Entries& entries);

 private:
  Entries entries_;
  std::uint64_t bytes_ = 0, bytes_before_round_ = 0;
};

}  // namespace fedpp::mpi
