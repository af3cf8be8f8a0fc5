# fedpp_version: version, git revision and dirty flag, renewed at every build; a new revision compiles only this file.
set(_version_cpp "${CMAKE_BINARY_DIR}/generated/version.cpp")
add_custom_target(fedpp_git_revision
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DOUT=${_version_cpp} -DVERSION=${PROJECT_VERSION}
          -P ${CMAKE_SOURCE_DIR}/cmake/WriteVersion.cmake
  BYPRODUCTS "${_version_cpp}" COMMENT "git revision" VERBATIM)
add_library(fedpp_version STATIC "${_version_cpp}")
add_dependencies(fedpp_version fedpp_git_revision)
target_include_directories(fedpp_version PRIVATE "${CMAKE_SOURCE_DIR}/src")
target_link_libraries(fedpp_version PRIVATE fedpp_flags)
