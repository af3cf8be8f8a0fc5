// Main memory: what this process has, and what it can still have.
#pragma once

#include <string>

namespace fedpp::federation {

/// Resident memory of this process, bytes; 0 where the system does not tell.
double resident_bytes();

/// What processes can still have of this machine's memory, or of what this process' control groups may take of it where
/// that is less (a job's limit, a container's; both versions of cgroups). Bytes, infinite where the system does not
/// tell.
/// \param root where /proc and /sys are, with a slash at its end
double available_bytes(const std::string& root = "/");

}  // namespace fedpp::federation
