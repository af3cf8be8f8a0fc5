#include "federation/next_events.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>

#include "federation/scoring.hpp"
#include "federation/stop_signal.hpp"
#include "gpu/runtime.hpp"
#include "model/batch_memory.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {

namespace {

constexpr double kHorizonInLongestGaps = 4;
constexpr std::array kHeldOut{data::kValidation, data::kTest};
constexpr std::size_t kPredictors = 5;

std::array<std::string, kPredictors> predictors(const std::string& ours) {
  return {ours + ", expectation", ours + ", median", "mean gap", "median gap", "Hawkes, exponential"};
}

std::vector<data::Realisation> streams_of(const Session& session, const OwnedClient& client) {
  static constexpr std::array<data::Split, 3> every{data::kTrain, data::kValidation, data::kTest};
  auto whole = data::make_realisations(client.data, session.rules(), every, 1.0);
  std::vector<data::Realisation> streams(whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) streams[i].streams = std::move(whole[i].streams);
  return streams;
}

/// The grid in the file's unit of time.
evaluation::GapGrid in_file_unit(evaluation::GapGrid grid, double scale) {
  for (auto* values : {&grid.edges, &grid.nodes, &grid.weights})
    for (double& value : *values) value /= scale;
  return grid;
}

}  // namespace

evaluation::GapGrid next_event_grid(Session& session) {
  const auto& clock = session.plan().clock;
  struct Gaps {
    data::GapSums sums;
    double longest = 0;
  };
  std::vector<Gaps> mine;
  for (const auto& client : session.owned()) {
    Gaps gaps{data::gap_sums(client.data, clock)};
    for (const auto& step : evaluation::gap_steps(client.data, data::kTrain))
      gaps.longest = std::max(gaps.longest, step.gap * clock.scale);
    mine.push_back(gaps);
  }
  data::GapSums total;
  double longest = 0;
  for (const auto& gaps : session.share(mine, "extents")) {
    total.count += gaps.sums.count;
    total.sum += gaps.sums.sum;
    total.squares += gaps.sums.squares;
    longest = std::max(longest, gaps.longest);
  }
  if (!(longest > 0)) longest = clock.window;  // every client's training events are at one time
  return evaluation::gap_grid(data::gap_scale(total).floor(), kHorizonInLongestGaps * longest, evaluation::kGapCells);
}

namespace {

/// Bytes of the work space that a batch of starts has.
double batch_bytes(const config::Config& config) { return 1e6 * gpu::workspace_mb(config.backend.workspace_mb); }

}  // namespace

NextEventReader::NextEventReader(const Session& session, const OwnedClient& client, model::Client fitted,
                                 const model::Priors& theta, const evaluation::GapGrid& grid)
    : grid_(grid),
      pooled_(session.rules().pooled),
      history_(session.rules().history),
      budget_(batch_bytes(session.config())),
      samples_(static_cast<int>(session.config().evaluation.samples)),
      fitted_(std::move(fitted)),
      streams_(streams_of(session, client)),
      posterior_({&fitted_}, theta, band_options(session.config()),
                 model::on_averages(fitted_, band_options(session.config()))) {}

data::Stream NextEventReader::history(std::size_t sequence) const {
  const auto& streams = streams_[realisation(sequence)].streams;
  return history_ ? streams[pooled_ ? sequence : 0] : data::Stream{};
}

std::vector<evaluation::NextEvent> NextEventReader::after(const std::vector<GapStart>& starts,
                                                          const GapDraws& draws) const {
  // Starts of one draw each go by the sample of the weights that it is of, which their batch is then read under alone.
  const auto sample_of = [&](std::size_t k) { return draws.count == 1 ? starts[k].first_draw % samples_ : 0; };
  std::vector<std::size_t> order(starts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, sample_of);
  std::vector<std::optional<evaluation::NextEvent>> found(starts.size());
  for (std::size_t first = 0, last; first < starts.size(); first = last) {
    auto asked = streams_;
    model::DrawsWanted wanted{draws.seed, draws.count, {}};
    wanted.first.resize(asked.size());
    std::vector<std::pair<std::size_t, std::size_t>> at;  // realisation and first node of each start
    double used = 0;
    for (last = first; last < starts.size(); ++last) {
      const auto& start = starts[order[last]];
      used += model::drawn_bytes(fitted_, samples_, grid_.nodes.size(), draws.count, start.path);
      if (last > first && (used > budget_ || sample_of(order[last]) != sample_of(order[first]))) break;
      const std::size_t i = realisation(start.sequence);
      auto& r = asked[i];
      at.emplace_back(i, r.nodes.size());
      for (const double gap : grid_.nodes) r.nodes.push_back(start.from + gap);
      r.node_weights.resize(r.nodes.size(), 1.0);
      wanted.first[i].resize(r.nodes.size(), start.first_draw);
      if (!history_) continue;
      int stream = pooled_ ? static_cast<int>(start.sequence) : 0;
      if (start.path != nullptr) {
        stream = static_cast<int>(r.streams.size());
        r.streams.push_back(*start.path);
      }
      const int before = static_cast<int>(std::min(start.before, r.streams[stream].times.size()));
      r.node_history.resize(r.nodes.size(), {stream, before});
    }
    const auto read = posterior_.drawn(asked, wanted);
    for (std::size_t k = 0; k < at.size(); ++k) {
      const auto& [i, node] = at[k];
      found[order[first + k]].emplace(
          grid_, std::span(read[i]).subspan(node * draws.count, grid_.nodes.size() * draws.count), draws.count);
    }
  }
  std::vector<evaluation::NextEvent> result;
  result.reserve(starts.size());
  for (auto& next : found) result.push_back(std::move(*next));
  return result;
}

namespace {

// Of a client and split: steps, then squares and absolutes.
constexpr std::size_t kClientSums = 1 + 2 * kPredictors;

/// Collective. Of all honest clients' training steps, file unit; NaN without any.
double mean_gap(Session& session) {
  std::vector<double> gaps, counts;
  for (const auto& client : session.owned()) {
    const auto typical = evaluation::typical_gap(client.data);
    if (typical.count == 0 || session.hostile(client.data.id)) continue;
    gaps.push_back(typical.mean * typical.count);
    counts.push_back(typical.count);
  }
  return session.exact_total(gaps, "scores") / session.exact_total(counts, "scores");
}

}  // namespace

std::vector<double> next_event_error_sums(const Session& session, const OwnedClient& client, const model::Priors& theta,
                                          const evaluation::GapGrid& grid, double mean_gap) {
  const auto& clock = session.plan().clock;
  const NextEventReader reader(session, client, scoring_client(session, client, data::kTest), theta, grid);
  auto typical = evaluation::typical_gap(client.data);
  if (typical.count == 0) typical.mean = typical.median = mean_gap;
  std::vector<double> sums;
  for (const auto split : kHeldOut) {
    const auto steps = evaluation::gap_steps(client.data, split);
    std::vector<GapStart> starts;
    for (const auto& step : steps)
      starts.push_back(
          {step.sequence, step.before, data::to_model(clock, client.data.sequences[step.sequence], step.previous)});
    const auto ours = reader.after(starts, {session.seed()});
    const auto hawkes = evaluation::hawkes_gaps(client.data, steps, in_file_unit(grid, clock.scale));
    std::array<evaluation::GapErrors, kPredictors> errors{};
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::array<double, kPredictors> predicted{ours[i].expectation() / clock.scale,
                                                      ours[i].quantile(0.5) / clock.scale, typical.mean, typical.median,
                                                      hawkes[i]};
      for (std::size_t p = 0; p < predicted.size(); ++p) errors[p].add(predicted[p], steps[i].gap);
    }
    sums.push_back(static_cast<double>(steps.size()));
    for (const auto& e : errors) sums.insert(sums.end(), {e.squares, e.absolute});
  }
  return sums;
}

double next_event_bytes(const Session& session, const OwnedClient& client, const evaluation::GapGrid& grid) {
  const int samples = static_cast<int>(session.config().evaluation.samples), draws = GapDraws{}.count;
  const auto streams = streams_of(session, client);
  const model::ClientPoints training{&client.model, &client.model.training}, history{&client.model, &streams};
  std::size_t starts = 0;
  for (const auto split : kHeldOut) starts = std::max(starts, evaluation::gap_steps(client.data, split).size());
  const auto all = static_cast<double>(starts) * model::drawn_bytes(client.model, samples, grid.nodes.size(), draws);
  return model::array_bytes({&training, 1}, {.samples = samples}) +
         model::array_bytes({&history, 1}, {.samples = samples}) + std::min(all, batch_bytes(session.config()));
}

evaluation::GapTable next_event_errors(Session& session, const model::Priors& theta, const std::string& ours,
                                       Progress& progress) {
  const auto grid = next_event_grid(session);
  const double typical = mean_gap(session);
  std::vector<double> mine;
  std::int64_t cut = 0;
  progress.pass("next events", session.owned().size());
  mpi::together(session.world(), [&] {
    for (const auto& client : session.owned()) {
      stop_if_asked();
      std::vector<double> sums(kHeldOut.size() * kClientSums, 0.0);
      try {
        sums = next_event_error_sums(session, client, theta, grid, typical);
      } catch (const model::PredictionError&) {  // TestResult::unscored names it
      }
      mine.insert(mine.end(), sums.begin(), sums.end());
      if (evaluation::cuts_gaps(client.data)) cut = 1;
      progress.step();
    }
  });
  const auto all = session.share(mine, kHeldOut.size() * kClientSums, "scores");
  evaluation::GapTable table;
  table.unit = session.config().data.time_unit;
  table.horizon = grid.horizon() / session.plan().clock.scale;
  table.cut = session.world().allreduce(cut, mpi::Op::max, "scores") > 0;
  for (const auto& name : predictors(ours)) table.rows.push_back({name, {}});
  for (std::int64_t c = 0; c < session.clients(); ++c) {
    if (session.hostile(c)) continue;
    for (std::size_t split = 0; split < kHeldOut.size(); ++split) {
      const std::size_t at = (static_cast<std::size_t>(c) * kHeldOut.size() + split) * kClientSums;
      table.events[split] += all[at];
      for (std::size_t p = 0; p < kPredictors; ++p) {
        table.rows[p].errors[split].squares += all[at + 1 + 2 * p];
        table.rows[p].errors[split].absolute += all[at + 2 + 2 * p];
      }
    }
  }
  return table;
}

}  // namespace fedpp::federation
