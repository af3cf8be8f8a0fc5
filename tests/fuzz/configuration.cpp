// Configuration files and --set: a first line "--set section.key=value" is taken as an override.
#include "config/dump.hpp"
#include "config/error.hpp"
#include "config/read.hpp"
#include "input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fedpp;
  std::string text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> overrides;
  if (const std::string mark = "--set "; text.starts_with(mark)) {
    const auto end = std::min(text.find('\n'), text.size());
    overrides.push_back(text.substr(mark.size(), end - mark.size()));
    text.erase(0, end);
  }
  try {
    const auto config = config::read_text(text, "run.toml", "/deck", overrides).config;
    const std::string dumped = config::dump(config);
    fuzz::promise(config::dump(config::read_text(dumped, "again", "/").config) == dumped,
                  "a dump reads back as it was");
  } catch (const UserError& error) {
    fuzz::promise(*error.what() != '\0', "an error has a text");
  }
  return 0;
}
