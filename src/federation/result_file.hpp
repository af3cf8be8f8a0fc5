// Which files the results of evaluate, predict and probe may replace.
#pragma once

#include <string>
#include <vector>

#include "config/options.hpp"
#include "mpi/communicator.hpp"

namespace fedpp::federation {

/// Before the work whose result goes to `path`. Throws UserError where it does not end in `suffix` or is what a
/// training keeps in its folder, io::Error where it is one of `inputs` or cannot be written.
void check_result_file(const std::string& path, const std::string& suffix, const std::vector<std::string>& inputs);

/// Collective: the same on rank 0 for a result of evaluate or predict, of a run of this configuration, whose data files
/// are the inputs; and UserError where another file than such a result is there, by its content.
void check_result_file(mpi::Communicator& world, const config::Config& config, const std::string& path,
                       const std::string& suffix);

/// Throws UserError where `path` is what a training keeps in its folder.
void refuse_what_training_keeps(const std::string& path);

/// The files of events and windows that a configuration names, those of every client.
std::vector<std::string> data_files_of(const config::Config& config);

}  // namespace fedpp::federation
