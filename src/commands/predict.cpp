#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "commands/archived_config.hpp"
#include "commands/command.hpp"
#include "commands/parallel.hpp"
#include "config/date.hpp"
#include "data/dataset.hpp"
#include "federation/run.hpp"
#include "io/number.hpp"

namespace fedpp::commands {
namespace {

struct PredictOptions {
  std::string directory;
  std::vector<std::string> overrides;
  std::vector<std::string> clients;
  federation::PredictionRequest request;
  bool next_events = false;
  std::optional<std::string> until;
};

constexpr const char* kPredictExamples =
    "Examples:\n"
    "  fedpp predict out\n"
    "  fedpp predict out --clients 0,3,8-11 --set evaluation.curve_points=1000 --out curves.h5\n"
    "  fedpp predict out --next-events                       when each sequence goes on: out/next_events.csv\n"
    "  fedpp predict out --futures 100 --horizon 24          100 futures of each sequence: out/futures.csv";

/// A number as --until has it; nothing where it is none.
std::optional<double> number_of(std::string_view text) {
  const auto value = io::number<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

/// The time of the file that --until names.
federation::NamedTime end_time(const std::string& text, const config::Data& data) {
  if (const auto number = number_of(text)) return {*number, text};
  if (const auto time = config::time_of(config::parse_date(text).value(), data.time_origin, data.time_unit))
    return {*time, text};
  throw UserError(
      fmt::format("--until {}: the run does not know the date of the file's time 0: give it and the unit, as --set "
                  "data.time_origin=2019-03-01 --set data.time_unit=hour, or a time of the file",
                  text));
}

void check_until(const std::string& text) {
  const auto date = config::parse_date(text);
  if (date && date->offset)
    throw UsageError(
        fmt::format("--until {}: write the date by the clock of data.time_origin, without Z or a distance", text));
  if (!date && !number_of(text))
    throw UsageError(fmt::format(
        "--until {}: is neither a time of the file nor a date that exists, as 2019-03-01 or 2019-03-01T06:30:00",
        text));
}

void check_futures(const federation::ForecastRequest& forecast, const std::optional<std::string>& until, bool asked) {
  const bool ends = until || forecast.horizon;
  if (asked && forecast.paths < 1) throw UsageError(fmt::format("--futures {}: must be at least 1", forecast.paths));
  if (asked && until.has_value() == forecast.horizon.has_value())
    throw UsageError(fmt::format("--futures {}: give either --until or --horizon, so that they end", forecast.paths));
  if (!asked && ends) throw UsageError("--until and --horizon end the futures of --futures N: give it as well");
  if (!asked && forecast.seed) throw UsageError("--seed draws the futures of --futures N: give it as well");
  if (forecast.horizon && !(*forecast.horizon > 0 && std::isfinite(*forecast.horizon)))
    throw UsageError(fmt::format("--horizon {}: must be above 0 and finite", *forecast.horizon));
  if (until) check_until(*until);
}

/// The clients that "0", "8-11", "all" or a name means. \param names of all clients, where the data have any
std::vector<std::int64_t> clients_of(const std::string& text, std::int64_t count,
                                     const std::vector<std::string>& names) {
  const auto number = [](std::string_view digits) { return io::whole_number(digits).value_or(-1); };
  const std::size_t dash = text.find('-');
  std::int64_t first = number(std::string_view(text).substr(0, dash));
  std::int64_t last = dash == std::string::npos ? first : number(std::string_view(text).substr(dash + 1));
  if (text == "all") first = 0, last = count - 1;
  const bool numbers = 0 <= first && first <= last;
  const std::int64_t named = std::ranges::find(names, text) - names.begin();
  if (named < std::ssize(names)) {
    if (numbers && last < count && (first != named || last != named))
      throw UserError(fmt::format(
          "--clients {0}: client {1} has this name, but by number it is client{2} {0}: write {1}-{1} for the name, {3} "
          "for the number{2}",
          text, named, first == last ? "" : "s",
          first == last || text == "all" ? fmt::format("{}-{}", first, last)
                                         : fmt::format("{},{}-{}", first, first + 1, last)));
    return {named};
  }
  if (!numbers)
    throw UserError(fmt::format("--clients {}: name clients by number as 0,3,7, as 8-11, or all{}", text,
                                names.empty() ? "" : ", or by a name that 'fedpp info' of the data shows"));
  if (last >= count) throw UserError(fmt::format("--clients {}: there are clients 0 to {}", text, count - 1));
  std::vector<std::int64_t> clients;
  for (std::int64_t c = first; c <= last; ++c) clients.push_back(c);
  return clients;
}

/// Those that all the texts mean.
std::vector<std::int64_t> clients_of(const std::vector<std::string>& texts, const config::Data& data) {
  std::vector<std::int64_t> clients;
  const auto names = texts.empty() ? std::vector<std::string>{} : data::client_names(data);
  for (const auto& text : texts)
    for (const auto client : clients_of(text, data.clients, names)) clients.push_back(client);
  return clients;
}

/// Tables go into DIR, or beside the curves under their name; curves that nobody asked for replace no others.
void name_files(PredictOptions& options, const std::string& directory) {
  auto& request = options.request;
  const auto table = [&](const char* name) {
    return request.file.empty() ? directory + "/" + name
                                : std::filesystem::path(request.file).replace_extension(name).string();
  };
  if (options.next_events) request.forecast.next_events = table("next_events.csv");
  if (request.forecast.paths > 0) {
    request.forecast.futures = table("futures.csv");
    request.forecast.futures_summary = table("futures_summary.csv");
  }
  const bool tables = options.next_events || request.forecast.paths > 0;
  if (request.file.empty() && !tables) request.file = directory + "/prediction.h5";
}

int predict(PredictOptions options) {
  return run_parallel([&](mpi::Communicator& world) {
    const config::Config config = read_on_rank_0(world, [&] {
      const auto archived = read_archived_config(options.directory, options.overrides);
      clients_of(options.clients, archived.data);  // once, before the others go on
      if (options.until) end_time(*options.until, archived.data);
      return archived;
    });
    if (options.until) options.request.forecast.until = end_time(*options.until, config.data);
    options.request.clients = clients_of(options.clients, config.data);
    name_files(options, config.output.directory);
    return federation::run_prediction(config, options.request, world);
  });
}

}  // namespace

void add_predict(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<PredictOptions>();
  CLI::App* command = app.add_subcommand(
      "predict", "Write intensity curves with 5, 50 and 95 % bands to HDF5; when sequences go on, to CSV");
  command->footer(kPredictExamples);
  command->add_option("DIR", options->directory, "Folder that 'fedpp train' wrote")->required();
  command
      ->add_option(
          "--clients", options->clients,
          "Clients, from 0, as 0,3,8-11 or all, or by names in the data that have no comma (default: curves of the "
          "first evaluation.curve_clients, the rest of all)")
      ->type_name("C,C-C,...")
      ->delimiter(',');
  add_state_option(*command, options->request.state, "The round with the best validation score, or the last one");
  command
      ->add_option("--out", options->request.file,
                   "Curves, HDF5 (default: DIR/prediction.h5, or none where a table is asked for); tables go beside "
                   "them")
      ->type_name("FILE.h5")
      ->check(not_empty);
  auto& forecast = options->request.forecast;
  command->add_flag("--next-events", options->next_events,
                    "Expected time and quantiles of the next event of every sequence, to DIR/next_events.csv (--out "
                    "FILE.h5: FILE.next_events.csv)");
  CLI::Option* futures =
      command
          ->add_option("--futures", forecast.paths,
                       "Draw N futures of every sequence, to DIR/futures.csv, and how many events they have, to "
                       "DIR/futures_summary.csv (--out FILE.h5: FILE.futures.csv, FILE.futures_summary.csv)")
          ->type_name("N")
          ->transform(as_decimal);
  command
      ->add_option("--until", options->until,
                   "Futures end at time T of the file, or at a date, as 2019-03-01T06:30 (with data.time_origin)")
      ->type_name("T|DATE");
  command->add_option("--horizon", forecast.horizon, "Futures end H after their sequence's end")->type_name("H");
  command->add_option("--seed", forecast.seed, "Draw other futures (default: federation.seed)")
      ->type_name("N")
      ->transform(as_seed);
  add_set_option(*command, options->overrides);
  command->callback([options, futures, &chosen] {
    check_futures(options->request.forecast, options->until, futures->count() > 0);
    chosen = [options] { return predict(*options); };
  });
}

}  // namespace fedpp::commands
