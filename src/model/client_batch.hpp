// A batch of clients on the device: their points and states uploaded, advanced, and read back.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gpu/adam.hpp"
#include "gpu/cost.hpp"
#include "gpu/fields.hpp"
#include "model/client.hpp"

namespace fedpp::model {

/// Points of one client for a batch: training, or held-out windows.
struct ClientPoints {
  const Client* client = nullptr;
  const std::vector<data::Realisation>* realisations = nullptr;  ///< as many as client->inducing
};

/// For kernels on points of prediction: a realisation without any is in no mini-batch, and not even factorised.
inline constexpr bool kBatchOnly = true;

/// The clients' training points.
std::vector<ClientPoints> training_points(std::span<const Client* const> clients);

/// Extents of a client's realisations in a batch where it is number `client`.
std::vector<gpu::RealisationExtent> extents_of(const ClientPoints& points, int client = 0);

/// What one local epoch of a client costs: about columns x M^2 (gpu/cost.hpp).
gpu::Cost epoch_cost(const Client& client, std::int64_t samples, gpu::Precision precision = gpu::Precision::kDouble);

/// Of training.precision.
gpu::Precision precision_of(config::Precision precision);

/// How a batch is made.
struct BatchOptions {
  int samples = 1;             ///< of the weights
  double jitter = 0;           ///< that a factorisation of K(z,z) begins with, relative
  bool with_gradient = false;  ///< with the arrays of the adjoint
  bool spread = false;  ///< columns are dealt to the tiles like cards, so that a tile is an even subset (mini-batches)
  gpu::Precision precision = gpu::Precision::kDouble;

  bool operator==(const BatchOptions&) const = default;
};

/// Bytes of the arrays of a batch of these clients, an upper bound.
double array_bytes(std::span<const ClientPoints> clients, const BatchOptions& options);

/// The clients' own posteriors of the weights.
std::vector<WeightPosterior> own_weights(const std::vector<ClientPoints>& points);

/// q(v), m and nu of a batch's clients on the host, laid out as in gpu::Fields.
struct LatentPosteriors {
  std::vector<double> v_mean, v_factor, rate, offset;
};

/// A K(z,z) that has no Cholesky factor even with the most jitter.
struct FailedFactor {
  int realisation = 0;  ///< of its client
  int sample = 0;
  std::size_t problem = 0;  ///< of the batch
};

class ClientBatch {
 public:
  /// Lays out and uploads points, inducing points, q(v), m, nu and the posterior of each client's weights.
  ClientBatch(const std::vector<ClientPoints>& clients, const std::vector<WeightPosterior>& weights,
              const BatchOptions& options);

  const gpu::Batch& batch() const { return batch_; }
  const std::vector<gpu::Batch>& chunks() const { return chunks_; }
  const gpu::Fields& fields() const { return fields_; }
  gpu::EncoderOperator& encoder() const { return *encoder_; }

  /// Once more from these clients' states, the same clients with the same points, and other posteriors of their
  /// weights: as a new batch, without laying out and uploading what has not changed.
  void restart(const std::vector<ClientPoints>& clients, const std::vector<WeightPosterior>& weights) const;

  /// Other posteriors of the clients' weights, in the order of the clients; failures of factorisations are forgotten.
  void set_weights(const std::vector<WeightPosterior>& weights) const;

  /// q(v), m, nu of all clients, one copy of each array; and client k's part of them into its state.
  LatentPosteriors read_latent() const;
  void take_latent(const LatentPosteriors& all, int k, ClientState& state) const;

  /// The first failure among client k's factorisations, by realisation and then sample. Of realisations that share a
  /// factor only the first one says so. \param info gpu::Fields::info on the host
  std::optional<FailedFactor> failed_factor(int k, const std::vector<int>& info) const;

  /// Offsets on the host: of client k's first weight, and of realisation i's first column and first problem.
  gpu::Index posterior_offset(int k) const { return posterior_[k]; }
  int realisation_begin(int k) const { return realisation_begin_[k]; }
  gpu::Index column_offset(int i) const { return column_[i]; }
  int columns(int i) const { return columns_[i]; }
  /// Which of realisation i's points, events and then nodes, stands at each column.
  std::vector<int> points_at_columns(int i) const;
  int samples() const { return options_.samples; }

 private:
  /// Fills the offsets below.
  void index(const std::vector<gpu::ClientExtent>& clients, const std::vector<gpu::RealisationExtent>& realisations);
  void upload_states(const std::vector<ClientPoints>& clients, const std::vector<WeightPosterior>& weights) const;

  BatchOptions options_;
  gpu::Batch batch_;
  std::vector<gpu::Batch> chunks_;
  gpu::Fields fields_;
  std::unique_ptr<gpu::EncoderOperator> encoder_;
  std::vector<int> realisation_begin_, columns_;
  std::vector<gpu::Index> posterior_, column_, vector_, square_;
};

/// Consecutive blocks [begin, end) of clients, of so many bytes each, that stay below the budget
/// (gpu::workspace_mb); a single client is always a block.
std::vector<std::pair<int, int>> blocks_of(const std::vector<double>& bytes, double workspace_mb);

/// Consecutive blocks [begin, end) of clients whose fields stay below the budget (gpu::workspace_mb); a single
/// client is always a block.
std::vector<std::pair<int, int>> blocks_of(const std::vector<ClientPoints>& clients, const BatchOptions& options,
                                           double workspace_mb);

}  // namespace fedpp::model
