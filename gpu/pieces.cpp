#include "gpu/pieces.hpp"

#include "gpu/team.hpp"

namespace fedpp::gpu {

void sum_gradients(const Exec& exec, const Batch& b, const Fields& f, EncoderKind kind, const Array<int>& task_begin,
                   const Array<Index>& task_offset, const Array<double>& partial) {
  const int parts = slabs(b.most_weights), samples_at_most = b.most_samples;
  Kokkos::parallel_for(
      "fedpp::encoder::sum_gradients"_label, team_policy(exec, b.clients * samples_at_most * parts),
      FEDPP_KERNEL(const Member& member) {
        const int slab = member.league_rank() % parts, sample = member.league_rank() / parts % samples_at_most;
        const int client = member.league_rank() / parts / samples_at_most;
        const Encoder& encoder = b.encoder(client);
        const int samples = b.samples(client);
        if (encoder.kind != kind || sample >= samples || f.step_taken(client) == 0) return;
        const Index weights = encoder.weights, begin = slab * kSlab;
        const int pieces = b.client_pieces(client + 1) - b.client_pieces(client);
        const int first = task_begin.extent(0) > 0 ? task_begin(client) : 0;
        const int further = task_begin.extent(0) > 0 ? (task_begin(client + 1) - first) / samples : 0;
        const auto part = [&](int k) -> const double* {
          if (k >= pieces) return partial.data() + task_offset(first + (k - pieces) * samples + sample);
          const int piece = b.client_pieces(client) + k, tile = b.piece_tile(piece);
          if (tile >= 0 ? f.tile_scale(tile) == 0 : !set_in_mini_batch(b, f, b.piece_realisation(piece)))
            return nullptr;
          return f.piece_gradient.data() + b.piece_gradient(b.piece_task(piece) + sample);
        };
        team_add_parts(member, begin, begin + kSlab < weights ? begin + kSlab : weights, pieces + further, part,
                       f.gradient.data() + b.weights(client) + static_cast<Index>(sample) * encoder.parameters);
      });
}

}  // namespace fedpp::gpu
