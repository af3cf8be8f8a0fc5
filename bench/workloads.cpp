#include "workloads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <random>

#include "config/error.hpp"
#include "data/simulate.hpp"
#include "io/atomic_file.hpp"

namespace fedpp::bench {

namespace {

/// Lists of about ten purchases, 17 types of unlike popularity, times multiples of 1/64: as Taobao's in number and
/// ties.
std::string drawn_purchases() {
  constexpr std::array events{1600, 600,  7100, 7800,  900,  1700, 1600, 2100, 1000,
                              1300, 1900, 700,  32000, 3900, 3400, 1300, 3700};
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(0, 80);
  std::string csv = "sequence,time,type\n";
  int sequence = 0;
  for (std::size_t type = 0; type < events.size(); ++type)
    for (int list = 0; list < events[type] / 10; ++list, ++sequence) {
      std::array<double, 10> times{};
      for (double& t : times) t = std::round(64 * uniform(random)) / 64;
      std::sort(times.begin(), times.end());
      for (const double t : times) fmt::format_to(std::back_inserter(csv), "{},{},{}\n", sequence, t, type);
    }
  return csv;
}

/// Self-exciting sequences of one type with about mu window / (1 - alpha) events.
std::string drawn_sequences(int sequences, double events) {
  data::HawkesSettings settings;
  settings.alpha = 0.5;
  settings.mu = events * (1 - settings.alpha) / settings.window;
  settings.sequences = sequences;
  std::string csv = "sequence,time,type\n";
  for (const auto& s : data::simulate_hawkes(settings, 1))
    for (const double t : s.times) fmt::format_to(std::back_inserter(csv), "{},{},0\n", s.id, t);
  return csv;
}

void purchases(config::Config& config, const std::string& folder) {
  auto& d = config.data;
  const char* shared = std::getenv("FEDPP_SHARED");
  const std::string real = shared ? std::string(shared) + "/data/taobao_fedpp/" : "";
  d.protocol = config::Protocol::kPublishedCode;
  d.realisation = config::Realisation::kPooled;
  d.types_per_client = 4;
  d.deal = false;
  if (shared && std::filesystem::exists(real + "train.csv.gz")) {
    d.train = {real + "train.csv.gz"};
    d.validation = {real + "dev.csv.gz"};
    d.test = {real + "test.csv.gz"};
    d.drop = true;
    d.drop_before = 151150;
  } else {
    const std::string file = folder + "/events.csv";
    io::write_file(file, drawn_purchases());
    d.train = d.validation = d.test = {file};
  }
}

}  // namespace

config::Config make_workload(char name, const std::string& folder, std::int64_t clients) {
  config::Config config;
  config.output.directory = folder + "/out";
  config.output.progress = false;
  config.federation.participants = 0;
  config.federation.rounds = 5;
  config.federation.validate_every = 5;
  config.evaluation.curve_clients = 0;
  config.data.partition = config::Partition::kHomogeneous;
  config.model.encoder = config::Encoder::kDeepKernel;
  config.model.mean = config::PriorMean::kConstant;
  const auto clients_or = [&](std::int64_t own) { return config.data.clients = clients > 0 ? clients : own; };
  const auto draw = [&](std::int64_t sequences_each, double events) {
    const std::string file = folder + "/events.csv";
    io::write_file(file, drawn_sequences(static_cast<int>(config.data.clients * sequences_each), events));
    config.data.train = {file};
  };
  switch (name) {
    case 'a':
      clients_or(20);
      config.data.partition = config::Partition::kHeterogeneous;
      purchases(config, folder);
      break;
    case 'b':
      clients_or(20);
      draw(100, 100);
      config.model.inducing = 32;
      config.training.samples = 8;
      break;
    case 'c':
      clients_or(200);
      draw(5, 100);
      config.data.realisation = config::Realisation::kPooled;
      config.model.encoder = config::Encoder::kLstm;
      config.model.time_input = true;
      config.federation.participants = std::max<std::int64_t>(1, config.data.clients / 10);
      break;
    case 'd':
      clients_or(2'000);
      draw(3, 50);
      config.data.realisation = config::Realisation::kPooled;
      config.model.inducing = 32;
      break;
    default:
      throw UserError(fmt::format("workload '{}': there are a, b, c and d", name));
  }
  config::settle(config);  // as in a run on the files
  return config;
}

}  // namespace fedpp::bench
