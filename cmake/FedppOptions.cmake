# Options of the build. Every one is printed by FedppSummary.cmake.
option(FEDPP_BUILD_TESTS "Build the tests (GoogleTest)" ON)
option(FEDPP_BUILD_BENCH "Build the benchmarks (Google Benchmark)" OFF)
option(FEDPP_REQUIRE_CUDA "Refuse a Kokkos without CUDA (preset cuda)" OFF)
option(FEDPP_WERROR "Treat warnings as errors" OFF)
option(FEDPP_EMULATED_DEVICE "Kernels run on a device that the host plays instead of Kokkos, for tests (tests/emulated_device)" OFF)
option(FEDPP_BUILD_FUZZERS "Fuzz targets as libFuzzer programs (Clang, preset fuzz)" OFF)
set(FEDPP_ARCH "native" CACHE STRING "Processor to compile for: native (this machine's); as -march takes it on x86-64 (x86-64-v3), as -mcpu elsewhere (neoverse-v1); empty: the compiler's default")
set(FEDPP_SANITIZE "" CACHE STRING "Sanitizers, comma separated: 'address,undefined' or 'thread'")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

if(NOT FEDPP_SANITIZE STREQUAL "" AND NOT FEDPP_SANITIZE MATCHES "^(address|undefined|address,undefined|thread)$")
  message(FATAL_ERROR "FEDPP_SANITIZE='${FEDPP_SANITIZE}' cannot work: "
                      "choose 'address,undefined' or 'thread' (they exclude each other), or leave it empty.")
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)  # there are none, and from CMake 3.28 on a scan of each source would rule out unity builds
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# One interface target carries the flags of all our own code.
add_library(fedpp_flags INTERFACE)
target_compile_options(fedpp_flags INTERFACE -Wall -Wextra)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(fedpp_flags INTERFACE -Wno-restrict)  # false on "text" + std::string (GCC bug 105651)
endif()
if(FEDPP_WERROR)
  target_compile_options(fedpp_flags INTERFACE -Werror)
endif()
if(FEDPP_ARCH)
  include(CheckCXXCompilerFlag)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    set(_option -march)
    set(_example "x86-64-v3 (AVX2) or x86-64-v4 (AVX-512)")
  else()
    set(_option -mcpu)  # on Arm and POWER this one names processors; -march names architectures and tunes for none
    set(_example "neoverse-n1 on Arm")
  endif()
  string(MAKE_C_IDENTIFIER "${FEDPP_ARCH}" _arch)
  check_cxx_compiler_flag("${_option}=${FEDPP_ARCH}" FEDPP_KNOWS_${_arch})
  if(NOT FEDPP_KNOWS_${_arch})
    message(FATAL_ERROR "FEDPP_ARCH='${FEDPP_ARCH}' is no processor that ${CMAKE_CXX_COMPILER} compiles for: take what its ${_option} takes, "
                        "${_example}, 'native' for this machine's, or leave it empty.")
  endif()
  target_compile_options(fedpp_flags INTERFACE ${_option}=${FEDPP_ARCH})
endif()
# No fast-math: the same bits for every number of ranks rest on it (theory 2.2). errno is never read and no
# floating-point exception traps; without them the compiler may vectorise loops over the mathematical functions (exp
# four times faster with AVX2, where GCC else leaves the clamps of gpu/elementary.hpp as branches); this changes no
# result.
target_compile_options(fedpp_flags INTERFACE -fno-math-errno -fno-trapping-math)
if(CMAKE_CXX_COMPILER_ID STREQUAL "IntelLLVM")
  target_compile_options(fedpp_flags INTERFACE -fp-model=precise)  # its default is fast-math
endif()
if(FEDPP_BUILD_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "FEDPP_BUILD_FUZZERS needs Clang, which has libFuzzer: take the preset 'fuzz', or -DCMAKE_CXX_COMPILER=clang++.")
  endif()
  target_compile_options(fedpp_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(FEDPP_SANITIZE)
  # Without -fno-sanitize-recover undefined behaviour is only printed and a test passes all the same.
  target_compile_options(fedpp_flags INTERFACE -fsanitize=${FEDPP_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  target_link_options(fedpp_flags INTERFACE -fsanitize=${FEDPP_SANITIZE})
endif()
