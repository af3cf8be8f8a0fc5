// Whether the files that a configuration names are there. What the names demand of each other is config/validate.hpp's.
#pragma once

#include "config/options.hpp"
#include "config/validate.hpp"

namespace fedpp::config {

/// Checks that the data files named can be opened for reading and are different ones (client_files excepted: only their
/// owners hold them). Throws UserError listing those that cannot.
void check_data_files(const Config& config, const Origins& origins = {});

/// The same of every client's own files, where data.client_files names them: for a machine that holds all of them.
void check_client_files(const Config& config, const Origins& origins = {});

}  // namespace fedpp::config
