#include "federation/describe.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/counted.hpp"
#include "config/version.hpp"
#include "data/seen_types.hpp"
#include "data/summary.hpp"
#include "data/ties.hpp"
#include "gpu/dense_choice.hpp"
#include "gpu/runtime.hpp"
#include "gpu/vendor_blas.hpp"

namespace fedpp::federation {

using config::counted;

namespace {

bool scores_training_data(const config::Data& data) {
  return std::any_of(data.test.begin(), data.test.end(), [&](const std::string& file) {
    return file == data.client_files || std::find(data.train.begin(), data.train.end(), file) != data.train.end();
  });
}

/// Rows of the largest products of a client's step: the inducing points', or of the encoder's layers (all gates of an
/// LSTM at once; queries, keys and values of attention).
int most_rows(const config::Model& model) {
  const int layers = model.encoder == config::Encoder::kLstm ? 4 : model.encoder == config::Encoder::kAttention ? 3 : 1;
  return static_cast<int>(std::max(model.inducing, layers * model.width));
}

}  // namespace

std::string describe(Session& session) {
  auto& world = session.world();
  std::int64_t sequences = 0, events = 0, columns = 0;
  data::Gaps gaps;
  for (const auto& client : session.owned()) {
    const auto summary = data::summarise(client.data);
    for (int split = 0; split < 3; ++split) events += summary.events[split];
    sequences += static_cast<std::int64_t>(client.data.sequences.size());
    const auto own = data::gaps_of(client.data);
    gaps = {gaps.all + own.all, gaps.zero + own.zero};
    for (const auto& r : client.model.training) columns += static_cast<std::int64_t>(r.events.size() + r.nodes.size());
  }
  sequences = world.allreduce(sequences, mpi::Op::sum, "metrics");
  events = world.allreduce(events, mpi::Op::sum, "metrics");
  columns = world.allreduce(columns, mpi::Op::sum, "metrics");
  gaps = {world.allreduce(gaps.all, mpi::Op::sum, "metrics"), world.allreduce(gaps.zero, mpi::Op::sum, "metrics")};
  const auto& c = session.config();
  const auto barycentre = c.aggregation.divergence;
  std::string text = fmt::format(
      "fedpp {} ({}), {}, {}\n{}, {}, {}; {} {} realisations, {} for training\n"
      "model {} (P = {}), M = {}; prior term: {}, barycentre: {}",
      version(), revision(), counted(world.size(), "rank"), gpu::backend_description(),
      counted(session.clients(), "client"), counted(sequences, "sequence"), counted(events, "event"),
      config::word(c.data.protocol), config::word(c.data.realisation), counted(columns, "point"),
      config::word(c.model.encoder), session.parameters(), c.model.inducing,
      // Averaging has no divergence of its own.
      config::word(barycentre == config::Divergence::kFedavg ? config::Divergence::kKl : barycentre),
      c.federation.mode == config::Mode::kLocal ? "none (local only)" : config::word(barycentre));
  if (gpu::dense() == gpu::Dense::kBlas)
    if (const auto remedy = gpu::vendor_blas_remedy(most_rows(c.model)); !remedy.empty()) text += "\n" + remedy;
  if (!session.hostile().empty()) text += "\n" + describe_attack(session);
  const auto& out = session.left_out();
  const auto left_out = [](std::int64_t count, const std::string& noun, const std::string& which) {
    return count == 0 ? "" : fmt::format("\n{} {} {} left out", counted(count, noun), which, count == 1 ? "is" : "are");
  };
  text += left_out(out.sequences - out.timeless, "sequence", "with fewer than five training events");
  text += left_out(out.timeless, "sequence", "in which no time passes");
  text += left_out(out.sequence_events, "event", "of these sequences");
  text += left_out(out.unseen, "event",
                   fmt::format("of types that the client does not see (data.types_per_client = {}, data.partition; "
                               "counted for every such client)",
                               c.data.types_per_client));
  text += left_out(out.outside, "event",
                   c.data.drop ? "before data.drop_before or outside the windows" : "outside the windows");
  if (const auto unseen = data::to_text(data::unseen_types(session.plan())); !unseen.empty()) text += "\n" + unseen;
  if (const auto unused = data::unused_clients(session.plan()); !unused.empty()) text += "\n" + unused;
  if (const auto doubt = gaps.doubt(); config::reads_history(c.model) && !doubt.empty()) text += "\n" + doubt;
  if (scores_training_data(c.data)) text += "\ndata.test names training files: the scores are not of held-out events";
  return text;
}

std::string idle_ranks(const Session& session) {
  const auto& config = session.config();
  const std::int64_t ranks = session.world().size(), asked = config.federation.participants;
  const std::int64_t participants = asked == 0 ? session.clients() : std::min(asked, session.clients());
  if (ranks <= participants) return "";
  return fmt::format("{}, but {} a round: at most {} at a time", counted(ranks, "rank"),
                     counted(participants, "participant"),
                     participants == 1 ? "one rank works" : fmt::format("{} ranks work", participants));
}

std::string describe_attack(const Session& session) {
  const auto hostile = static_cast<std::int64_t>(session.hostile().size());
  return fmt::format("[attack] {}: {} of {} hostile; scores are of the others",
                     config::word(session.config().attack.kind), hostile,
                     counted(session.clients(), "client") + (hostile == 1 ? " is" : " are"));
}

}  // namespace fedpp::federation
