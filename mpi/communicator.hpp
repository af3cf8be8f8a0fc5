// A communicator of our own: a duplicate, so that no message of a library can be mistaken for ours; errors become
// exceptions; everything that leaves the rank is entered in the ledger under the caller's name for it ("kind").
//
// There is no sum of floating-point numbers: it would depend on the number of ranks. See mpi/exact_sum.hpp.
#pragma once

#include <mpi.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "mpi/error.hpp"
#include "mpi/ledger.hpp"

namespace fedpp::mpi {

enum class Op { sum, min, max };

template <class T>
concept Integer = std::same_as<T, int> || std::same_as<T, std::int64_t> || std::same_as<T, std::uint64_t>;
template <class T>
concept Element = Integer<T> || std::same_as<T, double> || std::same_as<T, char>;

/// The name of the node that this process runs on.
std::string node_name();

/// All ranks in the order of their turns: node by node, in the order of the nodes' lowest ranks.
/// \param lowest the lowest rank on each rank's node
std::vector<int> turns_by_node(std::span<const int> lowest);

/// Move-only. All functions but rank(), size(), those of the node and of turns, and ledger() communicate; the collective ones must be called
/// by all ranks in the same order with the same sizes.
class Communicator {
 public:
  /// A duplicate of `parent` (MPI_COMM_WORLD, MPI_COMM_SELF). Collective.
  explicit Communicator(MPI_Comm parent);
  static Communicator world() { return Communicator(MPI_COMM_WORLD); }
  static Communicator self() { return Communicator(MPI_COMM_SELF); }
  Communicator(Communicator&& other) noexcept;
  Communicator& operator=(Communicator&& other) noexcept;
  ~Communicator();

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_root() const { return rank_ == 0; }
  int node_rank() const { return node_rank_; }  ///< among the ranks that share this node's memory: chooses the GPU
  int node_size() const { return node_size_; }  ///< how many these are
  /// Whose turns come before and after this rank's (mpi/turns.hpp); nothing for the first and the last.
  std::optional<int> turn_before() const { return turn_before_; }
  std::optional<int> turn_after() const { return turn_after_; }
  Ledger& ledger() { return ledger_; }
  const Ledger& ledger() const { return ledger_; }

  /// `values` of the root come to all ranks; the sizes agree beforehand.
  template <class T>
    requires Element<std::remove_cv_t<T>>
  void broadcast(std::span<T> values, int root, std::string_view kind) {
    broadcast_bytes(values.data(), values.size_bytes(), root, kind);
  }
  template <Element T>
  void broadcast(std::vector<T>& values, int root, std::string_view kind) {
    broadcast(std::span<T>(values), root, kind);
  }
  /// Text of any length: the other ranks' strings are replaced.
  void broadcast(std::string& text, int root, std::string_view kind);

  /// Elementwise over the ranks; the result is on all of them. Integer sums are modulo 2^bits.
  template <Integer T>
  void allreduce(std::span<T> values, Op op, std::string_view kind) {
    allreduce_in_place(values.data(), values.size(), datatype<T>(), sizeof(T), native(op), kind);
  }
  template <Integer T>
  T allreduce(T value, Op op, std::string_view kind) {
    allreduce(std::span<T>(&value, 1), op, kind);
    return value;
  }
  /// Whether it is so on any rank.
  bool any(bool here, std::string_view kind) { return allreduce(here ? 1 : 0, Op::max, kind) != 0; }
  /// The largest (smallest) of the ranks' numbers, none of them NaN: exact, unlike a sum.
  double max(double value, std::string_view kind);
  double min(double value, std::string_view kind);

  /// The same for `count` elements of a type and operation of the caller's.
  void allreduce_in_place(void* values, std::size_t count, MPI_Datatype type, std::size_t bytes_per_element, MPI_Op op,
                          std::string_view kind);

  /// Adds the ranks' elements and leaves each rank its share of the totals, `counts` [ranks] elements of each, in `own`.
  void reduce_scatter(const void* values, void* own, std::span<const int> counts, MPI_Datatype type,
                      std::size_t bytes_per_element, MPI_Op op, std::string_view kind);

  void barrier();

  /// One integer from rank to rank (see mpi/turns.hpp).
  void send_token(int to, int value);
  int receive_token(int from);

  /// The ranks' texts in rank order on the root; empty elsewhere.
  std::vector<std::string> gather(const std::string& text, int root, std::string_view kind);

  /// The ledgers of all ranks added up, on rank 0, empty elsewhere. Collective.
  Ledger::Entries ledger_of_all_ranks();

 private:
  template <class T>
  static MPI_Datatype datatype() {
    if constexpr (std::same_as<T, int>) return MPI_INT;
    if constexpr (std::same_as<T, std::int64_t>) return MPI_INT64_T;
    if constexpr (std::same_as<T, std::uint64_t>) return MPI_UINT64_T;
  }
  static MPI_Op native(Op op) { return op == Op::sum ? MPI_SUM : op == Op::min ? MPI_MIN : MPI_MAX; }
  void broadcast_bytes(void* bytes, std::size_t count, int root, std::string_view kind);
  void count_if_leaving(std::string_view kind, std::uint64_t bytes);
  void release() noexcept;

  MPI_Comm handle_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1, node_rank_ = 0, node_size_ = 1;
  std::optional<int> turn_before_, turn_after_;
  Ledger ledger_;
};

}  // namespace fedpp::mpi
