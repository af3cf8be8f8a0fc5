// Which dense linear algebra the kernels use (gpu/dense.hpp).
#pragma once

#include <string_view>

namespace fedpp::gpu {

/// Which implementation the kernels use on this backend.
enum class Dense { kBlas, kTeam };

/// Sets it: "auto" takes the host's on hosts whose teams have one thread. Throws where "blas" cannot work.
void choose_dense(std::string_view name);
Dense dense();

}  // namespace fedpp::gpu
