// fedpp probe (docs/probe.md): given cases through the very kernels and sums of training, every intermediate written.
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <map>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "federation/aggregator.hpp"
#include "federation/probe_client_step.hpp"
#include "federation/probe_input.hpp"
#include "federation/probe_structural_entropy.hpp"
#include "federation/result_file.hpp"
#include "federation/run.hpp"
#include "gpu/runtime.hpp"
#include "io/guarded_read.hpp"
#include "io/hdf5.hpp"
#include "io/partial_file.hpp"
#include "io/shown.hpp"
#include "model/client_step.hpp"
#include "model/expected_intensities.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {

namespace {

/// Datasets of a case's answer, which is written only when all of it is there.
using Answer = std::vector<std::pair<std::string, std::vector<double>>>;

Answer aggregate(const ProbeInput& in) {
  const auto mean = in.matrix("r"), sd = in.matrix("delta");
  const auto weight = in.vector("weight", mean.rows);
  if (sd.rows != mean.rows || sd.columns != mean.columns)
    in.reject("delta", fmt::format("is {} x {}, but r is {} x {}", sd.rows, sd.columns, mean.rows, mean.columns));
  if (mean.rows == 0 || mean.columns == 0) in.reject("r", "is empty");
  double total = 0;
  for (const double w : weight) {
    if (w < 0) in.reject("weight", fmt::format("holds {}: weights are not negative", w));
    total += w;
  }
  if (!(total > 0)) in.reject("weight", "sums to 0");
  for (const double s : sd.values)
    if (!(s > 0)) in.reject("delta", fmt::format("holds {}: standard deviations are positive", s));
  const double bandwidth = in.number("bandwidth");
  if (!(bandwidth > 0)) in.reject("bandwidth", fmt::format("is {}: it must be positive", bandwidth));

  std::vector<Upload> uploads;
  for (std::size_t c = 0; c < mean.rows; ++c)
    uploads.push_back({static_cast<std::int64_t>(c), weight[c], mean.row(c), sd.row(c)});
  auto alone = mpi::Communicator::self();
  const std::size_t p = mean.columns;
  Answer answer;
  // Two words: any magnitude. The mean that the kl variance is centred on is w2's, as after a first round.
  Gaussian theta{std::vector<double>(p, 0.0), std::vector<double>(p, 1.0)};
  for (const auto rule : {Divergence::kW2, Divergence::kKl, Divergence::kFedavg, Divergence::kMmd}) {
    const std::string name(config::word(rule));
    const Aggregation result =
        Aggregator({rule, mpi::FixedPoint::two_words(), bandwidth}, alone).aggregate(theta, uploads);
    for (const auto& refused : result.rejected)
      in.reject("r",
                fmt::format("and its weights: row {} is no upload for {}: {}", refused.client, name, refused.reason));
    if (rule == Divergence::kW2) theta = result.theta;
    answer.emplace_back(name + "_mean", result.theta.mean);
    answer.emplace_back(name + "_sd", result.theta.sd);
  }
  return answer;
}

Answer predict(const ProbeInput& in) {
  const auto mean = in.vector("mean");
  const auto variance = in.vector("var", mean.size());
  const double rate = in.number("m");
  if (!(rate > 0)) in.reject("m", fmt::format("is {}: it must be positive", rate));
  for (const double v : variance)
    if (v < 0) in.reject("var", fmt::format("holds {}: variances are not negative", v));
  auto expected = model::expected_intensities(mean, variance, rate);
  return {{"expected_log_intensity", std::move(expected.log_intensity)},
          {"expected_intensity", std::move(expected.intensity)}};
}

}  // namespace

namespace {

/// Everything that a case may be asked for, in a child process. What is malformed is said when it is asked for.
void read_all(const io::File& cases) {
  const auto attempt = [](const std::function<void()>& body) {
    try {
      body();
    } catch (const io::Error&) {
    }
  };
  for (const std::string& name : cases.children())
    attempt([&] {
      if (!cases.is_group(name)) return;
      const io::Group group = cases.group(name);
      for (const std::string& number : group.attributes()) attempt([&] { group.attribute<double>(number); });
      attempt([&] { group.attribute<std::string>("what"); });
      for (const std::string& array : group.children()) attempt([&] { group.read<double>(array); });
    });
}

/// Number of malformed cases.
int answer(const std::string& case_file, const std::string& result_file, const mpi::Communicator& world) {
  const io::File cases = io::open_guarded(case_file, read_all, "; write it anew");  // forks: before a device is in use
  const gpu::Runtime runtime(world.node_rank(), "auto");
  io::PartialFile partial(result_file);
  io::File results = io::File::create(partial);
  int malformed = 0;
  const auto attempt = [&](const std::string& name, const std::function<void()>& body) {
    const auto refuse = [&](const std::exception& error) {
      fmt::print(stderr, "fedpp: probe: {}: {}\n", io::visible(name), io::visible(error.what()));
      ++malformed;
    };
    try {
      body();
    } catch (const MalformedCase& error) {
      refuse(error);
    } catch (const io::Error& error) {
      refuse(error);
    } catch (const mpi::Error& error) {  // sums that cannot hold its values
      refuse(error);
    } catch (const std::bad_alloc&) {
      refuse(MalformedCase("takes more memory than there is"));
    }
  };

  // 1. Read and check every case; those of one kind wait for each other and are evaluated as one batch.
  std::map<std::string, model::ClientStepCase> steps;
  for (const std::string& name : cases.children()) {
    attempt(name, [&] {
      if (!cases.is_group(name)) throw MalformedCase("is a dataset, not a group: every case is a group at the root");
      const ProbeInput in(cases.group(name));
      const std::string what = in.text("what");
      if (what == "client-step") {
        steps.emplace(name, read_client_step(in));
      } else if (what == "aggregate" || what == "predict") {
        const Answer answer = what == "aggregate" ? aggregate(in) : predict(in);
        io::Group out = results.create_group(name);
        for (const auto& [dataset, values] : answer) out.write(dataset, values);
      } else if (what == "structural-entropy") {
        const auto communities = communities_answer(in);
        io::Group out = results.create_group(name);
        write_communities(communities, out);
      } else {
        throw MalformedCase(fmt::format(
            "attribute 'what' is '{}': there are 'client-step', 'aggregate', 'predict' and 'structural-entropy'",
            what));
      }
    });
  }
  // 2. The client steps, all sizes in one batch. A case that cannot be factorised leaves the batch and is named.
  std::vector<const model::ClientStepCase*> batch;
  std::vector<std::string> names;
  for (const auto& [name, step] : steps) {
    batch.push_back(&step);
    names.push_back(name);
  }
  const auto answers = model::client_steps(batch);
  for (std::size_t k = 0; k < names.size(); ++k)
    attempt(names[k], [&] {
      expect_factors(answers[k]);
      io::Group out = results.create_group(names[k]);
      write_client_step(answers[k], out);
    });
  results.close();
  partial.commit();
  return malformed;
}

}  // namespace

int run_probe(const std::string& case_file, const std::string& result_file, mpi::Communicator& world) {
  int malformed = 0;
  mpi::on_root(world, [&] {  // one process answers: the cases are one batch
    check_result_file(result_file, ".h5", {case_file});
    malformed = answer(case_file, result_file, world);
  });
  return malformed == 0 ? 0 : 2;
}

}  // namespace fedpp::federation
