#include "federation/server.hpp"

#include <fmt/format.h>

#include "federation/attack.hpp"
#include "federation/uploads.hpp"

namespace fedpp::federation {

namespace {

/// Of uploads that go to no server, those that it would not take.
std::vector<RejectedUpload> unusable(const std::vector<Upload>& uploads) {
  std::vector<RejectedUpload> rejected;
  for (const auto& upload : uploads)
    if (auto reason = reason_to_reject(upload); !reason.empty()) rejected.push_back({upload.client, std::move(reason)});
  return rejected;
}

}  // namespace

Server::Server(Session& session, RunState& state, Progress& progress)
    : session_(session), config_(session.config()), state_(state), progress_(progress) {
  if (config_.aggregation.scope != config::Scope::kGlobal) personal_.emplace(session_);
}

AggregatorOptions Server::options() const {
  const auto& aggregation = config_.aggregation;
  return {.rule = aggregation.divergence,
          .format = mpi::FixedPoint::one_word(static_cast<int>(aggregation.fraction_bits)),
          .bandwidth = aggregation.mmd_bandwidth,
          .estimator = aggregation.estimator,
          .trim = aggregation.trim};
}

model::WeightPosterior Server::sent_by(std::int64_t client, const model::WeightPosterior& upload,
                                       std::int64_t round) const {
  return session_.hostile(client) ? tampered(config_, upload, state_.theta.common, client, round) : upload;
}

std::vector<RejectedUpload> Server::aggregate(LocalOutcome& outcome, std::int64_t round) {
  std::vector<RejectedUpload> left_out;
  std::vector<Upload> uploads;
  for (const auto& report : outcome.reports) {
    if (report.failure) {
      left_out.push_back({report.client, *report.failure});
      continue;
    }
    const bool by_events = config_.aggregation.weights == config::UploadWeights::kEvents;
    auto& upload = outcome.uploads.at(report.client);
    upload = sent_by(report.client, upload, round);
    uploads.push_back(
        {report.client, by_events ? training_events(session_.owned(report.client)) : 1.0, upload.mean, upload.sd});
  }
  const auto rejected = session_.strategy().exchanges() ? update_theta(uploads, round) : unusable(uploads);
  restart(rejected, outcome.uploads);
  for (const auto& r : rejected) outcome.uploads.erase(r.client);
  if (session_.strategy().exchanges() && session_.strategy().downloads_uploads())
    for (const auto& [client, posterior] : outcome.uploads) state_.uploads[client] = {round, posterior};
  left_out.insert(left_out.end(), rejected.begin(), rejected.end());
  return left_out;
}

std::vector<RejectedUpload> Server::update_theta(const std::vector<Upload>& uploads, std::int64_t round) {
  auto& theta = state_.theta.common;
  auto result = Aggregator(options(), session_.world()).aggregate(theta, uploads);
  theta = std::move(result.theta);
  if (result.bandwidth > 0) state_.bandwidth = result.bandwidth;
  if (result.accepted == 0) progress_.line(fmt::format("round {}: no upload was accepted: theta stays", round + 1));
  if (result.mmd_unconverged > 0)
    progress_.line(fmt::format("round {}: the mmd barycentre of {} of {} weights has not converged", round + 1,
                               result.mmd_unconverged, theta.mean.size()));
  return result.rejected;
}

void Server::restart(const std::vector<RejectedUpload>& rejected, const Uploads& uploads) {
  for (const auto& r : rejected) {
    auto& state = session_.owned(r.client).model.state;
    const auto& own = session_.strategy().downloads_uploads() ? state.core : state.weights;
    const auto& sent = uploads.at(r.client);
    const bool is_own = sent.mean == own.mean && sent.sd == own.sd;
    if (is_own || !fault_of(own.mean, own.sd).empty()) state.started = false;
  }
}

void Server::personalise(const Uploads& accepted, std::int64_t round) {
  communities_ = personal_->update(state_, accepted, round, options());
}

}  // namespace fedpp::federation
