// fedpp predict.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "config/counted.hpp"
#include "federation/checkpoint.hpp"
#include "federation/curves.hpp"
#include "federation/futures.hpp"
#include "federation/result_file.hpp"
#include "federation/run.hpp"
#include "federation/run_state.hpp"
#include "federation/selected_state.hpp"
#include "gpu/runtime.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {

using config::counted;

namespace {

std::string count_clients(const std::vector<std::int64_t>& clients, const std::vector<std::int64_t>& left_out) {
  return counted(static_cast<std::int64_t>(clients.size() - left_out.size()), "client");
}

std::string without(const std::vector<std::int64_t>& left_out) {
  if (left_out.empty()) return "";
  return fmt::format("Not of {} {}, whose predictions fail\n", left_out.size() == 1 ? "client" : "clients",
                     fmt::join(left_out, ", "));
}

}  // namespace

int run_prediction(const config::Config& config, const PredictionRequest& request, mpi::Communicator& world) {
  if (!request.file.empty()) check_result_file(world, config, request.file, ".h5");
  for (const auto& file : {request.forecast.next_events, request.forecast.futures, request.forecast.futures_summary})
    if (!file.empty()) check_result_file(world, config, file, ".csv");
  const gpu::Runtime runtime(world.node_rank(), config::word(config.backend.dense));
  const auto header = read_header(newest_checkpoint_of(config, world), ReadFor::kResults, world);
  Session session(config, world, header.inputs);
  std::vector<std::int64_t> clients = request.clients;
  std::sort(clients.begin(), clients.end());
  clients.erase(std::unique(clients.begin(), clients.end()), clients.end());
  const bool forecast = !request.forecast.next_events.empty() || !request.forecast.futures.empty();
  std::vector<std::int64_t> forecast_clients = clients;
  for (std::int64_t c = 0; request.clients.empty() && c < session.clients(); ++c) {
    if (c < config.evaluation.curve_clients) clients.push_back(c);
    forecast_clients.push_back(c);
  }
  mpi::together(world, [&] {
    if (forecast) check_forecast(session, request.forecast);
  });
  const auto past = sequences_past(session, forecast_clients, request.forecast);
  const RunState state = read_checkpoint(session, header, ReadFor::kResults);
  const SelectedState selected(session, state, request.state);
  Progress progress(world, config.output.progress);
  const auto unpredictable = request.clients.empty() ? Unpredictable::kLeftOut : Unpredictable::kRefused;
  if (!request.file.empty()) {
    const auto left_out = write_curves(session, selected, clients, unpredictable, {}, {}, request.file, progress);
    if (world.is_root())
      fmt::print("Intensities of {} written to {}\n{}", count_clients(clients, left_out), request.file,
                 without(left_out));
  }
  if (!forecast) return 0;
  const auto [cut, left_out] =
      write_forecast(session, selected.theta(), forecast_clients, unpredictable, request.forecast, progress);
  if (!world.is_root()) return 0;
  for (const auto& [what, file] :
       {std::pair{"Next events", request.forecast.next_events}, std::pair{"Futures", request.forecast.futures},
        std::pair{"Numbers of events in the futures", request.forecast.futures_summary}})
    if (!file.empty()) fmt::print("{} of {} written to {}\n", what, count_clients(forecast_clients, left_out), file);
  fmt::print("{}", without(left_out));
  if (past > 0)
    fmt::print("{} sequence{} observed until --until {} or longer: no futures\n", past, past == 1 ? " is" : "s are",
               request.forecast.until->text);
  if (cut > 0) fmt::print("stopped at {} events, before their end: {}\n", kMostDrawn, counted(cut, "future"));
  return 0;
}

}  // namespace fedpp::federation
