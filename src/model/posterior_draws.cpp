// Joint draws of the intensity (theory 1.8): the table of v, nu and log m is made here, the kernel reads it at points.
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <optional>
#include <span>

#include "gpu/drawn_intensity.hpp"
#include "gpu/fields.hpp"
#include "model/draw_keys.hpp"
#include "model/fitted_posterior.hpp"

namespace fedpp::model {

namespace {

constexpr std::uint32_t kOfTheClient = 0xFFFFFFFFu;  // in the place of a realisation's number

/// The standard normals of a client's draws.
class Normals {
 public:
  Normals(std::uint64_t seed, std::int64_t client) : key_(key_of(seed, ClientDraws::kPosterior, client)) {}

  gpu::Philox::NormalPair pair(std::int64_t draw, std::uint32_t realisation, std::uint32_t index) const {
    const auto number = static_cast<std::uint64_t>(draw);
    return gpu::Philox::normals(gpu::Philox::block(
        {{index, realisation, static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32)}}, key_));
  }

 private:
  gpu::Philox::Key key_;
};

/// gpu::Draws' table on the host.
struct Table {
  std::vector<int> first_row;  ///< of each point
  std::vector<int> sample;
  std::vector<gpu::Index> vector;
  std::vector<double> v, unexplained, offset_shift, rate_shift;
};

/// v = mu_v + F'z of a draw, z standard normal, into the table.
void append_v(const Normals& normals, std::int64_t draw, std::uint32_t realisation, std::span<const double> mean,
              const double* factor, Table& table) {
  const std::size_t m = mean.size();
  table.vector.push_back(static_cast<gpu::Index>(table.v.size()));
  const auto begin = table.v.size();
  table.v.insert(table.v.end(), mean.begin(), mean.end());
  for (std::size_t r = 0; r < m; r += 2) {
    const auto z = normals.pair(draw, realisation, static_cast<std::uint32_t>(r / 2));
    for (std::size_t j = 0; j <= r; ++j) table.v[begin + j] += factor[r + j * m] * z.first;  // F is lower
    if (r + 1 == m) break;
    for (std::size_t j = 0; j <= r + 1; ++j) table.v[begin + j] += factor[r + 1 + j * m] * z.second;
  }
  table.unexplained.push_back(normals.pair(draw, realisation, static_cast<std::uint32_t>((m + 1) / 2)).first);
}

/// Without E-steps nothing is known of nu and m beyond their values.
LevelUncertainty known_level(const ClientBatch& trained) {
  const gpu::Array<double> none("no_direction", trained.fields().v_mean.extent(0));
  return {{none, none}, {{0, 0, 0}}};
}

/// The draws that are wanted at the points of the only client, each once.
Table table_of(const LatentPosterior::Fitted& fitted, const LevelUncertainty& level, const DrawsWanted& wanted) {
  const Client& client = *fitted.clients.front();
  const auto& [nn, nm, mm] = level.covariance.front();
  const double offset_sd = std::sqrt(nn), shared = offset_sd > 0 ? nm / offset_sd : 0;
  const double rate_sd = std::sqrt(std::max(mm - shared * shared, 0.0));
  const Normals normals(wanted.seed, client.id);
  Table table;
  std::size_t vector = 0, square = 0;
  for (std::size_t i = 0; i < wanted.first.size(); ++i) {
    const std::size_t m = client.inducing[i].times.size();
    std::map<std::int64_t, int> rows;  // where those that begin with a draw are
    for (const std::int64_t first : wanted.first[i]) {
      const auto [known, is_new] = rows.emplace(first, static_cast<int>(table.sample.size()));
      table.first_row.push_back(known->second);
      for (std::int64_t draw = first; is_new && draw < first + wanted.count; ++draw) {
        const auto of_client = normals.pair(draw, kOfTheClient, 0);
        table.sample.push_back(static_cast<int>(draw % fitted.options.samples));
        table.offset_shift.push_back(offset_sd * of_client.first);
        table.rate_shift.push_back(shared * of_client.first + rate_sd * of_client.second);
        append_v(normals, draw, static_cast<std::uint32_t>(i), std::span(fitted.v_mean).subspan(vector, m),
                 fitted.v_factor.data() + square, table);
      }
    }
    vector += m;
    square += m * m;
  }
  return table;
}

/// The sample of the weights that all draws are of, where there is one: no other need be read.
std::optional<int> only_sample(const Table& table) {
  const bool alike = !table.sample.empty() &&
                     std::ranges::all_of(table.sample, [&](int sample) { return sample == table.sample.front(); });
  return alike ? std::optional(table.sample.front()) : std::nullopt;
}

gpu::Draws on_device(const Table& table, const LevelUncertainty& level, int count) {
  gpu::Draws draws;
  draws.count = count;
  draws.first_row = gpu::to_device<int>("first_row", table.first_row);
  draws.sample = gpu::to_device<int>("draw_sample", table.sample);
  draws.vector = gpu::to_device<gpu::Index>("draw_vector", table.vector);
  draws.v = gpu::to_device<double>("draw_v", table.v);
  draws.unexplained = gpu::to_device<double>("draw_unexplained", table.unexplained);
  draws.offset_shift = gpu::to_device<double>("draw_offset", table.offset_shift);
  draws.rate_shift = gpu::to_device<double>("draw_rate", table.rate_shift);
  draws.offset_direction = level.direction[0];
  draws.rate_direction = level.direction[1];
  return draws;
}

}  // namespace

double drawn_bytes(const Client& client, int samples, std::size_t points, int draws, const data::Stream* history) {
  const gpu::ClientExtent sizes{samples, client.embedding.encoder};
  const gpu::RealisationExtent none{0, static_cast<int>(client.inducing.front().times.size()), 0, {}};
  gpu::RealisationExtent extent = none;
  extent.columns = static_cast<int>(points);
  if (history != nullptr) extent.streams = {static_cast<int>(history->times.size())};
  const auto fields = gpu::field_doubles(sizes, extent, false) - gpu::field_doubles(sizes, none, false);
  return sizeof(double) * (static_cast<double>(points) * draws + static_cast<double>(fields));
}

std::vector<std::vector<double>> LatentPosterior::drawn(const std::vector<data::Realisation>& points,
                                                        const DrawsWanted& wanted) const {
  const auto& fitted = *fitted_;
  assert(fitted.clients.size() == 1 && fitted.options.bands && wanted.first.size() == points.size());
  const LevelUncertainty level = fitted.level ? *fitted.level : known_level(*fitted.trained);
  Table table = table_of(fitted, level, wanted);
  const auto sample = only_sample(table);
  if (sample) std::ranges::fill(table.sample, 0);  // the batch's only one
  const gpu::Draws draws = on_device(table, level, wanted.count);
  const auto [batch, fields] = read_points(fitted, {{fitted.clients.front(), &points}}, sample);
  const gpu::Array<double> intensity("drawn_intensity", draws.first_row.size() * wanted.count);
  gpu::drawn_intensity(fitted.exec, batch.batch(), fields, draws, intensity);
  fitted.exec.fence();
  std::vector<double> all;
  gpu::to_host(intensity, all);
  if (!std::all_of(all.begin(), all.end(), [](double x) { return std::isfinite(x); }))
    throw PredictionError(fmt::format(
        "client {}: a drawn intensity is not finite; the posterior of the weights is beyond what numbers hold",
        fitted.clients.front()->id));
  std::vector<std::vector<double>> result;
  auto at = all.begin();
  for (const auto& first : wanted.first) {
    const auto end = at + static_cast<std::ptrdiff_t>(first.size() * wanted.count);
    result.emplace_back(at, end);
    at = end;
  }
  return result;
}

}  // namespace fedpp::model
