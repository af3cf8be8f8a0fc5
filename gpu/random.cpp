// Random draws of an epoch: the samples of w and the mini-batches (spec 1.6). Counter-based: keyed by seed, global
// client number, round, epoch, step and what the numbers are for.
#include "gpu/kernels.hpp"
#include "gpu/team.hpp"

namespace fedpp::gpu {

namespace {

/// 16 bits of the epoch (config::kMostEpochs), 12 of the step (model::mini_batches()).
KOKKOS_INLINE_FUNCTION Philox::Counter block(const DrawKey& key, DrawPurpose purpose, std::int64_t client,
                                             std::uint32_t index) {
  return random_bits(key.seed, purpose, index, static_cast<std::uint32_t>(client), key.round,
                     (key.epoch << 12) | key.step);
}

/// Rank of `index` among `count` by random keys: a random permutation without a sort, for the few members of a
/// mini-batch.
KOKKOS_INLINE_FUNCTION int random_rank(const DrawKey& key, DrawPurpose purpose, std::int64_t client,
                                       std::uint32_t stream, int index, int count) {
  DrawKey whole_epoch = key;
  whole_epoch.step = 0;
  const auto draw = [&](int j) {
    return Philox::bits64(block(whole_epoch, purpose, client, (stream << 16) + static_cast<std::uint32_t>(j)), 0);
  };
  const std::uint64_t own = draw(index);
  int rank = 0;
  for (int j = 0; j < count; ++j) {
    const std::uint64_t other = draw(j);
    rank += other < own || (other == own && j < index);
  }
  return rank;
}

KOKKOS_INLINE_FUNCTION int parts(int whole, int part) {
  return part <= 0 || part >= whole ? 1 : (whole + part - 1) / part;
}

KOKKOS_INLINE_FUNCTION int point_parts(double points) {
  return points >= 1 ? 1 : static_cast<int>(math::fmin(1 / points + 0.999999, 1e9));  // more fit no counter
}

}  // namespace

void draw_weights(const Exec& exec, const Batch& b, const Fields& f, const DrawKey& key, DrawPurpose purpose) {
  const int parts = slabs((static_cast<Index>(b.most_samples) * b.most_parameters + 1) / 2);  // of pairs
  Kokkos::parallel_for(
      "fedpp::weights::draw"_label, team_policy(exec, b.clients * parts), FEDPP_KERNEL(const Member& member) {
        const int client = member.league_rank() / parts, slab = member.league_rank() % parts;
        const int p = b.parameters(client);
        const Index n = static_cast<Index>(b.samples(client)) * p;
        const double* mean = f.mean.data() + b.posterior(client);
        const double* sd = f.sd.data() + b.posterior(client);
        double* noise = f.noise.data() + b.weights(client);
        double* w = f.weights.data() + b.weights(client);
        team_for_slab(member, slab, (n + 1) / 2, [&](Index pair) {
          const auto normals =
              Philox::normals(block(key, purpose, f.client_id(client), static_cast<std::uint32_t>(pair)));
          const Index at = 2 * pair;
          noise[at] = normals.first;
          w[at] = mean[at % p] + sd[at % p] * normals.first;
          if (at + 1 < n) {
            noise[at + 1] = normals.second;
            w[at + 1] = mean[(at + 1) % p] + sd[(at + 1) % p] * normals.second;
          }
        });
      });
}

Index steps_in_epoch(int client_realisations, int realisations, double points) {
  return static_cast<Index>(parts(client_realisations, realisations)) * point_parts(points);
}

void select_batch(const Exec& exec, const Batch& b, const Fields& f, const DrawKey& key, int realisations,
                  double points) {
  Kokkos::parallel_for(  // apart, for a client without realisations takes part, too
      "fedpp::weights::select_clients"_label, Kokkos::RangePolicy<Exec>(exec, 0, b.clients),
      FEDPP_KERNEL(const int client) {
        const int count = b.client_realisations(client + 1) - b.client_realisations(client);
        f.step_taken(client) = static_cast<int>(key.step) < parts(count, realisations) * point_parts(points);
      });
  Kokkos::parallel_for(
      "fedpp::weights::select_batch"_label, team_policy(exec, b.realisations), FEDPP_KERNEL(const Member& member) {
        const int i = member.league_rank();
        const int client = b.client(i);
        const int begin = b.client_realisations(client), count = b.client_realisations(client + 1) - begin;
        const int blocks = parts(count, realisations), slices = point_parts(points);
        const int step = static_cast<int>(key.step);
        const bool taken = f.step_taken(client) != 0;
        const int block_wanted = step / slices, slice_wanted = step % slices;
        const int size = blocks == 1 ? count : realisations;
        const int rank =
            blocks == 1 ? 0 : random_rank(key, DrawPurpose::kRealisations, f.client_id(client), 0, i - begin, count);
        const bool chosen = taken && rank / size == block_wanted;
        const int in_block = block_wanted == blocks - 1 ? count - size * (blocks - 1) : size;
        const int tile_begin = b.tile_begin(i), tiles = b.tile_begin(i + 1) - tile_begin;
        const int used = slices < tiles ? slices : tiles;  // a realisation of fewer tiles than slices gives one a slice
        team_for(member, tiles, [&](Index t) {
          double scale = 0;
          if (chosen) {
            const int tile_rank =
                used == 1 ? 0
                          : random_rank(key, DrawPurpose::kTiles, f.client_id(client),
                                        static_cast<std::uint32_t>(i - begin) + 1, static_cast<int>(t), tiles);
            if (tile_rank % used == slice_wanted % used) {
              const int in_slice = (tiles - slice_wanted % used + used - 1) / used;
              scale =
                  (static_cast<double>(count) / in_block) * (used == 1 ? 1.0 : static_cast<double>(tiles) / in_slice);
            }
          }
          f.tile_scale(tile_begin + t) = scale;
        });
      });
}

}  // namespace fedpp::gpu
