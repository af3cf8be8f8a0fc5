// fedpp adapt: trainings that start from another run's checkpoint, on new clients' data or on grown data.
#pragma once

#include <string>

#include "federation/checkpoint.hpp"
#include "federation/kept_state.hpp"
#include "federation/run_state.hpp"

namespace fedpp::federation {

/// \throws UserError, naming keys and values, where the checkpoint's weights would mean something else under this
/// configuration. \param same_clients they are to take up their own posteriors
void check_adaptable(const CheckpointHeader& header, const config::Config& config, bool same_clients);

/// Collective. New clients before their first round: theta of the best round (or the last) as their prior, their latent
/// functions fitted under it.
RunState adopt_prior(Session& session, const CheckpointHeader& header, KeptState wanted);

/// Collective. The checkpoint's own clients on grown data: theta, each q_phi and Adam's state of the best round (or the
/// last), latent functions fitted anew; rounds are counted on, the choice of the best one begins anew.
RunState continue_clients(Session& session, const CheckpointHeader& header, KeptState wanted);

/// Collective. A line on data outside the window that the encoder was trained on; "" where all lie in it.
std::string beyond_window(Session& session);

}  // namespace fedpp::federation
