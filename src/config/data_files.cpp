#include "config/data_files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "config/client_pattern.hpp"

namespace fedpp::config {
namespace {

/// Why a data file cannot be read; "" where it can. A pipe is not opened: that would wait for its writer.
std::string unreadable(const std::string& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored))
    return fmt::format("\"{}\" is a folder: name the data file in it", file);
  if (std::filesystem::is_fifo(file, ignored))
    return fmt::format("\"{}\" is a pipe: data are read several times, name a file", file);
  errno = 0;
  return std::ifstream(file) ? "" : fmt::format("cannot open \"{}\": {}", file, std::strerror(errno));
}

/// A key with where its value was given.
std::string place_of(const Origins& origins, const std::string& name) {
  const auto origin = origins.find(name);
  return (origin == origins.end() ? "" : origin->second + ": ") + name;
}

}  // namespace

void check_data_files(const Config& config, const Origins& origins) {
  std::vector<std::string> mistakes;
  std::map<std::tuple<std::string, dev_t, ino_t>, std::string> events;  // files by what they are
  const auto check_new = [&](std::string_view group, const std::string& where, const std::string& file) {
    struct stat status{};
    if (::stat(file.c_str(), &status) != 0) return;
    const auto [earlier, is_new] = events.emplace(std::tuple(std::string(group), status.st_dev, status.st_ino), file);
    if (!is_new)
      mistakes.push_back(
          fmt::format("{}: \"{}\" is the same file as \"{}\": name each file once", where, file, earlier->second));
  };
  const auto check = [&](const std::string& name, const std::vector<std::string>& files) {
    const std::string where = place_of(origins, name);
    for (const std::string& file : files) {
      if (const std::string why = unreadable(file); !why.empty()) {
        std::error_code ignored;
        mistakes.push_back(fmt::format("{}: {}{}", where, why,
                                       std::filesystem::exists(file, ignored)
                                           ? ""
                                           : ": check the path (relative ones start at the configuration file's "
                                             "folder, with --set at the current folder)"));
      } else if (name != "data.windows") {
        check_new(list_group(config.data, name), where, file);
      }
    }
  };
  if (!config.data.client_files.empty()) return;  // patterns: only the rank that owns a client opens its files
  check("data.train", config.data.train);
  check("data.validation", config.data.validation);
  check("data.test", config.data.test);
  check("data.windows", config.data.windows);
  throw_if_any(mistakes);
}

void check_client_files(const Config& config, const Origins& origins) {
  std::vector<std::string> mistakes;
  const auto check = [&](const std::string& name, const std::string& pattern) {
    std::string first;  // why
    std::int64_t missing = 0;
    for (std::int64_t c = 0; c < config.data.clients; ++c) {
      const std::string why = unreadable(expand_client(pattern, c));
      if (!why.empty() && missing++ == 0) first = why;
    }
    if (missing == 0) return;
    mistakes.push_back(
        fmt::format("{}: {} (missing for {} of data.clients = {}): check the pattern, or bring the files here",
                    place_of(origins, name), first, missing, config.data.clients));
  };
  if (config.data.client_files.empty()) return;
  check("data.client_files", config.data.client_files);
  for (const auto& [name, patterns] :
       {std::pair("data.validation", &config.data.validation), std::pair("data.test", &config.data.test),
        std::pair("data.windows", &config.data.windows)})
    for (const std::string& pattern : *patterns) check(name, pattern);
  throw_if_any(mistakes);
}

}  // namespace fedpp::config
