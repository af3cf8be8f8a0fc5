#include "model/device_room.hpp"

#include <fmt/format.h>

#include <string>

#include "config/error.hpp"
#include "gpu/batch.hpp"

namespace fedpp::model {

namespace {

/// Bytes that a team wants at most where tiles are full and streams as many as go together.
gpu::Index team_bytes(const gpu::Encoder& encoder, const config::Training& training, int inducing) {
  const gpu::ClientExtent client{static_cast<int>(training.samples), encoder, precision_of(training.precision)};
  const int full = gpu::tile_columns();
  gpu::RealisationExtent realisation{0, inducing, full, {}};
  if (gpu::encoder_family(encoder.kind).reads_history()) realisation.streams.assign(static_cast<std::size_t>(full), 1);
  return gpu::scratch_wanted(client, {realisation}, /*with_gradient=*/true).team;
}

/// The most inducing points that fit, fewer than `too_many`; 0 where none do.
int most_inducing(const gpu::Encoder& encoder, const config::Training& training, int too_many) {
  int fit = 0;
  while (too_many - fit > 1) {
    const int middle = fit + (too_many - fit) / 2;
    (team_bytes(encoder, training, middle) <= gpu::most_team_scratch() ? fit : too_many) = middle;
  }
  return fit;
}

}  // namespace

gpu::ScratchWanted scratch_of(const ClientPoints& points, const BatchOptions& options) {
  return gpu::scratch_wanted({options.samples, points.client->embedding.encoder, options.precision}, extents_of(points),
                             options.with_gradient);
}

void check_device_room(const gpu::Encoder& encoder, const config::Config& config) {
  const auto inducing = static_cast<int>(config.model.inducing);
  const auto wanted = team_bytes(encoder, config.training, inducing), most = gpu::most_team_scratch();
  if (wanted <= most) return;
  const int fit = most_inducing(encoder, config.training, inducing);
  const std::string key = fit > 0 ? fmt::format("model.inducing = {}", inducing)
                                  : fmt::format("model.width = {}, model.layers = {}", encoder.width, encoder.layers);
  const std::string remedy =
      fit > 0 ? fmt::format("take at most {} inducing points", fit) : std::string("take a narrower encoder");
  throw UserError(fmt::format(
      "{}: a team of the local update wants {:.1f} MB of scratch, of which this device gives {:.1f} MB; {}, "
      "or a build for hosts (preset cpu), which has no such limit",
      key, 1e-6 * static_cast<double>(wanted), 1e-6 * static_cast<double>(most), remedy));
}

}  // namespace fedpp::model
