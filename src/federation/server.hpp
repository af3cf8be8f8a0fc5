// The server's part of a round (theory 2.0, 2.1, 2.4): from what the participants send to the global distribution, and
// to each client's own prior where the clients have communities.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "federation/aggregator.hpp"
#include "federation/personal_priors.hpp"
#include "federation/progress.hpp"
#include "federation/run_state.hpp"
#include "federation/session.hpp"

namespace fedpp::federation {

class Server {
 public:
  Server(Session& session, RunState& state, Progress& progress);

  /// Collective. Uploads of participants that did not fail -> theta. Returns this rank's failed and rejected clients
  /// with reasons, and leaves in `outcome` the uploads that were accepted.
  std::vector<RejectedUpload> aggregate(LocalOutcome& outcome, std::int64_t round);

  /// Whether clients have priors of their own: an aggregation.scope but "global".
  bool personalises() const { return personal_.has_value(); }

  /// Collective. The communities, and each client's prior, where personalises(). \param accepted by aggregate()
  void personalise(const Uploads& accepted, std::int64_t round);

  /// Of the last round; none unless personalises().
  const Communities* communities() const { return personal_ ? &communities_ : nullptr; }

 private:
  AggregatorOptions options() const;
  /// What the server gets to see of an upload: it as it is, unless the client is hostile.
  model::WeightPosterior sent_by(std::int64_t client, const model::WeightPosterior& upload, std::int64_t round) const;
  /// The barycentre of the uploads becomes theta. Returns those that it rejects.
  std::vector<RejectedUpload> update_theta(const std::vector<Upload>& uploads, std::int64_t round);
  /// A posterior that cannot be used is not kept: its client starts at theta when it takes part again. One that was
  /// not sent is (a hostile client's, ditto's personal one), unless it is no distribution.
  void restart(const std::vector<RejectedUpload>& rejected, const Uploads& uploads);

  Session& session_;
  const config::Config& config_;
  RunState& state_;
  Progress& progress_;
  std::optional<PersonalPriors> personal_;
  Communities communities_;  ///< of the last round
};

}  // namespace fedpp::federation
