// fedpp_workload NAME FOLDER [CLIENTS]: a fixed workload as files, for other programs: run.toml and the data that it
// names (for fedpp itself), clients.json (for bench/peer: the realisations that the participants of the first round
// train on, the initial prior).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "config/dump.hpp"
#include "federation/participants.hpp"
#include "federation/session.hpp"
#include "gpu/runtime.hpp"
#include "io/atomic_file.hpp"
#include "model/client_batch.hpp"
#include "mpi/environment.hpp"
#include "workloads.hpp"

namespace {

using namespace fedpp;

/// What an encoder that reads histories sees of a realisation: the inputs of its streams' tokens; those of its points
/// (events, nodes, inducing points) and where they stand, [stream, tokens before]. Types are left out: no workload
/// embeds them.
nlohmann::json history_of(const data::Realisation& r, const model::InducingPoints& z, const model::Inputs& inputs) {
  const auto seen = [&](double t, const data::HistoryPosition& at) {
    const auto& stream = r.streams[at.stream];
    std::vector<double> x(inputs.count());
    inputs.at(t, std::max(t - (at.before > 0 ? stream.times[at.before - 1] : stream.start), 0.0), x.data());
    return x;
  };
  nlohmann::json tokens = nlohmann::json::array(), points = nlohmann::json::array(), slots = nlohmann::json::array();
  for (int s = 0; s < static_cast<int>(r.streams.size()); ++s) {
    tokens.push_back(nlohmann::json::array());
    for (int j = 0; const double t : r.streams[s].times) tokens.back().push_back(seen(t, {s, j++}));
  }
  const auto add = [&](const std::vector<double>& times, const std::vector<data::HistoryPosition>& positions) {
    for (std::size_t j = 0; j < times.size(); ++j) {
      points.push_back(seen(times[j], positions[j]));
      slots.push_back({positions[j].stream, positions[j].before});
    }
  };
  add(r.events, r.event_history);
  add(r.nodes, r.node_history);
  add(z.times, z.histories);
  return {{"tokens", tokens}, {"points", points}, {"slots", slots}};
}

nlohmann::json to_json(const data::Realisation& r, const model::InducingPoints& z, const model::Embedding& embedding) {
  nlohmann::json json{{"events", r.events},
                      {"multiplicities", r.multiplicities},
                      {"nodes", r.nodes},
                      {"node_weights", r.node_weights},
                      {"inducing", z.times}};
  if (embedding.reads_history()) json.update(history_of(r, z, embedding.inputs));
  return json;
}

void write(char name, const std::string& folder, std::int64_t clients) {
  mpi::Communicator world = mpi::Communicator::world();
  const gpu::Runtime runtime(0, "auto");
  const auto config = bench::make_workload(name, folder, clients);
  io::write_file(folder + "/run.toml", config::dump(config));
  federation::Session session(config, world);
  nlohmann::json all = nlohmann::json::array();
  double flops = 0;
  for (const auto number :
       federation::sample_participants(session.clients(), config.federation.participants, session.seed(), 0, 1)) {
    const auto& model = session.owned(number).model;
    nlohmann::json client = nlohmann::json::array();
    for (std::size_t i = 0; i < model.training.size(); ++i)
      client.push_back(to_json(model.training[i], model.inducing[i], model.embedding));
    flops += static_cast<double>(config.training.epochs) * model::epoch_cost(model, config.training.samples).flops;
    all.push_back({{"rate", model.state.rate}, {"realisations", client}});
  }
  const nlohmann::json content{{"GF", 1e-9 * flops},
                               {"window", config.model.window},
                               {"jitter", config.model.jitter},
                               {"encoder", config::word(config.model.encoder)},
                               {"width", config.model.width},
                               {"layers", config.model.layers},
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
