#include "gpu/history.hpp"

#include <cassert>
#include <vector>

#include "gpu/arrays.hpp"

namespace fedpp::gpu {

SlotPoints make_slot_points(const Batch& batch, const Fields& fields) {
  std::vector<int> slot, inducing_slot, columns, inducing;
  std::vector<Index> column, vector, first_slot;
  to_host(fields.slot, slot);
  to_host(fields.inducing_slot, inducing_slot);
  to_host(batch.columns, columns);
  to_host(batch.inducing, inducing);
  to_host(batch.column, column);
  to_host(batch.vector, vector);
  to_host(batch.slot, first_slot);

  const auto each = [&](const auto& use) {
    for (int i = 0; i < batch.realisations; ++i) {
      const Index end = i + 1 < batch.realisations ? first_slot[i + 1] : batch.lengths.slot;
      if (end == first_slot[i]) continue;  // no history: an encoder of time alone
      for (int j = 0; j < columns[i] + inducing[i]; ++j) {
        const int at = j < columns[i] ? slot[column[i] + j] : inducing_slot[vector[i] + j - columns[i]];
        assert(at >= 0 && first_slot[i] + at < end);
        use(first_slot[i] + at, j);
      }
    }
  };
  std::vector<Index> begin(batch.lengths.slot + 1, 0);
  each([&](Index at, int) { ++begin[at + 1]; });
  for (std::size_t k = 1; k < begin.size(); ++k) begin[k] += begin[k - 1];
  std::vector<int> point(begin.back());
  std::vector<Index> next(begin.begin(), begin.end());
  each([&](Index at, int j) { point[next[at]++] = j; });
  SlotPoints points;
  ArraySet<Index> offsets;
  offsets.upload("slot_begin", points.begin, begin);
  offsets.make("slot_offsets");
  ArraySet<int> ints;
  ints.upload("slot_point", points.point, point);
  ints.make("slot_points");
  return points;
}

}  // namespace fedpp::gpu
