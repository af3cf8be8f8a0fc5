// The groups and arrays of a checkpoint (docs/results.md), written and read back.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "data/input_scale.hpp"
#include "federation/run_state.hpp"
#include "io/hdf5.hpp"

namespace fedpp::federation {

/// clients/CCCCCC.
std::string group_name(std::int64_t client);

/// NAME_mean and NAME_sd, [P] each.
void write_posterior(io::Group& group, const std::string& name, const model::WeightPosterior& posterior);
/// \throws UserError where a number is not finite or an sd not positive: such a prior ruins whoever starts from it; and
/// where there are not as many sds as means, or not `parameters`
model::WeightPosterior read_posterior(const io::Group& group, const std::string& name,
                                      std::optional<std::size_t> parameters = std::nullopt);

/// \throws UserError where this is no history
RoundHistory read_rounds(const io::File& file);

/// The configuration, as archive() wrote it: a JSON object of sections. \throws UserError where it is none
std::string read_configuration(const io::File& file);

/// The prior that a client has of its own, NAME_mean and NAME_sd, where it has one.
void write_own_prior(io::Group& group, const std::string& name, const model::Priors& priors, std::int64_t client);
/// As many weights as the common one has.
void read_own_prior(const io::Group& group, const std::string& name, model::Priors& priors, std::int64_t client);

/// The client's upload that still counts, upload_mean, upload_sd and upload_round, where there is one.
void write_upload(io::Group& group, const KeptUploads& uploads, std::int64_t client);
void read_upload(const io::Group& group, KeptUploads& uploads, std::int64_t client, std::size_t parameters);

/// gain [2] and validation [3]: what RunState::gains and validation hold of a client, where they do.
void write_gain(io::Group& group, const std::map<std::int64_t, Gain>& gains, std::int64_t client);
void read_gain(const io::Group& group, std::map<std::int64_t, Gain>& gains, std::int64_t client);
void write_validation(io::Group& group, const std::map<std::int64_t, evaluation::Score>& scores, std::int64_t client);
void read_validation(const io::Group& group, std::map<std::int64_t, evaluation::Score>& scores, std::int64_t client);

/// A client's weights and Adam's state.
void write_weights(io::Group& group, const model::WeightState& state);
model::WeightState read_weights(const io::Group& group, std::size_t parameters);

/// Its latent functions, q(v) only where inference has left its start.
void write_latent(io::Group& group, const model::LatentState& state);
/// \param like a state of the same latent functions; \throws UserError where the sizes differ from its, or what is no
/// number is in it
model::LatentState read_latent(const io::Group& group, const model::LatentState& like);

/// Who a client is, so that a run can go on with the same ones: `types` that it sees, `sequences` (numbers in their
/// files, ascending) that it holds, and attributes `training_data` and `validation_data`, checksums of its events and
/// windows.
void write_holdings(io::Group& group, const data::ClientData& client);
/// \throws UserError where `client` lacks something that it held then
void expect_holdings(const io::Group& group, const data::ClientData& client);
/// Whether the training or validation data of then are those that the client has now (checkpoints of fedpp before that
/// attribute do not tell: true).
bool same_data(const io::Group& group, const data::ClientData& client, data::Split split);

void write_input_scale(io::Group group, const data::InputScale& inputs);
/// \throws UserError where a number is none that can scale
data::InputScale read_input_scale(const io::Group& group);

/// \throws UserError unless `is` == `wanted`
void expect_size(const io::Group& group, const std::string& name, std::size_t is, std::size_t wanted);

}  // namespace fedpp::federation
