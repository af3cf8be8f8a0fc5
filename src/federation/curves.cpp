#include "federation/curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "data/intervals.hpp"
#include "evaluation/trivial_models.hpp"
#include "federation/curve.hpp"
#include "federation/machines_fault.hpp"
#include "federation/shared_file.hpp"
#include "io/hdf5.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {

namespace {

/// Events of one split in the curve's time: file time, or time since the sequence's start on the elapsed clock.
std::vector<double> event_times(const OwnedClient& client, const data::Clock& clock, data::Split split,
                                std::int64_t only) {
  std::vector<double> times;
  for (std::size_t s = 0; s < client.data.sequences.size(); ++s) {
    if (only >= 0 && static_cast<std::int64_t>(s) != only) continue;
    const auto& sequence = client.data.sequences[s];
    for (const double t : sequence.events[split]) times.push_back(clock.elapsed ? t - sequence.origin : t);
  }
  std::sort(times.begin(), times.end());
  return times;
}

/// Where a split's windows end in the curve's time, of every sequence shown, increasing. A split without windows ends
/// where the one before it does.
std::vector<double> ends_of(const OwnedClient& client, const data::Clock& clock, data::Split split, std::int64_t only) {
  std::vector<double> ends;
  for (std::size_t s = 0; s < client.data.sequences.size(); ++s) {
    if (only >= 0 && static_cast<std::int64_t>(s) != only) continue;
    const auto& sequence = client.data.sequences[s];
    int last = split;
    while (last > data::kTrain && sequence.windows[last].empty()) --last;
    if (sequence.windows[last].empty()) continue;
    ends.push_back(sequence.windows[last].back().end - (clock.elapsed ? sequence.origin : 0.0));
  }
  std::sort(ends.begin(), ends.end());
  return ends;
}

/// Start and end, one after the other, of the stretches between the first and the last window in which none of the
/// sequences shown is observed, in the curve's time.
std::vector<double> gaps_of(const OwnedClient& client, const data::Clock& clock, std::int64_t only) {
  std::vector<data::Interval> windows;
  for (std::size_t s = 0; s < client.data.sequences.size(); ++s) {
    if (only >= 0 && static_cast<std::int64_t>(s) != only) continue;
    const auto& sequence = client.data.sequences[s];
    const double origin = clock.elapsed ? sequence.origin : 0.0;
    for (const auto& of_split : sequence.windows)
      for (const auto& window : of_split) windows.push_back({window.start - origin, window.end - origin});
  }
  std::vector<double> gaps;
  const auto observed = data::join(std::move(windows));
  for (std::size_t i = 1; i < observed.size(); ++i) gaps.insert(gaps.end(), {observed[i - 1].end, observed[i].start});
  return gaps;
}

/// The curve, and what is drawn with it.
void write_client(const Session& session, const OwnedClient& client, const Curve& curve, io::Group group) {
  const auto& config = session.config();
  const auto& clock = session.plan().clock;
  const bool pooled = session.rules().pooled, history = session.rules().history;
  group.write("time", curve.time);
  group.write("mean", curve.mean);
  group.write("lower", curve.lower);
  group.write("median", curve.median);
  group.write("upper", curve.upper);
  const std::int64_t only = pooled && !history ? -1 : 0;
  if (config.evaluation.curve_events) {
    group.write("train_events", event_times(client, clock, data::kTrain, only));
    group.write("validation_events", event_times(client, clock, data::kValidation, only));
    group.write("test_events", event_times(client, clock, data::kTest, only));
    if (const auto gaps = gaps_of(client, clock, only); !gaps.empty())
      group.write("gaps", std::span<const double>(gaps), {gaps.size() / 2, 2});
    // They say where events are (data.split_at), and sequences that are in one split as a whole have none.
    if (session.protocol() == evaluation::Protocol::kChronological) {
      group.write("train_ends", ends_of(client, clock, data::kTrain, only));
      group.write("validation_ends", ends_of(client, clock, data::kValidation, only));
    }
  }
  if (pooled && !history && session.protocol() != evaluation::Protocol::kPublishedCode) {
    auto histogram = evaluation::fit_histogram(client.data, 50, {session.protocol(), clock.elapsed});
    std::vector<double> edges;
    for (int b = 0; b <= histogram.bins.count(); ++b) edges.push_back(histogram.bins.edge(b));
    for (int b = 0; b < histogram.bins.count(); ++b)  // beyond the training windows it is not of data
      if (!(histogram.exposure[b] > 0)) histogram.rate[b] = std::numeric_limits<double>::quiet_NaN();
    group.write("histogram_edges", edges);
    group.write("histogram_rate", histogram.rate);
  }
  group.set_attribute("unit", config.data.time_unit);
  group.set_attribute("clock", clock.elapsed ? "elapsed" : "calendar");
  std::string types;
  for (const int type : client.data.types) types += (types.empty() ? "" : " ") + std::to_string(type);
  group.set_attribute("types", types);
  if (only < 0) return;
  const auto& sequence = client.data.sequences.front();
  group.set_attribute("sequence", sequence.id);
  if (session.plan().named_sequences) group.set_attribute("sequence_name", sequence.name);
}

/// Where increments are, by the upper edges of the calibration bins that have any: the share up to there as a quantile
/// of Exp(1). Those in the last bin, which has no edge above, are counted.
void write_quantiles(const std::vector<std::int64_t>& uniforms, io::File& file) {
  const auto total = std::accumulate(uniforms.begin(), uniforms.end(), std::int64_t{0});
  std::int64_t below = 0;
  if (total == 0) return;
  std::vector<double> observed, expected;
  for (std::size_t b = 0; b + 1 < uniforms.size(); ++b) {
    below += uniforms[b];
    if (uniforms[b] == 0) continue;
    observed.push_back(-std::log1p(-static_cast<double>(b + 1) / static_cast<double>(uniforms.size())));
    expected.push_back(-std::log1p(-static_cast<double>(below) / static_cast<double>(total + 1)));
  }
  io::Group group = file.create_group("calibration");
  group.write("observed", observed);
  group.write("expected", expected);
  group.set_attribute("increments", total);
  group.set_attribute("beyond", uniforms.back());
}

void write_graph(const Communities& graph, io::File& file) {
  const std::size_t k = graph.clients.size();
  if (k == 0) return;
  io::Group group = file.create_group("graph");
  group.write("clients", graph.clients);
  group.write("community", std::vector<std::int64_t>(graph.partition.begin(), graph.partition.end()));
  group.write("weights", std::span<const double>(graph.weights), {k, k});
}

/// Collective.
void write_file(Session& session, const SelectedState& state, const std::map<std::int64_t, Curve>& curves,
                const std::vector<std::int64_t>& uniforms, const Communities& graph, const std::string& path) {
  auto& world = session.world();
  io::PartialFile partial = begin_shared_file(world, path);
  mpi::in_turn(world, [&] {
    io::File file = world.is_root() ? io::File::create(partial) : io::File::open_append(partial);
    for (const auto& [c, curve] : curves)
      write_client(session, session.owned(c), curve, file.create_group(fmt::format("curves/client_{:06d}", c)));
    if (world.is_root()) {
      file.set_attribute("state", std::string(config::word(state.which())));
      file.set_attribute("scored_round", state.rounds());
      write_quantiles(uniforms, file);
      write_graph(graph, file);
    }
    file.close();
  });
  mpi::on_root(world, [&] { partial.commit(); });
}

}  // namespace

std::vector<std::int64_t> write_curves(Session& session, const SelectedState& state,
                                       const std::vector<std::int64_t>& clients, Unpredictable unpredictable,
                                       const std::vector<std::int64_t>& uniforms, const Communities& graph,
                                       const std::string& path, Progress& progress) {
  std::map<std::int64_t, Curve> curves;
  progress.pass("curves", session.owned_of(clients));
  auto left_out = for_predictable(session, clients, unpredictable, progress, [&](std::int64_t c) {
    curves[c] = intensity_curve(session, session.owned(c), state.theta());
  });
  as_the_machines_fault([&] { write_file(session, state, curves, uniforms, graph, path); });
  return left_out;
}

}  // namespace fedpp::federation
