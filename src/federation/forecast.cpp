#include "federation/forecast.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <span>

#include "config/counted.hpp"
#include "config/date.hpp"
#include "config/error.hpp"
#include "federation/futures.hpp"
#include "federation/machines_fault.hpp"
#include "federation/next_events.hpp"
#include "federation/scoring.hpp"
#include "federation/shared_file.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {

namespace {

constexpr std::array kQuantiles{0.05, 0.25, 0.5, 0.75, 0.95};
constexpr std::array kNextEventTimes{"observed_until", "expected", "q05", "q25", "q50", "q75", "q95"};

/// A client's rows of the files.
struct Rows {
  std::string next_events, futures, summary;
  std::int64_t cut = 0;
};

/// A field of CSV (RFC 4180): in quotes where it has to be.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
  return field + '"';
}

/// What every row says of its sequence, and their header: numbers, then names where the data files have them.
std::string sequence_fields(const data::Plan& plan, const data::ClientData& client,
                            const data::ClientSequence& sequence) {
  std::string fields = fmt::format("{},{},{}", client.id, sequence.source, sequence.id);
  if (plan.clients_of_files()) fields += "," + csv_field(plan.client_names[client.id]);
  if (plan.named_sequences) fields += "," + csv_field(sequence.name);
  return fields;
}
std::string sequence_header(const data::Plan& plan) {
  return fmt::format("client,file,sequence{}{}", plan.clients_of_files() ? ",client_name" : "",
                     plan.named_sequences ? ",sequence_name" : "");
}

/// Of a time of the file, after a comma: nothing where the run does not know the date of time 0.
std::string date_field(const config::Data& data, double time) {
  return data.time_origin.empty() ? "" : "," + config::date_at(data.time_origin, data.time_unit, time);
}

constexpr std::int64_t kMostFutures = 10'000'000;  // of a client, which are drawn together: about 2 GB

/// -inf where there is none.
double last_event(const data::ClientSequence& sequence) {
  return sequence.times.empty() ? -std::numeric_limits<double>::infinity() : sequence.times.back();
}

/// The end of a sequence: its last event, or the end of its observation where that is later. Time of the file, less the
/// plan's origin.
double end_of(const data::ClientSequence& sequence) {
  double end = last_event(sequence);
  for (const auto& windows : sequence.windows)
    if (!windows.empty()) end = std::max(end, windows.back().end);
  return end;
}

/// Of a sequence's futures: their number, mean and quantiles of their numbers of events, the share without any.
std::string summary_of(std::vector<std::size_t> counts) {
  std::sort(counts.begin(), counts.end());
  const std::size_t n = counts.size(), total = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  const auto empty = static_cast<std::size_t>(std::count(counts.begin(), counts.end(), 0U));
  const auto share = [&](std::size_t of) { return static_cast<double>(of) / static_cast<double>(n); };
  // The fewest events that at least so many per cent of the futures do not exceed.
  const auto quantile = [&](std::size_t percent) { return counts[(percent * n + 99) / 100 - 1]; };
  return fmt::format("{},{:.12g},{},{},{},{:.12g}", n, share(total), quantile(5), quantile(50), quantile(95),
                     share(empty));
}

/// What is said of one client's sequences, each from its end on.
class ClientForecast {
 public:
  ClientForecast(const Session& session, const OwnedClient& client, const model::Priors& theta,
                 const evaluation::GapGrid& grid)
      : session_(session), client_(client), reader_(session, client, forecasting_client(session, client), theta, grid) {
    for (std::size_t s = 0; s < sequences().size(); ++s)
      ends_.push_back({s, sequences()[s].times.size(),
                       data::to_model(session.plan().clock, sequences()[s], end_of(sequences()[s]))});
  }

  std::string next_events() const {
    std::string rows;
    const auto next = reader_.after(ends_, {session_.seed()});
    for (std::size_t s = 0; s < next.size(); ++s) {
      std::vector<double> times{in_file(s, ends_[s].from), in_file(s, ends_[s].from + next[s].expectation())};
      for (const double q : kQuantiles) times.push_back(in_file(s, ends_[s].from + next[s].quantile(q)));
      rows +=
          fmt::format("{},{},{}", name(s), last_event(sequences()[s]) + session_.plan().origin, fmt::join(times, ","));
      for (const double time : times) rows += date(time);
      rows += '\n';
    }
    return rows;
  }

  std::vector<FuturePath> futures(const ForecastRequest& request, Progress& progress) const {
    const auto& plan = session_.plan();
    std::vector<FuturePath> paths;
    for (std::size_t s = 0; s < sequences().size(); ++s) {
      const double from = ends_[s].from;
      const double until = request.until ? data::to_model(plan.clock, sequences()[s], request.until->time - plan.origin)
                                         : from + *request.horizon * plan.clock.scale;
      for (std::int64_t number = 0; number < request.paths; ++number)
        paths.push_back(
            {client_.data.id, s, static_cast<std::uint32_t>(number), from, until, reader_.history(s), {}, false});
    }
    const auto seed = request.seed ? static_cast<std::uint64_t>(*request.seed) : session_.seed();
    draw_futures(
        paths, seed, [&](const std::vector<GapStart>& starts) { return reader_.after(starts, {seed, 1}); },
        [&](double share) { progress.within_step(share); });
    return paths;
  }

  void add_futures(const std::vector<FuturePath>& paths, const ForecastRequest& request, Rows& rows) const {
    struct Futures {
      std::vector<std::size_t> counts;
      double until;
    };
    std::map<std::size_t, Futures> drawn_of;  // the sequences that have a future
    for (const auto& path : paths) {
      if (path.until > path.from) {
        auto& futures = drawn_of[path.sequence];
        futures.counts.push_back(path.drawn.size());
        futures.until = request.until ? request.until->time : in_file(path.sequence, path.until);
      }
      for (const double drawn : path.drawn) {
        const double time = in_file(path.sequence, drawn);
        fmt::format_to(std::back_inserter(rows.futures), "{},{},{}{}\n", name(path.sequence), path.number, time,
                       date(time));
      }
      rows.cut += path.cut ? 1 : 0;
    }
    for (const auto& [sequence, futures] : drawn_of)
      rows.summary +=
          fmt::format("{},{},{}{}\n", name(sequence), summary_of(futures.counts), futures.until, date(futures.until));
  }

 private:
  const std::vector<data::ClientSequence>& sequences() const { return client_.data.sequences; }
  double in_file(std::size_t s, double time) const {
    return data::to_file(session_.plan().clock, sequences()[s], time) + session_.plan().origin;
  }
  std::string name(std::size_t s) const { return sequence_fields(session_.plan(), client_.data, sequences()[s]); }
  std::string date(double time) const { return date_field(session_.config().data, time); }

  const Session& session_;
  const OwnedClient& client_;
  NextEventReader reader_;
  std::vector<GapStart> ends_;
};

Rows rows_of(const Session& session, const OwnedClient& client, const model::Priors& theta,
             const evaluation::GapGrid& grid, const ForecastRequest& request, Progress& progress) {
  const ClientForecast forecast(session, client, theta, grid);
  Rows rows;
  if (!request.next_events.empty()) rows.next_events = forecast.next_events();
  if (!request.futures.empty()) forecast.add_futures(forecast.futures(request, progress), request, rows);
  return rows;
}

/// Collective. The owners' texts in the order of the clients, after a header.
void write_in_order(Session& session, const std::string& path, const std::string& header,
                    const std::vector<std::int64_t>& clients, const std::map<std::int64_t, Rows>& rows,
                    std::string Rows::* text) {
  auto& world = session.world();
  io::PartialFile partial = begin_shared_file(world, path);
  mpi::on_root(world, [&] { partial.append(header); });
  for (const auto c : clients)
    mpi::together(world, [&] {
      if (const auto found = rows.find(c); found != rows.end()) partial.append(found->second.*text);
    });
  mpi::on_root(world, [&] { partial.commit(); });
}

/// Collective.
void write_files(Session& session, const std::vector<std::int64_t>& clients, const ForecastRequest& request,
                 const std::map<std::int64_t, Rows>& rows) {
  const std::string key = sequence_header(session.plan());
  const bool dates = !session.config().data.time_origin.empty();
  if (!request.next_events.empty()) {
    std::string header = key + ",last_time";
    for (const auto* column : kNextEventTimes) header += fmt::format(",{}", column);
    for (const auto* column : kNextEventTimes) header += dates ? fmt::format(",{}_date", column) : "";
    write_in_order(session, request.next_events, header + '\n', clients, rows, &Rows::next_events);
  }
  if (!request.futures.empty()) {
    write_in_order(session, request.futures, key + (dates ? ",future,time,date\n" : ",future,time\n"), clients, rows,
                   &Rows::futures);
    write_in_order(session, request.futures_summary,
                   key + (dates ? ",futures,mean,q05,q50,q95,empty,until,until_date\n"
                                : ",futures,mean,q05,q50,q95,empty,until\n"),
                   clients, rows, &Rows::summary);
  }
}

}  // namespace

void check_forecast(const Session& session, const ForecastRequest& request) {
  const auto& config = session.config();
  if (config.data.protocol != config::Protocol::kChronological)
    throw UserError(fmt::format(
        "data.protocol = \"{}\": it scores streams laid over each other; the next event of a sequence and its "
        "futures are predicted under \"chronological\" only: train with that protocol",
        config::word(config.data.protocol)));
  if (!request.futures.empty() && config.model.type_embedding > 0)
    throw UserError(fmt::format(
        "model.type_embedding = {}: the encoder reads types, but the model draws times without types, so futures "
        "cannot go on from their own events: train with model.type_embedding = 0, or ask for the next event only",
        config.model.type_embedding));
  if (request.futures.empty()) return;
  for (const auto& client : session.owned()) {
    const auto sequences = static_cast<std::int64_t>(client.data.sequences.size());
    if (request.paths > kMostFutures / std::max<std::int64_t>(sequences, 1))
      throw UserError(fmt::format(
          "--futures {}: of each of the {} of client {}: at most {} futures of a client are drawn: ask for fewer",
          request.paths, config::counted(sequences, "sequence"), client.data.id, kMostFutures));
  }
}

std::int64_t sequences_past(Session& session, const std::vector<std::int64_t>& clients,
                            const ForecastRequest& request) {
  if (!request.until) return 0;
  std::int64_t counts[] = {0, 0};  // past it, all
  double first = std::numeric_limits<double>::infinity();
  for (const auto c : clients) {
    if (!session.owns(c)) continue;
    for (const auto& sequence : session.owned(c).data.sequences) {
      const double end = end_of(sequence) + session.plan().origin;
      first = std::min(first, end);
      counts[0] += end >= request.until->time;
      ++counts[1];
    }
  }
  auto& world = session.world();
  world.allreduce(std::span<std::int64_t>(counts), mpi::Op::sum, "metrics");
  first = world.min(first, "metrics");
  const auto& data = session.config().data;
  const std::string first_date = config::date_at(data.time_origin, data.time_unit, first);
  mpi::together(world, [&] {
    if (counts[0] == counts[1])
      throw UserError(fmt::format(
          "--until {}: no sequence ends before it (the first is observed until {}), so there is no future to draw: "
          "give a later time of the file, or --horizon",
          request.until->text, first_date.empty() ? fmt::format("{}", first) : first_date));
  });
  return counts[0];
}

ForecastWritten write_forecast(Session& session, const model::Priors& theta, const std::vector<std::int64_t>& clients,
                               Unpredictable unpredictable, const ForecastRequest& request, Progress& progress) {
  const auto grid = next_event_grid(session);
  std::map<std::int64_t, Rows> rows;
  ForecastWritten written;
  progress.pass("forecasts", session.owned_of(clients));
  written.left_out = for_predictable(session, clients, unpredictable, progress, [&](std::int64_t c) {
    rows[c] = rows_of(session, session.owned(c), theta, grid, request, progress);
    written.cut += rows[c].cut;
  });
  as_the_machines_fault([&] { write_files(session, clients, request, rows); });
  written.cut = session.world().allreduce(written.cut, mpi::Op::sum, "metrics");
  return written;
}

}  // namespace fedpp::federation
