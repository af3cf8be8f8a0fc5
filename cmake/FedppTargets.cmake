# The house's layers (docs/architecture.md). A library may link only what its row allows; anything else, and so every cycle, is
# a configure error. A layer's headers are reachable only through its target: each target exposes one generated include
# folder that holds one link, named as the layer, to the layer's folder.
set(FEDPP_ALLOWED_gpu "")
set(FEDPP_ALLOWED_mpi "")
set(FEDPP_ALLOWED_io "")
set(FEDPP_ALLOWED_config "")
set(FEDPP_ALLOWED_data "config;io")
set(FEDPP_ALLOWED_model "config;data;gpu")
set(FEDPP_ALLOWED_structural_entropy "")
set(FEDPP_ALLOWED_bayesian_optimisation "")
set(FEDPP_ALLOWED_evaluation "config;data")
set(FEDPP_ALLOWED_federation "config;data;model;structural_entropy;bayesian_optimisation;evaluation;gpu;mpi;io")
set(FEDPP_ALLOWED_commands "config;data;federation;mpi;io")

# Layers that never see Kokkos: gpu/kokkos.hpp refuses them, and Kokkos' folders and flags do not reach them, so that one compilation serves
# any device. Where its nvcc_wrapper is the compiler they and their tests go to the host's compiler alone: nvcc does not understand toml++
# (its issue 213), fails at some of C++20's constants, and would take several times as long.
set(FEDPP_HOST_ONLY mpi io config data evaluation structural_entropy bayesian_optimisation federation commands)

# fedpp_compile_for(<target> <layer> ...): Kokkos for a target with any layer outside FEDPP_HOST_ONLY, else the host's compiler.
function(fedpp_compile_for target)
  set(layers ${ARGN})
  list(REMOVE_ITEM layers ${FEDPP_HOST_ONLY})
  if(layers)
    target_link_libraries(${target} PRIVATE fedpp_kokkos)
    return()
  endif()
  target_compile_definitions(${target} PRIVATE FEDPP_HOST_ONLY)
  if(CMAKE_CXX_COMPILER MATCHES "nvcc_wrapper$")
    target_compile_options(${target} PRIVATE --host-only)
  endif()
endfunction()

# fedpp_add_library(<layer> SOURCES ... [LAYERS ...] [LIBRARIES ...]) in the layer's own folder.
function(fedpp_add_library layer)
  cmake_parse_arguments(ARG "" "" "SOURCES;LAYERS;LIBRARIES" ${ARGN})
  if(NOT DEFINED FEDPP_ALLOWED_${layer})
    message(FATAL_ERROR "Layer '${layer}' is not in the table of cmake/FedppTargets.cmake.")
  endif()
  foreach(other IN LISTS ARG_LAYERS)
    if(NOT other IN_LIST FEDPP_ALLOWED_${layer})
      message(FATAL_ERROR "Layer '${layer}' must not depend on '${other}': allowed are '${FEDPP_ALLOWED_${layer}}' "
                          "(table in cmake/FedppTargets.cmake).")
    endif()
  endforeach()
  foreach(library IN LISTS ARG_LIBRARIES)
    string(REGEX REPLACE "^fedpp_" "" other "${library}")
    if(DEFINED FEDPP_ALLOWED_${other} AND NOT other STREQUAL library)
      message(FATAL_ERROR "Layer '${layer}' names '${library}' under LIBRARIES: layers go under LAYERS, where they are checked.")
    endif()
  endforeach()
  set(include "${CMAKE_BINARY_DIR}/include/${layer}")
  file(MAKE_DIRECTORY "${include}")
  file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}" "${include}/${layer}" SYMBOLIC)
  add_library(fedpp_${layer} STATIC ${ARG_SOURCES})
  target_include_directories(fedpp_${layer} PUBLIC "${include}")
  list(TRANSFORM ARG_LAYERS PREPEND fedpp_)
  target_link_libraries(fedpp_${layer} PUBLIC ${ARG_LAYERS} ${ARG_LIBRARIES} PRIVATE fedpp_flags)
  # Under the address sanitizer -Og (preset asan) compiles a third faster; kernels keep -O1, since tests wait for them.
  if(FEDPP_SANITIZE MATCHES "address" AND layer MATCHES "^(gpu|model)$")
    target_compile_options(fedpp_${layer} PRIVATE -O1)
  endif()
  fedpp_compile_for(fedpp_${layer} ${layer})
endfunction()
