#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "structural_entropy/entropy.hpp"

namespace fedpp::structural_entropy {

namespace {

constexpr double kEqual = 1e-12;
constexpr double kNever = std::numeric_limits<double>::infinity();

/// The changes dH of all pairs i < j: each row a tournament tree whose root is the row's least change, so that one
/// change is replaced in O(log K), and the best pair is found in O(K) whatever the number of ties.
class Changes {
 public:
  explicit Changes(std::size_t n) : leaves_(std::bit_ceil(std::max<std::size_t>(n, 1))) {
    nodes_.assign(n * 2 * leaves_, kNever);
  }

  double at(std::size_t row, std::size_t column) const { return tree(row)[leaves_ + column]; }
  double least(std::size_t row) const { return tree(row)[1]; }

  void set(std::size_t row, std::size_t column, double change) {
    double* nodes = tree(row);
    std::size_t node = leaves_ + column;
    if (nodes[node] == change) return;
    nodes[node] = change;
    for (node /= 2; node > 0; node /= 2) {
      const double winner = std::min(nodes[2 * node], nodes[2 * node + 1]);
      if (nodes[node] == winner) break;
      nodes[node] = winner;
    }
  }
  void clear(std::size_t row) { std::fill_n(tree(row), 2 * leaves_, kNever); }

 private:
  double* tree(std::size_t row) { return nodes_.data() + row * 2 * leaves_; }
  const double* tree(std::size_t row) const { return nodes_.data() + row * 2 * leaves_; }

  std::size_t leaves_;
  std::vector<double> nodes_;  // [row][2 leaves]: node 1 the root, node n's children 2n and 2n + 1
};

/// Communities during the minimisation; each goes by its smallest vertex.
class Merging {
 public:
  explicit Merging(const WeightedGraph& graph)
      : n_(graph.vertices()),
        volume_(graph.volume()),
        between_(n_ * n_),
        communities_(n_),
        member_of_(n_),
        changes_(n_) {
    for (std::size_t i = 0; i < n_; ++i) {
      alive_.push_back(i);
      member_of_[i] = i;
      communities_[i] = {graph.degree(i), 0};
      for (std::size_t j = 0; j < n_; ++j) between_[i * n_ + j] = graph.weight(i, j);
    }
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t j = i + 1; j < n_; ++j) changes_.set(i, j, change(i, j));
  }

  /// Merges the best pair; false where no merge lowers the entropy.
  bool step() {
    double least = kNever;
    for (const auto i : alive_) least = std::min(least, changes_.least(i));
    if (!(least < -kEqual)) return false;
    const double equal = least + kEqual;
    const auto s =
        *std::find_if(alive_.begin(), alive_.end(), [&](std::size_t i) { return changes_.least(i) <= equal; });
    const auto t =
        *std::find_if(alive_.begin(), alive_.end(), [&](std::size_t j) { return changes_.at(s, j) <= equal; });
    merge(s, t);
    return true;
  }

  Partition partition() const {
    Partition numbers(n_);
    std::vector<std::int64_t> number_of(n_, -1);
    std::int64_t next = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      auto& number = number_of[member_of_[i]];
      if (number < 0) number = next++;
      numbers[i] = number;
    }
    return numbers;
  }

 private:
  double change(std::size_t i, std::size_t j) const {
    const double w = between_[i * n_ + j];
    return w > 0 ? merge_change(communities_[i], communities_[j], w, volume_) : kNever;
  }

  /// T goes up in S, s < t: only the changes of pairs with S are new, those with T are no more.
  void merge(std::size_t s, std::size_t t) {
    const double w = between_[s * n_ + t];
    communities_[s].volume += communities_[t].volume;
    communities_[s].internal += communities_[t].internal + 2 * w;
    std::replace(member_of_.begin(), member_of_.end(), t, s);
    alive_.erase(std::lower_bound(alive_.begin(), alive_.end(), t));
    changes_.clear(t);
    changes_.set(s, t, kNever);
    for (const auto x : alive_) {
      if (x < t) changes_.set(x, t, kNever);
      if (x == s) continue;
      between_[s * n_ + x] = between_[x * n_ + s] = between_[s * n_ + x] + between_[t * n_ + x];
      changes_.set(std::min(s, x), std::max(s, x), change(s, x));
    }
  }

  std::size_t n_;
  double volume_;
  std::vector<double> between_;         // [K][K] weight of the edges between two communities
  std::vector<Community> communities_;  // [K]
  std::vector<std::size_t> alive_;      // ascending
  std::vector<std::size_t> member_of_;  // [K] the community of a vertex
  Changes changes_;
};

}  // namespace

Partition minimise(const WeightedGraph& graph) {
  Merging merging(graph);
  while (merging.step()) {
  }
  return merging.partition();
}

}  // namespace fedpp::structural_entropy
