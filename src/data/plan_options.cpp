#include "data/plan_options.hpp"

#include <fmt/format.h>

#include <cmath>

#include "config/error.hpp"

namespace fedpp::data {
namespace {

bool is_chronological(const config::Data& options) { return options.protocol == config::Protocol::kChronological; }

void check_numbers(const config::Data& options) {
  if (options.clients < 1)
    throw UserError(fmt::format("data.clients = {}: at least one client is needed", options.clients));
  if (options.types_per_client < 1)
    throw UserError(
        fmt::format("data.types_per_client = {}: a client sees at least one type", options.types_per_client));
  if (!(options.local_fraction > 0 && options.local_fraction <= 1))
    throw UserError(fmt::format("data.local_fraction = {}: choose a share in (0, 1]", options.local_fraction));
  if (!std::isfinite(options.drop_before))
    throw UserError(fmt::format("data.drop_before = {}: a finite time is needed", options.drop_before));
}

/// Whether the clock and the realisations are ones that the protocol scores.
void check_protocol(const config::Data& options) {
  if (is_chronological(options)) return;
  if (options.realisation != config::Realisation::kPooled)
    throw UserError(
        fmt::format("data.realisation = '{}' with data.protocol = '{}': the streams scored are other users' than "
                    "those learned from, so they must share one intensity: set data.realisation = \"pooled\"",
                    config::word(options.realisation), config::word(options.protocol)));
  if (options.clock == config::Clock::kElapsed)
    throw UserError(
        fmt::format("data.clock = 'elapsed' with data.protocol = '{}': its streams share one window of file time: "
                    "set data.clock = \"calendar\" or \"auto\"",
                    config::word(options.protocol)));
}

void check_one_file_a_client(const config::Data& options) {
  if (!options.train.empty()) throw UserError("data.train and data.client_files exclude each other: leave one empty");
  if (options.client_files.find("{client}") == std::string::npos)
    throw UserError(
        fmt::format("data.client_files = '{}': put {{client}} where the client's number (from 0) stands in the "
                    "file's name",
                    options.client_files));
  for (const auto* list : {&options.validation, &options.test, &options.windows})
    for (const std::string& path : *list)
      if (path.find("{client}") == std::string::npos)
        throw UserError(
            fmt::format("'{}' in data.validation, data.test or data.windows: with data.client_files every client has "
                        "its own files, so put {{client}} into the name",
                        path));
  if (!is_chronological(options) && options.test.empty())
    throw UserError(
        fmt::format("data.test names no file: data.protocol = '{}' with data.client_files needs a pattern with "
                    "{{client}} for every client's test sequences",
                    config::word(options.protocol)));
}

void check_common_files(const config::Data& options) {
  if (options.train.empty())
    throw UserError("data.train names no file: give at least one, or data.client_files, one file a client");
  if (!is_chronological(options) && options.test.empty())
    throw UserError(fmt::format("data.test names no file: data.protocol = '{}' scores streams that are not trained on",
                                config::word(options.protocol)));
}

}  // namespace

void check_options(const config::Data& options) {
  check_numbers(options);
  check_protocol(options);
  if (options.client_files.empty())
    check_common_files(options);
  else
    check_one_file_a_client(options);
}

std::vector<Source> list_sources(const config::Data& options) {
  std::vector<Source> sources;
  std::size_t named = 0;
  auto add = [&](const std::string& path, Split role, bool used) {
    Source source{path, "", role};
    if (!options.windows.empty() && named < options.windows.size()) source.windows = options.windows[named];
    ++named;
    if (used) sources.push_back(source);
  };
  if (options.client_files.empty())
    for (const std::string& path : options.train) add(path, kTrain, true);
  else
    add(options.client_files, kTrain, true);
  for (const std::string& path : options.validation)
    add(path, kValidation, options.protocol != config::Protocol::kPopulation);
  for (const std::string& path : options.test) add(path, kTest, true);
  if (!options.windows.empty() && options.windows.size() != named)
    throw UserError(
        fmt::format("data.windows names {} tables for {} data files: give one for each training, validation and "
                    "test file in that order, or none",
                    options.windows.size(), named));
  return sources;
}

}  // namespace fedpp::data
