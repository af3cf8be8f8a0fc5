// Who holds what: files, dealing, clock.
#include <cassert>
#include <unordered_set>

#include "data/catalogue.hpp"
#include "data/dataset.hpp"
#include "data/deal.hpp"
#include "data/seen_types.hpp"
#include "data/source_reader.hpp"

namespace fedpp::data {

namespace {

/// The files that the options name, in the order in which they are read, each with its table of windows.
std::vector<Source> list_sources(const config::Data& options) {
  std::vector<Source> sources;
  std::size_t named = 0;
  auto add = [&](const std::string& path, Split role, bool used) {
    Source source{path, "", role};
    if (!options.windows.empty()) source.windows = options.windows[named];
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
  assert(options.windows.empty() || options.windows.size() == named);
  return sources;
}

}  // namespace

Plan make_plan(const config::Data& options, double window, std::uint64_t seed) {
  assert(options.clock != config::Clock::kAuto);  // config::settle() has said which
  Plan plan;
  plan.options = options;
  plan.seed = seed;
  plan.origin = options.drop ? options.drop_before : 0.0;
  plan.sources = list_sources(options);
  plan.clock.elapsed = options.clock == config::Clock::kElapsed;
  plan.clock.window = window;
  if (plan.one_file_a_client()) return plan;

  read_catalogue(plan);
  plan.kept_types = keep_types(plan.extents.types, options.leave_out_types);
  deal(plan);
  return plan;
}

std::vector<std::string> client_names(const config::Data& options) {
  std::vector<std::string> names;
  if (options.partition != config::Partition::kFile) return names;
  std::unordered_set<std::string> known;  // a name is one client in all files
  for (const Source& source : list_sources(options))
    for (const std::string& name : read_meaning(source.path).names.clients)
      if (known.insert(name).second) names.push_back(name);
  return names;
}

}  // namespace fedpp::data
