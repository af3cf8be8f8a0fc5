// fedpp evaluate.
#include <fmt/format.h>

#include "config/dump.hpp"
#include "config/version.hpp"
#include "federation/checkpoint.hpp"
#include "federation/machines_fault.hpp"
#include "federation/result_file.hpp"
#include "federation/run.hpp"
#include "federation/state_scores.hpp"
#include "gpu/runtime.hpp"
#include "io/atomic_file.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {

int run_evaluation(const config::Config& config, const EvaluationRequest& request, mpi::Communicator& world) {
  const std::string path = request.file.empty() ? config.output.directory + "/evaluation.json" : request.file;
  check_result_file(world, config, path, ".json");
  const gpu::Runtime runtime(world.node_rank(), config::word(config.backend.dense));
  const auto header = read_header(newest_checkpoint_of(config, world), ReadFor::kResults, world);
  Session session(config, world, header.inputs);
  const RunState state = read_checkpoint(session, header, ReadFor::kResults);
  Progress progress(world, config.output.progress);
  const auto scores = score_states(session, state, request.state, progress);
  as_the_machines_fault([&] {
    mpi::on_root(world, [&] {
      nlohmann::json json = scores.json;
      json["config"] = config::to_json(config);
      json["version"] = version();
      json["git"] = revision();
      io::write_json(path, json);
      fmt::print("{}\nWritten to {}\n", scores.table, path);
    });
  });
  return 0;
}

}  // namespace fedpp::federation
