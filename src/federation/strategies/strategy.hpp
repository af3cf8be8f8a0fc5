// How a federation trains its clients (federation.mode): what a participant starts from and is drawn to, what it sends,
// and what a client is scored with. The server's side (which uploads make up what a client receives) is
// aggregation.scope. Each strategy is one file, with the paper and equations that it follows; weights there are w, here
// Gaussians N(r, delta^2), and "the loss" is -ELBO without the weights' divergence.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/local_update.hpp"

namespace fedpp::federation {

/// One round's work on one rank.
struct LocalWork {
  const model::Priors& received;          ///< what each client got from the server
  const model::WeightPosterior& initial;  ///< the distribution before the first round
  model::LocalOptions options;
  std::uint64_t seed;
  std::int64_t round;
  model::KeptBlock* kept = nullptr;  ///< for local updates of the participants themselves
  /// Where downloads_uploads(), else empty. [C] by client: what each sent last, the initial distribution before.
  std::vector<model::WeightPosterior> sent = {};
  std::vector<double> event_shares = {};  ///< [C] each client's share of all clients' training events
};

/// What clients send, by client.
using Uploads = std::map<std::int64_t, model::WeightPosterior>;

/// What a round's work on one rank comes to.
struct LocalOutcome {
  std::vector<model::LocalReport> reports;  ///< in the order of the participants
  Uploads uploads;                          ///< of those that did not fail
};

class Strategy {
 public:
  virtual ~Strategy() = default;

  /// Local epochs of this rank's participants. Their states end up as what they keep; they send, unless a strategy has
  /// another idea, their posteriors of the weights after epochs(). A client's result must not depend on which others
  /// are on its rank.
  virtual LocalOutcome train(const std::vector<model::Client*>& participants, const LocalWork& work) const;

  /// Whether participants get the clients' uploads themselves, not only what the server makes of them.
  virtual bool downloads_uploads() const { return false; }

  /// Whether uploads go to the server.
  virtual bool exchanges() const { return true; }

  /// Whether clients are scored with what they received (else with their own posterior of the weights).
  virtual bool scores_received() const { return false; }

  /// Whether a rank's block of participants may be kept from round to round (model::KeptBlock).
  virtual bool keeps_block() const { return true; }

 protected:
  /// By default from where the participants' weights are, with what they received as prior.
  virtual std::vector<model::LocalReport> epochs(const std::vector<model::Client*>& participants,
                                                 const LocalWork& work) const;
};

/// The strategy of federation.mode with its settings.
std::unique_ptr<const Strategy> make_strategy(const config::Federation& federation);

/// The weights of the participants that did not fail: what is sent where a client's own posterior is.
Uploads own_posteriors(const std::vector<model::Client*>& participants, const std::vector<model::LocalReport>& reports);

}  // namespace fedpp::federation
