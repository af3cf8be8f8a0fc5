// What the history encoders share: which points stand at which slot of a realisation's streams.
#pragma once

#include "gpu/fields.hpp"

namespace fedpp::gpu {

/// The points (columns, then inducing points at N+Q and on) of every slot, in the order of their numbers.
struct SlotPoints {
  Array<Index> begin;  ///< [slots + 1], slots of all realisations behind each other (Batch::slot)
  Array<int> point;    ///< within the realisation
};

/// Reads fields.slot and fields.inducing_slot back: for the construction of an operator, not for an epoch.
SlotPoints make_slot_points(const Batch& batch, const Fields& fields);

}  // namespace fedpp::gpu
