#include "mpi/communicator.hpp"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <numeric>
#include <sstream>
#include <utility>

namespace fedpp::mpi {

namespace {

constexpr int kTokenTag = 1;
constexpr std::size_t kChunk = std::size_t{1} << 28;  // elements a call: MPI counts are ints

}  // namespace

std::string node_name() {
  char name[256] = "?";
  if (gethostname(name, sizeof name - 1) != 0) name[0] = '?';
  return name;
}

std::vector<int> turns_by_node(std::span<const int> lowest) {
  std::vector<int> turns(lowest.size());
  std::iota(turns.begin(), turns.end(), 0);
  std::ranges::stable_sort(turns, {}, [&](int rank) { return lowest[static_cast<std::size_t>(rank)]; });
  return turns;
}

Communicator::Communicator(MPI_Comm parent) {
  check(MPI_Comm_dup(parent, &handle_), "MPI_Comm_dup");
  check(MPI_Comm_set_errhandler(handle_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(MPI_Comm_rank(handle_, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(handle_, &size_), "MPI_Comm_size");
  MPI_Comm node = MPI_COMM_NULL;
  check(MPI_Comm_split_type(handle_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
  check(MPI_Comm_rank(node, &node_rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(node, &node_size_), "MPI_Comm_size");
  int lowest = rank_;
  check(MPI_Bcast(&lowest, 1, MPI_INT, 0, node), "MPI_Bcast");
  check(MPI_Comm_free(&node), "MPI_Comm_free");
  std::vector<int> all(static_cast<std::size_t>(size_));
  check(MPI_Allgather(&lowest, 1, MPI_INT, all.data(), 1, MPI_INT, handle_), "MPI_Allgather");
  const auto turns = turns_by_node(all);
  const auto own = std::ranges::find(turns, rank_);
  if (own != turns.begin()) turn_before_ = *(own - 1);
  if (own + 1 != turns.end()) turn_after_ = *(own + 1);
}

Communicator::Communicator(Communicator&& other) noexcept
    : handle_(std::exchange(other.handle_, MPI_COMM_NULL)),
      rank_(other.rank_),
      size_(other.size_),
      node_rank_(other.node_rank_),
      node_size_(other.node_size_),
      turn_before_(other.turn_before_),
      turn_after_(other.turn_after_),
      ledger_(std::move(other.ledger_)) {}

Communicator& Communicator::operator=(Communicator&& other) noexcept {
  if (this != &other) {
    release();
    handle_ = std::exchange(other.handle_, MPI_COMM_NULL);
    rank_ = other.rank_;
    size_ = other.size_;
    node_rank_ = other.node_rank_;
    node_size_ = other.node_size_;
    turn_before_ = other.turn_before_;
    turn_after_ = other.turn_after_;
    ledger_ = std::move(other.ledger_);
  }
  return *this;
}

Communicator::~Communicator() { release(); }

void Communicator::release() noexcept {
  if (handle_ == MPI_COMM_NULL) return;
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!finalized) MPI_Comm_free(&handle_);
}

void Communicator::count_if_leaving(std::string_view kind, std::uint64_t bytes) {
  if (size_ > 1) ledger_.count(kind, bytes);
}

void Communicator::broadcast_bytes(void* bytes, std::size_t count, int root, std::string_view kind) {
  auto* const begin = static_cast<char*>(bytes);
  for (std::size_t done = 0; done < count; done += kChunk) {
    const int now = static_cast<int>(std::min(kChunk, count - done));
    check(MPI_Bcast(begin + done, now, MPI_BYTE, root, handle_), "MPI_Bcast");
  }
  if (rank_ == root) count_if_leaving(kind, count);
}

void Communicator::broadcast(std::string& text, int root, std::string_view kind) {
  std::uint64_t length = text.size();
  broadcast_bytes(&length, sizeof length, root, kind);
  text.resize(length);
  broadcast_bytes(text.data(), length, root, kind);
}

void Communicator::allreduce_in_place(void* values, std::size_t count, MPI_Datatype type, std::size_t bytes_per_element,
                                      MPI_Op op, std::string_view kind) {
  auto* const begin = static_cast<char*>(values);
  for (std::size_t done = 0; done < count; done += kChunk) {
    void* const part = begin + done * bytes_per_element;
    const int now = static_cast<int>(std::min(kChunk, count - done));
    check(MPI_Allreduce(MPI_IN_PLACE, part, now, type, op, handle_), "MPI_Allreduce");
  }
  count_if_leaving(kind, count * bytes_per_element);
}

void Communicator::reduce_scatter(const void* values, void* own, std::span<const int> counts, MPI_Datatype type,
                                  std::size_t bytes_per_element, MPI_Op op, std::string_view kind) {
  check(MPI_Reduce_scatter(values, own, counts.data(), type, op, handle_), "MPI_Reduce_scatter");
  std::size_t others = 0;
  for (int rank = 0; rank < size_; ++rank) others += rank == rank_ ? 0 : static_cast<std::size_t>(counts[rank]);
  count_if_leaving(kind, others * bytes_per_element);
}

double Communicator::max(double value, std::string_view kind) {
  allreduce_in_place(&value, 1, MPI_DOUBLE, sizeof value, MPI_MAX, kind);
  return value;
}

double Communicator::min(double value, std::string_view kind) {
  allreduce_in_place(&value, 1, MPI_DOUBLE, sizeof value, MPI_MIN, kind);
  return value;
}

void Communicator::barrier() { check(MPI_Barrier(handle_), "MPI_Barrier"); }

void Communicator::send_token(int to, int value) {
  check(MPI_Send(&value, 1, MPI_INT, to, kTokenTag, handle_), "MPI_Send");
  count_if_leaving("tokens", sizeof value);
}

int Communicator::receive_token(int from) {
  int value = 0;
  check(MPI_Recv(&value, 1, MPI_INT, from, kTokenTag, handle_, MPI_STATUS_IGNORE), "MPI_Recv");
  return value;
}

std::vector<std::string> Communicator::gather(const std::string& text, int root, std::string_view kind) {
  // Lengths first, on all ranks, so that a sum beyond MPI's int counts is an error everywhere.
  std::vector<std::uint64_t> lengths(size_);
  const std::uint64_t length = text.size();
  check(MPI_Allgather(&length, 1, MPI_UINT64_T, lengths.data(), 1, MPI_UINT64_T, handle_), "MPI_Allgather");
  const std::uint64_t total = std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0});
  if (total > INT_MAX) {
    throw Error("gathering '" + std::string(kind) + "': " + std::to_string(total) +
                " bytes in one gather, more than 2^31 - 1: gather in parts");
  }
  std::vector<int> counts(lengths.begin(), lengths.end()), offsets(size_, 0);
  std::partial_sum(counts.begin(), counts.end() - 1, offsets.begin() + 1);
  std::string all(rank_ == root ? total : 0, '\0');
  check(MPI_Gatherv(text.data(), static_cast<int>(length), MPI_CHAR, all.data(), counts.data(), offsets.data(),
                    MPI_CHAR, root, handle_),
        "MPI_Gatherv");
  count_if_leaving(kind, sizeof length + (rank_ == root ? 0 : length));
  std::vector<std::string> texts;
  if (rank_ == root) {
    for (int r = 0; r < size_; ++r) texts.push_back(all.substr(offsets[r], counts[r]));
  }
  return texts;
}

Ledger::Entries Communicator::ledger_of_all_ranks() {
  std::ostringstream mine;  // one line a kind: calls, bytes, kind
  for (const auto& [kind, entry] : ledger_.entries()) mine << entry.calls << ' ' << entry.bytes << ' ' << kind << '\n';
  const auto texts = gather(mine.str(), 0, "ledger");
  if (!is_root()) return {};
  Ledger::Entries all;
  for (const auto& text : texts) {
    std::istringstream lines(text);
    Ledger::Entry entry;
    std::string kind;
    while (lines >> entry.calls >> entry.bytes && lines.get() && std::getline(lines, kind)) {
      all[kind].calls += entry.calls;
      all[kind].bytes += entry.bytes;
    }
  }
  return all;
}

}  // namespace fedpp::mpi
