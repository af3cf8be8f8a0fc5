// A client's own posterior of the latent function (theory 1.8): E-steps on the windows given that do not alter its
// state, then the function's moments, or joint draws of the intensity, at any points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "config/error.hpp"
#include "config/options.hpp"
#include "model/priors.hpp"

namespace fedpp::model {

/// Predictions of a realisation's points: events first, then nodes, as in data::Realisation.
struct RealisationPrediction {
  std::vector<double> expected_log_intensity;  ///< [N+Q] E[log lambda], mean over samples of the weights
  std::vector<double> expected_intensity;      ///< [N+Q] E[lambda]
  std::vector<double> mean, variance;          ///< [S][N+Q] of f given m and nu, per sample; empty without moments
  std::vector<double> level_variance;          ///< [S][N+Q] that nu and log m add to log lambda's; empty without bands
  double rate = 0;                             ///< m
};

/// A client whose weights are so far out that no prediction is a number: K(z,z) has no Cholesky factor, or the
/// intensity is not finite.
struct PredictionError : UserError {
  using UserError::UserError;
};

struct PredictionOptions {
  double jitter = config::Model{}.jitter;
  int samples = 8;   ///< of the weights
  int e_steps = 20;  ///< E-steps before the prediction
  double workspace_mb = 0;
  std::uint64_t seed = 0;
  /// For intensity_quantile: nu gets the prior N(0, 2^2) in the E-steps, and (v, nu, log m) the expected information of
  /// the training points at the posterior mean as precision, beside their priors: sum omega lambda g g', g the gradient
  /// of log lambda, (1 - sigma) (V, 1) and 1. The variational covariance counts what the augmentation makes up as if it
  /// had been observed, twice the information at f = 0 (validation/synthetic, with the bands' coverage).
  /// Then m is such that the mean adds up to the events (match_rates_to_events).
  bool bands = false;
  bool moments = true;    ///< of f under every sample of the weights, which are read for bands, and with bands
  double part_bytes = 0;  ///< realisations whose points take more are read in parts; 0: a constant of the build
};

/// Whether a client's E-steps are on averages over the samples of the weights (gpu::averages_pay): by its own sizes, so
/// that its bits do not depend on who shares its block.
bool on_averages(const Client& client, const PredictionOptions& options);

/// Draws by number: the same for a client and seed wherever they are read.
struct DrawsWanted {
  std::uint64_t seed = 0;
  int count = 1;                                 ///< at each point, consecutive numbers
  std::vector<std::vector<std::int64_t>> first;  ///< [realisation][point] the first of them
};

/// Bytes of the arrays that LatentPosterior::drawn() takes for so many points more in one of the client's realisations,
/// with so many draws at each. \param client with a realisation \param history a stream that these points bring along;
/// nullptr: they see those that are there
double drawn_bytes(const Client& client, int samples, std::size_t points, int draws,
                   const data::Stream* history = nullptr);

/// The latent posteriors of some clients, brought up to date on their training points and then read at any number of
/// sets of points. Clients that never took part predict with the prior's weights.
class LatentPosterior {
 public:
  /// The clients must outlive this; their fields together must fit into memory (predict() cuts them into blocks).
  /// `averaged`: on_averages() of each of them.
  /// \throws PredictionError, as at()
  LatentPosterior(std::vector<const Client*> clients, const Priors& priors, const PredictionOptions& options,
                  bool averaged);
  ~LatentPosterior();
  LatentPosterior(LatentPosterior&&) noexcept;

  /// Result [client][realisation] at points [client], one entry per realisation each.
  std::vector<std::vector<RealisationPrediction>> at(
      const std::vector<const std::vector<data::Realisation>*>& points) const;

  /// Joint draws of lambda from the posterior of the only client, with PredictionOptions::bands: at one point their
  /// distribution is that of intensity_quantile(), and a draw is the same function at all points of a realisation, with
  /// one (nu, log m) and one sample of the weights for the client. What the inducing points leave open about f is taken
  /// to vary alike at all points: it does near each other, and far from each other counts then vary too much rather
  /// than too little (theory 1.8).
  /// Draws of one sample of the weights (those whose numbers are alike modulo their number) are read under it alone, which
  /// takes one part in PredictionOptions::samples of the time.
  /// \param points one entry per realisation \param wanted which draws are read there
  /// \return [realisation][point][wanted.count] \throws PredictionError
  std::vector<std::vector<double>> drawn(const std::vector<data::Realisation>& points, const DrawsWanted& wanted) const;

  struct Fitted;

 private:
  std::unique_ptr<Fitted> fitted_;
};

}  // namespace fedpp::model
