// Probe cases 'client-step' (docs/probe.md): their files' side; what they ask for is model/client_step.hpp.
#pragma once

#include "federation/probe_input.hpp"
#include "io/hdf5.hpp"
#include "model/client_step.hpp"

namespace fedpp::federation {

/// Reads and checks a case. Throws MalformedCase.
model::ClientStepCase read_client_step(const ProbeInput& in);

/// Throws MalformedCase where a K(z,z) of the case has no Cholesky factor.
void expect_factors(const model::ClientStepAnswer& answer);

/// Writes the datasets of an answer without failure.
void write_client_step(const model::ClientStepAnswer& answer, io::Group& out);

}  // namespace fedpp::federation
