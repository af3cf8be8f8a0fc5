// The launches of event-centric alignment (gpu/alignment.hpp), sums in a fixed order:
//   gather  per task    sums over its marks, by type; of the received model and of the client's own
//   pulls   per client  their difference over the mini-batch's tiles, in order; its length and direction
//   align   per task    the direction, to every column that has the type
#include "gpu/alignment.hpp"

#include "gpu/encoder_operator.hpp"
#include "gpu/team.hpp"

namespace fedpp::gpu {

namespace {

/// A client's pulls for one sample [D + 1 x E].
KOKKOS_INLINE_FUNCTION Matrix<double> pulls_of(const Batch& b, const Alignment& a, int client, int sample) {
  const int rows = b.encoder(client).dimension + 1, types = a.types(client);
  return Matrix(a.pull.data() + a.pulls(client) + static_cast<Index>(sample) * rows * types, rows, types);
}

/// \param one what a mark counts in the last row
void gather(const Exec& exec, const Batch& b, const Fields& f, const Alignment& a, const Array<double>& sums,
            double one, bool batch_only) {
  Kokkos::parallel_for(
      "fedpp::alignment::gather"_label, team_policy(exec, b.tasks), FEDPP_KERNEL(const Member& member) {
        const int task = member.league_rank();
        const int tile = b.task_tile(task);
        if (batch_only && f.tile_scale(tile) == 0) return;
        const int i = b.tile_realisation(tile), client = b.client(i), first = b.tile_first(tile);
        const int d = b.encoder(client).dimension, rows = d + 1;
        const Matrix h = h_of(b, f.embedding, tile, b.task_sample(task));
        const Matrix sum(sums.data() + a.sums(task), rows, a.types(client));
        team_for(member, sum.size(), [=](Index at) { sum[at] = 0; });
        member.team_barrier();
        for (int c = 0; c < b.tile_columns(tile); ++c) {  // a row belongs to one thread throughout
          const Index column = b.column(i) + first + c;
          for (Index mark = a.mark_begin(column); mark < a.mark_begin(column + 1); ++mark) {
            const double count = a.mark_count(mark);
            const double* own = h.column(c);
            double* to = sum.column(a.mark_type(mark));
            team_for(member, rows, [=](Index r) { to[r] += count * (r < d ? own[r] : one); });
          }
        }
      });
}

void find_pulls(const Exec& exec, const Batch& b, const Fields& f, const Alignment& a) {
  Kokkos::parallel_for(
      "fedpp::alignment::pulls"_label, team_policy(exec, b.clients), FEDPP_KERNEL(const Member& member) {
        const int client = member.league_rank();
        if (f.step_taken(client) == 0) return;
        const int types = a.types(client), d = b.encoder(client).dimension;
        const int samples = b.samples(client);
        double total = 0;
        for (int s = 0; s < samples; ++s) {
          const Matrix pull = pulls_of(b, a, client, s);
          team_for(member, pull.size(), [=](Index at) { pull[at] = 0; });
          for (int tile = b.client_tiles(client); tile < b.client_tiles(client + 1); ++tile) {
            const double scale = f.tile_scale(tile);
            if (scale == 0) continue;
            const Index from = a.sums(b.tile_task(tile) + s);
            const double *own = a.own_sums.data() + from, *received = a.received_sums.data() + from;
            team_for(member, pull.size(), [=](Index at) { pull[at] += scale * (own[at] - received[at]); });
          }
          member.team_barrier();
          int present = 0;
          for (int e = 0; e < types; ++e) present += pull(d, e) > 0;
          for (int e = 0; e < types; ++e) {
            double* sum = pull.column(e);
            if (!(sum[d] > 0)) continue;
            const double length = math::sqrt(team_sum(member, d, [=](Index r) { return sum[r] * sum[r]; }));
            total += length / (sum[d] * present);
            const double factor = length > 0 ? -a.strength(client) / (present * length * sum[d]) : 0;
            team_for(member, d, [=](Index r) { sum[r] *= factor; });
          }
        }
        if (member.team_rank() == 0) a.value(client) = a.strength(client) * total / samples;
      });
}

void pull_columns(const Exec& exec, const Batch& b, const Fields& f, const Alignment& a) {
  Kokkos::parallel_for(
      "fedpp::alignment::align"_label, team_policy(exec, b.tasks), FEDPP_KERNEL(const Member& member) {
        const int task = member.league_rank();
        const int tile = b.task_tile(task), sample = b.task_sample(task);
        const double scale = f.tile_scale(tile);
        if (scale == 0) return;
        const int i = b.tile_realisation(tile), client = b.client(i), first = b.tile_first(tile);
        const Matrix pull = pulls_of(b, a, client, sample), hbar = h_of(b, f.embedding_adjoint, tile, sample);
        const Index column = b.column(i) + first;
        team_for_2d(member, hbar.rows, hbar.columns, [&](int r, int c) {
          double sum = 0;
          for (Index mark = a.mark_begin(column + c); mark < a.mark_begin(column + c + 1); ++mark)
            sum += a.mark_count(mark) * pull(r, a.mark_type(mark));
          hbar(r, c) += scale * sum;
        });
      });
}

}  // namespace

Alignment make_alignment(const Batch& batch, const Marks& marks, const std::vector<int>& types,
                         const std::vector<double>& received_mean, const std::vector<double>& received_sd,
                         const std::vector<double>& strength) {
  std::vector<int> samples, client, tile_realisation, task_tile;
  std::vector<Encoder> encoder;
  to_host(batch.samples, samples);
  to_host(batch.encoder, encoder);
  to_host(batch.client, client);
  to_host(batch.tile_realisation, tile_realisation);
  to_host(batch.task_tile, task_tile);
  const auto size = [&](int c) { return static_cast<Index>(encoder[c].dimension + 1) * types[c]; };
  std::vector<Index> pulls, sums;
  Index all_pulls = 0, all_sums = 0;
  for (int c = 0; c < batch.clients; ++c) {
    pulls.push_back(all_pulls);
    all_pulls += samples[c] * size(c);
  }
  for (int task = 0; task < batch.tasks; ++task) {
    sums.push_back(all_sums);
    all_sums += size(client[tile_realisation[task_tile[task]]]);
  }
  Alignment a;
  a.strength = to_device<double>("strength", strength);
  a.types = to_device<int>("types", types);
  a.pulls = to_device<Index>("pulls", pulls);
  a.value = Array<double>("value", batch.clients);
  a.mark_begin = to_device<Index>("mark_begin", marks.begin);
  a.mark_type = to_device<int>("mark_type", marks.type);
  a.mark_count = to_device<double>("mark_count", marks.count);
  a.mean = to_device<double>("received_mean", received_mean);
  a.sd = to_device<double>("received_sd", received_sd);
  a.weights = Array<double>("received_weights", batch.lengths.weights);
  a.sums = to_device<Index>("sums", sums);
  a.own_sums = Array<double>("own_sums", all_sums);
  a.received_sums = Array<double>("received_sums", all_sums);
  a.pull = Array<double>("pull", all_pulls);
  if (kHostBackend && batch.by_chunks)
    a.embedding_adjoint = Array<double>("embedding_adjoint", batch.lengths.embedding);
  return a;
}

Index alignment_doubles(const ClientExtent& client, const RealisationExtent& realisation, Index types, Index marks) {
  const Index tiles = (realisation.columns + tile_columns() - 1) / tile_columns();
  const Index d = client.encoder.dimension;
  return realisation.columns + 2 * marks +
         client.samples * ((2 * tiles + 1) * (d + 1) * types + d * realisation.columns);
}

void embed_received(const Exec& exec, const Batch& b, const Fields& f, EncoderOperator& encoder, const Alignment& a,
                    const DrawKey& key, bool batch_only) {
  const Region region("fedpp::alignment");
  Fields received = f;  // views of the same arrays, but for the weights
  received.mean = a.mean;
  received.sd = a.sd;
  received.weights = a.weights;
  draw_weights(exec, b, received, key);
  embed(exec, b, received, encoder, batch_only);
  gather(exec, b, received, a, a.received_sums, 0.0, batch_only);
}

void align(const Exec& exec, const Batch& b, const Fields& f, const Alignment& a) {
  const Region region("fedpp::alignment");
  gather(exec, b, f, a, a.own_sums, 1.0, true);
  find_pulls(exec, b, f, a);
  pull_columns(exec, b, f, a);
}

Cost alignment_cost(const ClientExtent& c, const RealisationExtent& r, double marks) {
  const double d = c.encoder.dimension;
  return embed_cost(c, r) + c.samples * Cost{6 * d * marks, 8 * (3 * d * r.columns + 6 * marks)};
}

}  // namespace fedpp::gpu
