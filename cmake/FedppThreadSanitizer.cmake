# What tests of a build with FEDPP_SANITIZE=thread run with, as FEDPP_THREAD_SANITIZER_ENVIRONMENT. GCC's libgomp is not instrumented:
# the sanitizer does not see that a parallel region's end waits for its threads, and reports races where there are none. LLVM's libomp
# takes its place (it has libgomp's entry points, too) and tells the sanitizer by Archer what waits for what. Kokkos' barriers within a
# team are not instrumented either: teams of one thread.
find_library(FEDPP_LIBOMP NAMES libomp.so.5 omp PATHS ENV LIBRARY_PATH PATH_SUFFIXES lib llvm/lib llvm-14/lib llvm-19/lib
             DOC "LLVM's OpenMP runtime, for the thread sanitizer")
find_library(FEDPP_ARCHER NAMES archer PATHS ENV LIBRARY_PATH PATH_SUFFIXES lib llvm/lib llvm-14/lib llvm-19/lib
             DOC "LLVM's Archer, for the thread sanitizer")
set(FEDPP_THREAD_SANITIZER_ENVIRONMENT "")
if(FEDPP_SANITIZE STREQUAL "thread" AND "OPENMP" IN_LIST Kokkos_DEVICES)
  if(FEDPP_LIBOMP AND FEDPP_ARCHER AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libtsan.so OUTPUT_VARIABLE libtsan OUTPUT_STRIP_TRAILING_WHITESPACE)
    file(REAL_PATH "${libtsan}" libtsan)
    set(FEDPP_THREAD_SANITIZER_ENVIRONMENT "LD_PRELOAD=${libtsan}:${FEDPP_LIBOMP}" "OMP_TOOL_LIBRARIES=${FEDPP_ARCHER}"
        TSAN_OPTIONS=ignore_noninstrumented_modules=1 FEDPP_TEAM_SIZE=1)
  else()
    message(WARNING "The thread sanitizer will report races where there are none: GCC and LLVM's libomp and libarcher (Debian: libomp-14-dev) "
                    "are needed to tell it what OpenMP's threads wait for. See CONTRIBUTING.md.")
  endif()
endif()
