// Event-centric alignment (GLECC; theory 2.5): a client's objective loses
//   strength mean_s (1/E) sum_e |sum_i a_i (h_i - g_i)| / sum_i a_i
// i: its events of type e, h_i: their embeddings under its sample w = r + delta eps, g_i: under the received model's
// sample mu + sigma eps with the same noise, so that it is zero where the two distributions agree; a_i: how many there
// are at a column, times the scale of the tile in the mini-batch. E counts the types that the mini-batch has.
#pragma once

#include <vector>

#include "gpu/cost.hpp"
#include "gpu/encoder_operator.hpp"
#include "gpu/kernels.hpp"

namespace fedpp::gpu {

/// The types of the events at a batch's columns.
struct Marks {
  std::vector<Index> begin{0};  ///< [column + 1]
  std::vector<int> type;        ///< 0 .. E - 1, a client's own numbers
  std::vector<double> count;
};

struct Alignment {
  // [client]
  Array<double> strength;  ///< constant while the epochs run
  Array<int> types;        ///< E of all its events
  Array<Index> pulls;      ///< offset in pull
  Array<double> value;     ///< of the term at the last step (adjoint)
  // marks
  Array<Index> mark_begin;  // [column + 1]
  Array<int> mark_type;
  Array<double> mark_count;
  // the received model
  Array<double> mean, sd;  // [posterior]
  Array<double> weights;   // [weights]
  // sums over a task's marks [D + 1 x E]: of the embeddings, and in the last row of the counts (received_sums: 0)
  Array<Index> sums;  // [task] offset
  Array<double> own_sums, received_sums;
  Array<double> pull;               // [D + 1 x E] of each (client, sample): -d term/d h of an event
  Array<double> embedding_adjoint;  // [embedding] dJ/dh of all columns, where the fields have it for a chunk at a time
};

/// \param types E of each client  \param received_mean, received_sd [posterior]  \param strength [client]
Alignment make_alignment(const Batch& batch, const Marks& marks, const std::vector<int>& types,
                         const std::vector<double>& received_mean, const std::vector<double>& received_sd,
                         const std::vector<double>& strength);

/// Doubles that make_alignment allocates for a realisation (an upper bound), as field_doubles.
Index alignment_doubles(const ClientExtent& client, const RealisationExtent& realisation, Index types, Index marks);

/// received_sums, from the noise that `key` draws; fields.embedding and the encoder's work space are overwritten, so
/// the client's own embed() comes after. Tiles with tile_scale = 0 are skipped where `batch_only`.
void embed_received(const Exec& exec, const Batch& batch, const Fields& fields, EncoderOperator& encoder,
                    const Alignment& alignment, const DrawKey& key, bool batch_only = false);

/// Takes the term's gradient by the columns' embeddings off fields.embedding_adjoint; value. A part of adjoint().
void align(const Exec& exec, const Batch& batch, const Fields& fields, const Alignment& alignment);

/// Of a step: the received model's embedding, sums of both and the pull. `marks`: of the realisation.
Cost alignment_cost(const ClientExtent& client, const RealisationExtent& realisation, double marks);

}  // namespace fedpp::gpu
