# Libraries that fedpp stands on; each is found where the user has it, and a missing one says how to get it.
set(_fedpp_hint "On Debian and Ubuntu: scripts/install-packages.sh installs everything.")

function(fedpp_require found what)
  if(NOT ${found})
    message(FATAL_ERROR "${what} was not found. ${_fedpp_hint}")
  endif()
endfunction()

# Kokkos: the distribution's 3.4 (Serial) is the floor, a module's or Spack's 5.x with CUDA or OpenMP the rule on
# clusters: -DKokkos_ROOT=PREFIX chooses.
find_package(Kokkos QUIET)
fedpp_require(Kokkos_FOUND "Kokkos (>= 3.4; another one is chosen with -DKokkos_ROOT=PREFIX)")
add_library(fedpp_kokkos INTERFACE)
if(Kokkos_VERSION VERSION_LESS 3.4)
  message(FATAL_ERROR "Kokkos ${Kokkos_VERSION} in ${Kokkos_DIR} is too old: 3.4 or newer is needed; choose another with -DKokkos_ROOT=PREFIX.")
endif()
if(Kokkos_VERSION VERSION_LESS 4 AND EXISTS "${Kokkos_DIR}/../../../../include/trilinos/Kokkos_Core.hpp")
  # Debian's package: its target names an include folder that does not exist; the headers are Trilinos'.
  get_filename_component(_kokkos_include "${Kokkos_DIR}/../../../../include/trilinos" ABSOLUTE)
  set_target_properties(Kokkos::kokkos PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_kokkos_include}")
  target_include_directories(fedpp_kokkos SYSTEM INTERFACE "${_kokkos_include}")
endif()
target_link_libraries(fedpp_kokkos INTERFACE Kokkos::kokkos)
if("CUDA" IN_LIST Kokkos_DEVICES)
  # fmt 9 takes nvcc for a compiler without constexpr and then contradicts itself.
  target_compile_definitions(fedpp_flags INTERFACE FMT_CONSTEVAL= FMT_USE_CONSTEXPR=1)
endif()
if(FEDPP_REQUIRE_CUDA AND NOT "CUDA" IN_LIST Kokkos_DEVICES)
  message(FATAL_ERROR "The Kokkos in ${Kokkos_DIR} has no CUDA backend (it has: ${Kokkos_DEVICES}): "
                      "name one that has with -DKokkos_ROOT=PREFIX, or use the preset 'cpu'.")
endif()

find_package(MPI QUIET COMPONENTS CXX)
fedpp_require(MPI_CXX_FOUND "MPI (Open MPI)")
target_compile_definitions(MPI::MPI_CXX INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)

enable_language(C) # FindHDF5 tries the C compiler
set(HDF5_PREFER_PARALLEL ON)
find_package(HDF5 QUIET COMPONENTS C)
fedpp_require(HDF5_FOUND "HDF5 (>= 1.10)")

# OpenBLAS, MKL or what else BLA_VENDOR says; threads inside a rank belong to Kokkos, so BLAS runs on one.
find_package(BLAS QUIET)
fedpp_require(BLAS_FOUND "BLAS (-DBLA_VENDOR=... chooses one)")
find_package(LAPACK QUIET)
fedpp_require(LAPACK_FOUND "LAPACK (-DBLA_VENDOR=... chooses one)")

find_package(ZLIB QUIET)
fedpp_require(ZLIB_FOUND "zlib")
find_package(fmt QUIET)
fedpp_require(fmt_FOUND "fmt")
find_package(spdlog QUIET)
fedpp_require(spdlog_FOUND "spdlog")
find_package(CLI11 QUIET)
fedpp_require(CLI11_FOUND "CLI11")
find_package(nlohmann_json QUIET)
fedpp_require(nlohmann_json_FOUND "nlohmann-json")
find_package(tomlplusplus QUIET)
fedpp_require(tomlplusplus_FOUND "toml++")

find_path(XXHASH_INCLUDE xxhash.h)
find_library(XXHASH_LIBRARY xxhash)
if(NOT XXHASH_INCLUDE OR NOT XXHASH_LIBRARY)
  message(FATAL_ERROR "xxHash was not found. ${_fedpp_hint}")
endif()
add_library(fedpp_xxhash INTERFACE)
target_include_directories(fedpp_xxhash SYSTEM INTERFACE "${XXHASH_INCLUDE}")
target_link_libraries(fedpp_xxhash INTERFACE "${XXHASH_LIBRARY}")

if(FEDPP_BUILD_TESTS)
  find_package(GTest QUIET)
  fedpp_require(GTest_FOUND "GoogleTest (or -DFEDPP_BUILD_TESTS=OFF)")
endif()
if(FEDPP_BUILD_BENCH)
  find_package(benchmark QUIET)
  fedpp_require(benchmark_FOUND "Google Benchmark (or -DFEDPP_BUILD_BENCH=OFF)")
endif()
