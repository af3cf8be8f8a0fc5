#include "gpu/vendor_blas.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "gpu/host_product.hpp"

extern "C" {
[[gnu::weak]] char* openblas_get_corename();  // there where OpenBLAS is linked
}

namespace fedpp::gpu {

namespace {

std::string_view openblas_core() { return openblas_get_corename ? openblas_get_corename() : ""; }

/// A processor of this name in OpenBLAS' list that runs here, and has wider vectors than those that it falls back to.
std::string_view better_core() {
#if defined(__x86_64__)
  constexpr std::array<std::string_view, 2> fallbacks = {"Prescott", "Barcelona"};
  if (std::find(fallbacks.begin(), fallbacks.end(), openblas_core()) == fallbacks.end()) return "";
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) return "SkylakeX";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return "";
}

}  // namespace

std::string vendor_blas() {
  const std::string_view core = openblas_core();
  return core.empty() ? "vendor BLAS" : "vendor BLAS (OpenBLAS for " + std::string(core) + ")";
}

std::string vendor_blas_remedy(int rows) {
  const std::string_view core = rows > kOurRows ? better_core() : "";
  if (core.empty()) return "";
  return "this OpenBLAS does not know the processor and took kernels for an old one (" + std::string(openblas_core()) +
         "): with OPENBLAS_CORETYPE=" + std::string(core) +
         " in the environment products are about three times as fast (and their last bits others)";
}

}  // namespace fedpp::gpu
