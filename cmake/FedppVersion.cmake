# fedpp_version: the version, git revision and dirty flag as an object library, renewed at every build.
set(_version_cpp "${CMAKE_BINARY_DIR}/generated/version.cpp")
add_custom_target(fedpp_git_revision
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DOUT=${_version_cpp} -DVERSION=${PROJECT_VERSION}
          -P ${CMAKE_SOURCE_DIR}/cmake/WriteVersion.cmake
  BYPRODUCTS "${_version_cpp}" COMMENT "git revision" VERBATIM)
