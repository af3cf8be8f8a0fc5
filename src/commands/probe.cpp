#include <memory>
#include <string>

#include "commands/command.hpp"
#include "commands/parallel.hpp"
#include "federation/run.hpp"

namespace fedpp::commands {
namespace {

struct ProbeOptions {
  std::string case_file, result_file;
};

constexpr const char* kFooter =
    "Every intermediate is written, so that the numbers can be checked from outside: for a new GPU, compiler or "
    "library.\n"
    "A malformed case gives exit code 2 and a line naming it; the others are still written. Layout: docs/probe.md\n"
    "\n"
    "Example:\n"
    "  fedpp probe case.h5 --out result.h5";

int probe(const ProbeOptions& options) {
  return run_parallel(
      [&](mpi::Communicator& world) { return federation::run_probe(options.case_file, options.result_file, world); });
}

}  // namespace

void add_probe(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<ProbeOptions>();
  CLI::App* command = app.add_subcommand("probe", "Evaluate given cases with the kernels that training uses");
  command->footer(kFooter);
  command->add_option("CASE", options->case_file, "HDF5 file, one group at the root a case")->required();
  command->add_option("--out", options->result_file, "HDF5 file to write, with the same groups")
      ->type_name("FILE.h5")
      ->required()
      ->check(not_empty);
  command->callback([options, &chosen] { chosen = [options] { return probe(*options); }; });
}

}  // namespace fedpp::commands
