#include "data/sources.hpp"

#include <cassert>

namespace fedpp::data {

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

}  // namespace fedpp::data
