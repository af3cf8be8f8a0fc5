// Random draws of an epoch: the samples of w and the mini-batches (theory 1.6). Counter-based: keyed by seed, global
// client number, round, epoch, step and what the numbers are for.
#include "gpu/kernels.hpp"
#include "gpu/launch_scratch.hpp"
#include "gpu/precision.hpp"
#include "gpu/team.hpp"

namespace fedpp::gpu {

namespace {

/// 16 bits of the epoch (config::kMostEpochs), 12 of the step (model::mini_batches()).
KOKKOS_INLINE_FUNCTION Philox::Counter block(const DrawKey& key, DrawPurpose purpose, std::int64_t client,
                                             std::uint32_t index) {
  return random_bits(key.seed, purpose, index, static_cast<std::uint32_t>(client), key.round,
                     (key.epoch << 12) | key.step);
}

/// A random key for each of `count` realisations or tiles, the same in all steps of an epoch. Ends with a barrier.
KOKKOS_INLINE_FUNCTION void draw_keys(const Member& member, DrawKey key, DrawPurpose purpose, std::int64_t client,
                                      std::uint32_t stream, int count, std::uint64_t* keys) {
  key.step = 0;
  team_for(member, count, [=](Index j) {
    keys[j] = Philox::bits64(block(key, purpose, client, (stream << 16) + static_cast<std::uint32_t>(j)), 0);
  });
  member.team_barrier();
}

/// Rank of `index` by the keys: a random permutation without a sort.
KOKKOS_INLINE_FUNCTION int rank_of(const std::uint64_t* keys, int index, int count) {
  const std::uint64_t own = keys[index];
  int rank = 0;
  for (int j = 0; j < index; ++j) rank += keys[j] <= own;
  for (int j = index + 1; j < count; ++j) rank += keys[j] < own;
  return rank;
}

// Per team: a key for each of a client's realisations, or of a realisation's tiles.
KOKKOS_INLINE_FUNCTION Index realisation_keys_scratch(const Batch& b) { return b.most_realisations; }
KOKKOS_INLINE_FUNCTION Index tile_keys_scratch(const Batch& b) { return b.most_tiles; }

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

void add_selection_scratch(const Batch& batch, ScratchWanted& wanted) {
  wanted.launch(batch.clients, realisation_keys_scratch(batch));
  wanted.launch(static_cast<Index>(batch.realisations) * slabs(batch.most_tiles), tile_keys_scratch(batch));
}

void select_batch(const Exec& exec, const Batch& b, const Fields& f, const DrawKey& key, int realisations,
                  double points) {
  Kokkos::parallel_for(  // by client, for one without realisations takes part, too
      "fedpp::weights::select_realisations"_label, team_policy(exec, b.clients, realisation_keys_scratch(b)),
      FEDPP_KERNEL(const Member& member) {
        const int client = member.league_rank();
        const int begin = b.client_realisations(client), count = b.client_realisations(client + 1) - begin;
        const int blocks = parts(count, realisations), slices = point_parts(points);
        const int step = static_cast<int>(key.step), wanted = step / slices;
        const bool taken = step < blocks * slices;
        if (member.team_rank() == 0) f.step_taken(client) = static_cast<int>(taken);
        const int size = blocks == 1 ? count : realisations;
        const int in_block = wanted == blocks - 1 ? count - size * (blocks - 1) : size;
        double* scale = f.realisation_scale.data() + begin;
        Scratch scratch(member, realisation_keys_scratch(b));
        auto* keys = take<std::uint64_t>(scratch, count);
        if (blocks > 1) draw_keys(member, key, DrawPurpose::kRealisations, f.client_id(client), 0, count, keys);
        team_for(member, count, [=](Index i) {
          const int rank = blocks == 1 ? 0 : rank_of(keys, static_cast<int>(i), count);
          const bool chosen = taken && rank / size == wanted;
          scale[i] = chosen ? static_cast<double>(count) / in_block : 0;
        });
      });
  const int parts = slabs(b.most_tiles);
  Kokkos::parallel_for(
      "fedpp::weights::select_tiles"_label, team_policy(exec, b.realisations * parts, tile_keys_scratch(b)),
      FEDPP_KERNEL(const Member& member) {
        const int i = member.league_rank() / parts, slab = member.league_rank() % parts;
        const int client = b.client(i), tile_begin = b.tile_begin(i), tiles = b.tile_begin(i + 1) - tile_begin;
        if (slab * kSlab >= tiles) return;
        const double share = f.realisation_scale(i);
        const int slices = point_parts(points);
        const int used = slices < tiles ? slices : tiles;  // a realisation of fewer tiles than slices gives one a slice
        const int wanted = static_cast<int>(key.step) % slices % used;
        double* scale = f.tile_scale.data() + tile_begin;
        Scratch scratch(member, tile_keys_scratch(b));
        auto* keys = take<std::uint64_t>(scratch, tiles);
        if (share != 0 && used > 1)
          draw_keys(member, key, DrawPurpose::kTiles, f.client_id(client),
                    static_cast<std::uint32_t>(i - b.client_realisations(client)) + 1, tiles, keys);
        team_for_slab(member, slab, tiles, [=](Index t) {
          const bool chosen = share != 0 && (used == 1 || rank_of(keys, static_cast<int>(t), tiles) % used == wanted);
          const int in_slice = (tiles - wanted + used - 1) / used;
          scale[t] = chosen ? share * (used == 1 ? 1.0 : static_cast<double>(tiles) / in_slice) : 0;
        });
      });
}

}  // namespace fedpp::gpu
