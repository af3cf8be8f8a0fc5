// What the launches of the LSTM encoder share: arrays, and bundles of streams that advance together.
#pragma once

#include "gpu/encoder_operator.hpp"
#include "gpu/history.hpp"
#include "gpu/lstm_step.hpp"
#include "gpu/pieces.hpp"
#include "gpu/precision.hpp"

namespace fedpp::gpu::lstm {

/// A stream of a bundle for one sample: where its first slot and token lie.
struct Stream {
  Index slot;         ///< in per-(sample, slot) arrays
  Index slot_points;  ///< in SlotPoints
  Index point;        ///< the realisation's first in per-(sample, point) arrays
  Index token, input, tokens;
};

/// The operator's arrays, copied into kernels by value.
struct Work {
  int stride = 0, gates = 0, back = 0, layers = 0;         ///< largest state(), gates(), back() and L of the batch
  Index forward_scratch = 0, adjoint_scratch = 0;          ///< of a column
  int most_streams = 0;                                    ///< of a bundle
  int tasks = 0;                                           ///< bundles x samples
  Array<int> bundle_client, bundle_begin, bundle_streams;  ///< [bundles], [bundles + 1], streams of the bundles
  Array<int> client_tasks;                                 ///< [clients + 1] first task
  Array<int> task_bundle, task_sample;                     ///< [tasks]
  Array<Index> task_gradient;                              ///< [tasks] offset of partial sums [weights()]
  Array<double> memory;                                    ///< [problem_slot][stride] states
  Array<double> hidden;         ///< [problem_slot][gates] their hidden parts; the adjoint by them as adjoint() goes
  Array<double> point_adjoint;  ///< [problem_point][back] by those of the point's slot
  Array<double> gradient;       ///< partial sums of the bundles
  SlotPoints points;

  /// Of a slot its state and its hidden parts, of a point what it passes back.
  KOKKOS_INLINE_FUNCTION double* state(Index slot) const { return memory.data() + slot * stride; }
  KOKKOS_INLINE_FUNCTION double* hidden_parts(Index slot) const { return hidden.data() + slot * gates; }
  KOKKOS_INLINE_FUNCTION double* passed_back(Index point) const { return point_adjoint.data() + point * back; }
};

/// Scratch of a team with a bundle of so many streams, of so many doubles a column.
KOKKOS_INLINE_FUNCTION Index bundle_scratch(int streams, Index column) {
  return streams * (column + doubles_for<Stream>(1));
}

/// A bundle for one sample: its streams that the mini-batch has, longest first. To be made by all threads together.
struct Bundle {
  int client, sample;
  Stream* streams;  ///< [count], in scratch
  int count = 0;    ///< known to every thread

  KOKKOS_INLINE_FUNCTION Bundle(const Member& member, const Batch& b, const Fields& f, const Work& k, bool batch_only,
                                Scratch& scratch)
      : streams(take<Stream>(scratch, k.most_streams)) {
    const int task = member.league_rank(), bundle = k.task_bundle(task);
    client = k.bundle_client(bundle);
    sample = k.task_sample(task);
    for (int j = k.bundle_begin(bundle); j < k.bundle_begin(bundle + 1); ++j) {
      const int stream = k.bundle_streams(j), i = b.stream_realisation(stream);
      if (batch_only && !in_mini_batch(b, f, i)) continue;
      if (count % member.team_size() == member.team_rank()) {
        const int problem = b.problem(i) + sample, slot = b.stream_slot(stream);
        streams[count] = {b.problem_slot(problem) + slot, b.slot(i) + slot,       b.problem_point(problem),
                          b.stream_token(stream),         b.stream_input(stream), b.stream_tokens(stream)};
      }
      ++count;
    }
    member.team_barrier();
  }
};

/// EncoderOperator's embed(), and adjoint() but for the sum over pieces and bundles.
void embed(const Exec& exec, const Batch& batch, const Fields& fields, const Work& work, bool batch_only);
void adjoint(const Exec& exec, const Batch& batch, const Fields& fields, const Work& work);

}  // namespace fedpp::gpu::lstm
