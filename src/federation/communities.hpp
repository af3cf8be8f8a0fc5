// The server's graph of clients and its communities (theory 2.4): who learns from whom.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "federation/session.hpp"
#include "federation/similarity.hpp"
#include "structural_entropy/entropy.hpp"

namespace fedpp::federation {

/// A client's last upload, which counts until it is too old; on the rank that owns the client.
struct KeptUpload {
  std::int64_t round = 0;  ///< of the upload
  model::WeightPosterior posterior;
};
using KeptUploads = std::map<std::int64_t, KeptUpload>;

/// The same on every rank.
struct Communities {
  std::vector<std::int64_t> clients;        ///< [K] those with an upload, ascending
  structural_entropy::Partition partition;  ///< [K]
  std::vector<double> alpha;                ///< [K][K] row u: weights of the uploads in u's barycentre
  double entropy = 0;                       ///< two-dimensional structural entropy
  std::vector<double> weights;              ///< [K][K] of the graph's edges; on rank 0
};

/// Mean edge weight over the pairs of clients of one community and of two, no edge counting 0; NaN without a pair.
struct MeanSimilarity {
  double within, between;
};
MeanSimilarity mean_similarity(const Communities& communities);

/// On rank 0. A sentence for the log where clients of different communities are as good as alike, so that the
/// communities say little: the greedy search splits near-uniform graphs, too. Empty elsewhere.
std::string doubt_about(const Communities& communities);

/// aggregation.scope "structural-entropy": communities by their least entropy, softmax weights within them.
/// "similarity-graph": one community of all and the weights D^-1 (A + I), A the positive similarities, D the row sums:
/// one graph convolution of the uploads, as in SFL (Chen, Long, Wu, Zhou, Jiang, "Personalized federated learning with
/// a graph", IJCAI 2022) without its trained projections.
class ClientGraph {
 public:
  /// The probe is drawn from the seed: aggregation.probe_points times or histories, the same for all clients and
  /// rounds.
  explicit ClientGraph(Session& session);

  /// Collective. `uploads`: this rank's. The server (rank 0) is sent the signature of each upload that it has not seen,
  /// and sends the communities.
  Communities update(const KeptUploads& uploads);

 private:
  void send_signatures(const KeptUploads& uploads);
  void broadcast(Communities& communities);

  Session& session_;
  Similarity similarity_;
  data::Realisation probe_;
  std::map<std::int64_t, std::int64_t> sent_;               ///< this rank's clients: the round whose signature was sent
  std::map<std::int64_t, std::vector<double>> signatures_;  ///< on rank 0: of all uploads that count
};

/// Probe points of an encoder of time: uniform over its window; of a history encoder: in streams of log-normal gaps on
/// the federation's scale, types uniform. Keyed by the seed alone.
data::Realisation similarity_probe(const Session& session, std::int64_t points);

}  // namespace fedpp::federation
