// A small federation of one rank, for tests of what sessions, scores and the server make of its clients.
#pragma once

#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "config/options.hpp"
#include "data/realisation.hpp"
#include "federation/progress.hpp"
#include "federation/run_state.hpp"
#include "federation/session.hpp"
#include "gpu/runtime.hpp"
#include "model/mixing.hpp"
#include "mpi/communicator.hpp"

namespace fedpp::test {

/// Sequences of unlike lengths in files of their own, three clients with the deep kernel of time and a constant mean
/// unless the configuration is changed.
class Federation {
 public:
  explicit Federation(const std::function<void(config::Config&)>& change = [](config::Config&) {}) {
    static const gpu::Runtime runtime(0, "auto");  // Kokkos starts once in a process
    config_.data.train = {write("train", 12, 7)};
    config_.data.clients = 3;
    config_.data.partition = config::Partition::kHomogeneous;
    config_.model.encoder = config::Encoder::kDeepKernel;
    config_.model.mean = config::PriorMean::kConstant;
    config_.model.width = 5;
    config_.model.inducing = 7;
    config_.evaluation.samples = 2;
    config_.evaluation.e_steps = 10;
    config_.evaluation.trivial_models = false;
    change(config_);
    config::settle(config_);
    session_.emplace(config_, world_);
  }
  ~Federation() {
    for (const auto& path : paths_) std::filesystem::remove(path);
  }

  /// The protocol that compares users over one window.
  static void population(config::Config& config, Federation& federation) {
    config.data.protocol = config::Protocol::kPopulation;
    config.data.realisation = config::Realisation::kPooled;
    config.data.test = {federation.write("test", 6, 8)};
  }

  std::string write(const std::string& name, int sequences, unsigned seed) {
    paths_.push_back(std::filesystem::temp_directory_path() /
                     ("fedpp_session_" + std::to_string(::getpid()) + "_" + name + ".csv"));
    std::mt19937_64 engine(seed);
    std::exponential_distribution<double> gap(0.02);
    std::ofstream file(paths_.back());
    file << "sequence,time,type\n";
    for (int sequence = 0; sequence < sequences; ++sequence) {
      double t = 1000;
      for (int event = 0; event < 15 + 2 * sequence; ++event) file << sequence << ',' << (t += gap(engine)) << ",0\n";
    }
    return paths_.back();
  }

  federation::Session& session() { return *session_; }
  federation::Progress& progress() { return progress_; }
  std::vector<std::int64_t> all() const {
    std::vector<std::int64_t> clients(static_cast<std::size_t>(session_->clients()));
    std::iota(clients.begin(), clients.end(), 0);
    return clients;
  }

  /// A state in which every client has taken part, each with a posterior of its own so many sds from the prior.
  federation::RunState started(double sds = 0.3) {
    federation::RunState state;
    state.theta = session_->initial_prior();
    for (auto& client : session_->owned()) {
      auto own = session_->initial_prior();
      for (std::size_t p = 0; p < own.mean.size(); ++p)
        own.mean[p] += sds * own.sd[p] * std::sin(static_cast<double>(p) + 5.0 * static_cast<double>(client.data.id));
      model::restart_from(client.model, own, config_.training.sd_map);
      client.model.state.started = true;
    }
    return state;
  }

 private:
  mpi::Communicator world_ = mpi::Communicator::world();
  std::vector<std::filesystem::path> paths_;
  config::Config config_;
  std::optional<federation::Session> session_;
  federation::Progress progress_{world_, false};
};

inline double events_of(const data::ClientData& client, data::Split split) {
  double events = 0;
  for (const auto& s : client.sequences) events += static_cast<double>(s.events[split].size());
  return events;
}

inline double length_of(const data::ClientData& client, data::Split split) {
  double length = 0;
  for (const auto& s : client.sequences)
    for (const auto& window : s.windows[split]) length += window.end - window.start;
  return length;
}

inline double exposure_of(const std::vector<data::Realisation>& realisations) {
  double exposure = 0;
  for (const auto& r : realisations) exposure = std::accumulate(r.node_weights.begin(), r.node_weights.end(), exposure);
  return exposure;
}

class PopulationFederation : public Federation {
 public:
  PopulationFederation() : Federation([this](config::Config& config) { population(config, *this); }) {}
};

}  // namespace fedpp::test
