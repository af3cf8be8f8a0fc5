#include "gpu/pieces.hpp"

#include "gpu/team.hpp"

namespace fedpp::gpu {

void sum_gradients(const Exec& exec, const Batch& b, const Fields& f, EncoderKind kind, const Array<int>& task_begin,
                   const Array<Index>& task_offset, const Array<double>& partial) {
  Kokkos::parallel_for(
      "fedpp::encoder::sum_gradients"_label, team_policy(exec, b.clients), KOKKOS_LAMBDA(const Member& member) {
        const int client = member.league_rank();
        const Encoder& encoder = b.encoder(client);
        if (encoder.kind != kind || f.step_taken(client) == 0) return;
        const int samples = b.samples(client), weights = encoder.weights();
        for (int sample = 0; sample < samples; ++sample) {
          double* gradient = f.gradient.data() + b.weights(client) + static_cast<Index>(sample) * encoder.parameters();
          team_for(member, weights, [=](Index j) { gradient[j] = 0; });
          // Piece by piece, so that each is read once from front to back; a weight belongs to one thread throughout.
          for (int piece = b.client_pieces(client); piece < b.client_pieces(client + 1); ++piece) {
            const int tile = b.piece_tile(piece);
            if (tile >= 0 ? f.tile_scale(tile) == 0 : !in_mini_batch(b, f, b.piece_realisation(piece))) continue;
            const double* part = f.piece_gradient.data() + b.piece_gradient(b.piece_task(piece) + sample);
            team_for(member, weights, [=](Index j) { gradient[j] += part[j]; });
          }
          if (task_begin.extent(0) == 0) continue;
          for (int task = task_begin(client) + sample; task < task_begin(client + 1); task += samples) {
            const double* part = partial.data() + task_offset(task);
            team_for(member, weights, [=](Index j) { gradient[j] += part[j]; });
          }
        }
      });
}

}  // namespace fedpp::gpu
