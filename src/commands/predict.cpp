#include "commands/predict.hpp"

#include <memory>
#include <string>
#include <vector>

#include "commands/archived_config.hpp"
#include "commands/parallel.hpp"
#include "federation/run.hpp"

namespace fedpp::commands {
namespace {

struct PredictOptions {
  std::string directory;
  std::vector<std::string> overrides;
  federation::PredictionRequest request;
};

constexpr const char* kExamples =
    "Examples:\n"
    "  fedpp predict out\n"
    "  fedpp predict out --clients 0,3,7 --set evaluation.curve_points=1000 --out curves.h5";

int predict(const PredictOptions& options) {
  return run_parallel([&](mpi::Communicator& world) {
    const config::Config config =
        read_on_rank_0(world, [&] { return read_archived_config(options.directory, options.overrides); });
    return federation::run_prediction(config, options.request, world);
  });
}

}  // namespace

void add_predict(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<PredictOptions>();
  CLI::App* command = app.add_subcommand("predict", "Write intensity curves with 5, 50 and 95 % bands to HDF5");
  command->footer(kExamples);
  command->add_option("DIR", options->directory, "Folder that 'fedpp train' wrote")->required();
  command
      ->add_option("--clients", options->request.clients,
                   "Clients, from 0 (default: the first evaluation.curve_clients)")
      ->type_name("C,C,...")
      ->delimiter(',');
  command->add_option("--state", options->request.state, "The round with the best validation score, or the last one")
      ->check(CLI::IsMember({"best", "last"}))
      ->capture_default_str();
  command->add_option("--out", options->request.file, "Result file (default: DIR/prediction.h5)")
      ->type_name("FILE")
      ->check(not_empty);
  add_set_option(*command, options->overrides);
  command->callback([options, &chosen] { chosen = [options] { return predict(*options); }; });
}

}  // namespace fedpp::commands
