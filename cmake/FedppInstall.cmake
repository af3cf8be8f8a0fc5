# cmake --install: bin/fedpp (src/CMakeLists.txt) and what it is used with, below share/fedpp as in the repository.
install(DIRECTORY python/fedpp DESTINATION ${FEDPP_INSTALL_PYTHON} FILES_MATCHING PATTERN "*.py")
install(DIRECTORY jobs examples DESTINATION ${FEDPP_INSTALL_SHARE} USE_SOURCE_PERMISSIONS PATTERN "site.sh" EXCLUDE PATTERN "__pycache__" EXCLUDE)
install(PROGRAMS scripts/plot.py DESTINATION ${FEDPP_INSTALL_SHARE}/scripts)
install(FILES README.md CONTRIBUTING.md LICENSE CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md")
foreach(layer io mpi) # what the pages of docs/ refer to
  install(FILES ${layer}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/${layer})
endforeach()
