// fedpp_workload NAME FOLDER [CLIENTS]: a fixed workload as files, for other programs: run.toml and the data that it
// names (for fedpp itself), clients.json (for bench/peer: the realisations that the clients train on, the initial
// prior).
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "config/dump.hpp"
#include "federation/session.hpp"
#include "gpu/runtime.hpp"
#include "io/atomic_file.hpp"
#include "mpi/environment.hpp"
#include "workloads.hpp"

namespace {

using namespace fedpp;

nlohmann::json to_json(const data::Realisation& r, const model::InducingPoints& z) {
  return {{"events", r.events},
          {"multiplicities", r.multiplicities},
          {"nodes", r.nodes},
          {"node_weights", r.node_weights},
          {"inducing", z.times}};
}

void write(char name, const std::string& folder, std::int64_t clients) {
  mpi::Communicator world = mpi::Communicator::world();
  const gpu::Runtime runtime(0, "auto");
  const auto config = bench::make_workload(name, folder, clients);
  io::write_file(folder + "/run.toml", config::dump(config));
  if (config::reads_history(config.model)) return;  // the peer has no encoder of histories
  federation::Session session(config, world);
  nlohmann::json all = nlohmann::json::array();
  for (const auto& owned : session.owned()) {
    nlohmann::json client = nlohmann::json::array();
    for (std::size_t i = 0; i < owned.model.training.size(); ++i)
      client.push_back(to_json(owned.model.training[i], owned.model.inducing[i]));
    all.push_back({{"rate", owned.model.state.rate}, {"realisations", client}});
  }
  const nlohmann::json content{{"window", config.model.window},
                               {"jitter", config.model.jitter},
                               {"width", config.model.width},
                               {"samples", config.training.samples},
                               {"epochs", config.training.epochs},
                               {"learning_rate", config.training.learning_rate},
                               {"prior_mean", session.initial_prior().mean},
                               {"prior_sd", session.initial_prior().sd},
                               {"clients", all}};
  io::write_json(folder + "/clients.json", content);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4 || argv[1][0] == '\0' || argv[1][1] != '\0') {
    std::fputs("usage: fedpp_workload a|b|c|d FOLDER [CLIENTS]\n", stderr);
    return 2;
  }
  mpi::Environment environment(argc, argv);
  return environment.guard([&] {
    std::filesystem::create_directories(argv[2]);
    write(argv[1][0], std::filesystem::absolute(argv[2]).string(), argc > 3 ? std::atoll(argv[3]) : 0);
    return 0;
  });
}
