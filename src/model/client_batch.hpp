// A batch of clients on the device: their points and states uploaded, advanced, and read back.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "gpu/encoder_operator.hpp"
#include "gpu/fields.hpp"
#include "model/batch_options.hpp"
#include "model/client_points.hpp"

namespace fedpp::model {

/// For kernels on points of prediction: a realisation without any is in no mini-batch, and not even factorised.
inline constexpr bool kBatchOnly = true;

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

}  // namespace fedpp::model
