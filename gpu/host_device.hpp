// Functions that kernels call, in headers that do without Kokkos': the layers above `model` read them with the host's
// compiler.
#pragma once

#if defined(__CUDACC__) || defined(__HIPCC__)
#define FEDPP_HOST_DEVICE __host__ __device__
#else
#define FEDPP_HOST_DEVICE
#endif
