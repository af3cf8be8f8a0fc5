// What each step's launches want of scratch (gpu/scratch.hpp). A function stands in the file of the kernels that it
// speaks of and calls what they call.
#pragma once

#include "gpu/batch.hpp"
#include "gpu/scratch.hpp"

namespace fedpp::gpu {

// `batch`: batch_sizes() will do.
void add_selection_scratch(const Batch& batch, ScratchWanted& wanted);
void add_factorise_scratch(const Batch& batch, ScratchWanted& wanted);
void add_features_scratch(const Batch& batch, ScratchWanted& wanted);
void add_augment_scratch(const Batch& batch, ScratchWanted& wanted);
void add_variational_scratch(const Batch& batch, ScratchWanted& wanted);
void add_adjoint_scratch(const Batch& batch, ScratchWanted& wanted);
void add_average_scratch(const Batch& batch, ScratchWanted& wanted);
void add_expectation_scratch(const Batch& batch, ScratchWanted& wanted);

}  // namespace fedpp::gpu
