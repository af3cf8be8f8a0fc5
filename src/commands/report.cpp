// The page is made by the Python module fedpp.report (python/): this finds a Python and the module, and becomes it.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands/built_with.hpp"
#include "commands/command.hpp"
#include "config/error.hpp"

namespace fedpp::commands {
namespace {

struct ReportOptions {
  std::string directory, file;
};

constexpr const char* kReportExamples =
    "Examples:\n"
    "  fedpp report out                     out/report.html\n"
    "  fedpp report out --out monday.html\n"
    "\n"
    "Needs a Python 3 with NumPy, h5py and Matplotlib: FEDPP_PYTHON names one, else python3 in PATH or "
    "/usr/bin/python3\n"
    "is taken, whichever has them.";

/// A run's folder may be from others, and Python and Matplotlib look into the current folder first: modules and a
/// matplotlibrc that lie there are passed over. What is missing the module names.
constexpr const char* kProgram =
    "import sys\n"
    "sys.path = [folder for folder in sys.path if folder]\n"
    "import os, runpy\n"
    "here = os.getcwd()\n"
    "os.chdir('/')\n"
    "try:\n"
    "    import h5py, matplotlib\n"
    "except ImportError:\n"
    "    pass\n"
    "os.chdir(here)\n"
    "runpy.run_module('fedpp.report', run_name='__main__', alter_sys=True)\n";

/// The folder that holds the module: beside an installed executable, or in the source tree that built it.
std::string module_folder() {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  const auto installed = self.parent_path().parent_path() / kInstalledPython;
  for (const auto& folder : {installed, std::filesystem::path(kSourcePython)})
    if (std::filesystem::exists(folder / "fedpp" / "report.py", failed)) return folder.string();
  throw UserError(
      fmt::format("the Python module of fedpp is neither in {} nor in {}: install fedpp anew (cmake --install)",
                  installed.string(), kSourcePython));
}

std::string python_with_figures() {
  if (const char* named = std::getenv("FEDPP_PYTHON")) return named;
  for (const char* python : {"python3", "/usr/bin/python3"})
    if (std::system(fmt::format("cd / && {} -c 'import h5py, matplotlib' 2>/dev/null", python).c_str()) == 0)
      return python;
  throw UserError(
      "no Python 3 with NumPy, h5py and Matplotlib: on Debian and Ubuntu apt-get install python3-matplotlib "
      "python3-h5py, elsewhere name one that has them in FEDPP_PYTHON");
}

int report(const ReportOptions& options) {
  const auto folder = module_folder();
  const char* before = std::getenv("PYTHONPATH");
  ::setenv("PYTHONPATH", (before && *before ? folder + ":" + before : folder).c_str(), 1);
  std::vector<std::string> words{python_with_figures(), "-c", kProgram, options.directory};
  if (!options.file.empty()) words.insert(words.end(), {"--out", options.file});
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  throw UserError(fmt::format("{} cannot be started: {}", words[0], std::strerror(errno)));
}

}  // namespace

void add_report(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command =
      app.add_subcommand("report", "One self-contained HTML page about a run, finished or not, with its figures");
  command->footer(kReportExamples);
  command->add_option("DIR", options->directory, "Folder that 'fedpp train' writes to")->required();
  command->add_option("--out", options->file, "The page (default: DIR/report.html)")
      ->type_name("FILE")
      ->check(not_empty);
  command->callback([options, &chosen] { chosen = [options] { return report(*options); }; });
}

}  // namespace fedpp::commands
