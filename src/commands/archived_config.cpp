#include "commands/archived_config.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "config/error.hpp"
#include "config/read.hpp"

namespace fedpp::commands {

config::Config read_archived_config(const std::string& directory, const std::vector<std::string>& overrides) {
  const std::filesystem::path file = std::filesystem::path(directory) / "config.toml";
  if (!std::filesystem::is_regular_file(file))
    throw UserError(fmt::format("{}: no config.toml in it: name a folder that 'fedpp train' wrote", directory));
  config::Config config = config::read(file, overrides, config::Written::kByTheProgram).config;
  config.output.directory = directory;
  return config;
}

}  // namespace fedpp::commands
