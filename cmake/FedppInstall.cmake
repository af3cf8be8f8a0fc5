# cmake --install: bin/fedpp (src/CMakeLists.txt) and what it is used with, below share/fedpp as in the repository.
install(DIRECTORY python/fedpp DESTINATION ${FEDPP_INSTALL_PYTHON} FILES_MATCHING PATTERN "*.py")
# Permissions are named, since those of the sources follow the umask of who cloned them. Left out is what a site or Spack puts there, and
# spack.yaml, which is about the sources.
set(_program PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
install(DIRECTORY jobs examples DESTINATION ${FEDPP_INSTALL_SHARE}
        PATTERN "site.sh" EXCLUDE PATTERN "__pycache__" EXCLUDE
        PATTERN ".spack-env" EXCLUDE PATTERN "spack.lock" EXCLUDE PATTERN "spack.yaml" EXCLUDE
        PATTERN "*.sbatch" ${_program} PATTERN "jobs/*.py" ${_program} PATTERN "jobs/sweep.sh" ${_program})
install(PROGRAMS scripts/plot.py DESTINATION ${FEDPP_INSTALL_SHARE}/scripts)
install(FILES README.md CONTRIBUTING.md LICENSE CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN "*.svg")
foreach(layer io mpi) # what the pages of docs/ refer to
  install(FILES ${layer}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/${layer})
endforeach()
