// A batch's points as its arrays on the device hold them, laid out on the host.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/extents.hpp"
#include "model/batch_options.hpp"
#include "model/client_points.hpp"

namespace fedpp::model {

/// What the encoder sees, collected point by point (gpu/fields.hpp names the arrays).
struct SeenPoints {
  std::vector<double> input, inducing_input, token_input;
  std::vector<int> slot, inducing_slot, token_type;
};

struct HostBatch {
  std::vector<gpu::ClientExtent> clients;
  std::vector<gpu::RealisationExtent> realisations;
  SeenPoints seen;
  std::vector<double> multiplicity, node_weight;  ///< [columns]
  std::vector<double> least_events;               ///< [clients]
  std::vector<std::int64_t> ids;                  ///< [clients]
};
HostBatch host_batch(const std::vector<ClientPoints>& clients, const BatchOptions& options);

/// Position of a realisation's columns in a batch: as they come (events, then nodes), or dealt to the tiles in turn.
std::vector<int> column_order(int columns, bool spread);

}  // namespace fedpp::model
