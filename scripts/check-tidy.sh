#!/usr/bin/env bash
# check-tidy.sh - clang-tidy 19 (.clang-tidy) over the layers without Kokkos, with the compile commands of build/tidy, which is configured and
# never built: every source by itself.
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/tidy
command -v clang-tidy-19 >/dev/null || { echo "check-tidy: clang-tidy-19 is missing (Debian: apt-get install clang-tidy-19)" >&2; exit 1; }
cmake --preset cpu -B "$build" -DCMAKE_UNITY_BUILD=OFF >/dev/null
git ls-files -z 'io/*.cpp' 'mpi/*.cpp' 'src/config/*.cpp' 'src/data/*.cpp' 'src/evaluation/*.cpp' |
  xargs -0 -n 2 -P "${FEDPP_BUILD_JOBS:-$(nproc)}" clang-tidy-19 -p "$build" --quiet 2>&1 |
  { grep -vE "^[0-9]+ warnings? (and [0-9]+ errors? )?generated|^Suppressed|^Use -header-filter" || true; }
