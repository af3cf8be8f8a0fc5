// What the launches of the LSTM encoder share: arrays, and bundles of streams that advance together.
#pragma once

#include "gpu/history.hpp"
#include "gpu/lstm_step.hpp"
#include "gpu/pieces.hpp"

namespace fedpp::gpu::lstm {

/// The operator's arrays, copied into kernels by value.
struct Work {
  int stride = 0, gates = 0, back = 0;  ///< largest state(), gates() and back() of the batch
  Index forward_scratch = 0, adjoint_scratch = 0;
  int tasks = 0;                                   ///< bundles x samples
  Array<int> bundle_client, bundle_begin, stream;  ///< [bundles], [bundles + 1], streams of the bundles
  Array<int> client_tasks;                         ///< [clients + 1] first task
  Array<int> task_bundle, task_sample;             ///< [tasks]
  Array<Index> task_gradient;                      ///< [tasks] offset of partial sums [weights()]
  Array<int> active;                               ///< [tasks][kStepColumns] streams of the mini-batch
  Array<double> memory;                            ///< [problem_slot][stride] states
  Array<double> hidden;                            ///< [problem_slot][gates] their hidden parts
  Array<double> point_adjoint;                     ///< [problem_point][back] by those of the point's slot
  Array<double> gradient;                          ///< partial sums of the bundles
  SlotPoints points;
};

/// A bundle for one sample: its streams that the mini-batch has, longest first. To be made by all threads together.
struct Bundle {
  int client, sample;
  int* streams;   ///< [count]
  int count = 0;  ///< known to every thread

  KOKKOS_INLINE_FUNCTION Bundle(const Member& member, const Batch& b, const Fields& f, const Work& k, bool batch_only) {
    const int task = member.league_rank(), bundle = k.task_bundle(task);
    client = k.bundle_client(bundle);
    sample = k.task_sample(task);
    streams = k.active.data() + static_cast<Index>(task) * kStepColumns;
    for (int j = k.bundle_begin(bundle); j < k.bundle_begin(bundle + 1); ++j) {
      const int stream = k.stream(j);
      if (batch_only && !in_mini_batch(b, f, b.stream_realisation(stream))) continue;
      if (member.team_rank() == 0) streams[count] = stream;
      ++count;
    }
    member.team_barrier();
  }

  /// Of column c's stream after j tokens, in per-(sample, slot) arrays.
  KOKKOS_INLINE_FUNCTION Index slot(const Batch& b, Index c, int j) const {
    return b.problem_slot(b.problem(b.stream_realisation(streams[c])) + sample) + b.stream_slot(streams[c]) + j;
  }
};

/// EncoderOperator's embed(), and adjoint() but for the sum over pieces and bundles.
void embed(const Exec& exec, const Batch& batch, const Fields& fields, const Work& work, bool batch_only);
void adjoint(const Exec& exec, const Batch& batch, const Fields& fields, const Work& work);

}  // namespace fedpp::gpu::lstm
