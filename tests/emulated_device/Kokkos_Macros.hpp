// See Kokkos_Core.hpp.
#pragma once

#define KOKKOS_VERSION 50200
#define KOKKOS_ENABLE_EMULATED_DEVICE
#define KOKKOS_INLINE_FUNCTION inline
#define KOKKOS_LAMBDA [=]
