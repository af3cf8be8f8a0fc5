#!/usr/bin/env bash
# check-tidy.sh - clang-tidy 19 (.clang-tidy) over the layers below `federation` that do without Kokkos, with the compile commands of a folder that is configured and never
# built. A layer's sources go together, as the unity build includes them: most of the time goes into the headers, which are then read once.
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/tidy/UnifiedSource  # the analyser enters what a unit includes only if the unit's path has this word
command -v clang-tidy-19 >/dev/null || { echo "check-tidy: clang-tidy-19 is missing (Debian: apt-get install clang-tidy-19)" >&2; exit 1; }
cmake --preset cpu -B "$build" -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=10 >/dev/null
# Including a source, of which bugprone-suspicious-include warns, is what a unit does. The analyser's budget of paths a function (max-nodes,
# 225,000 unless told) is what its time goes by.
printf '%s\0' "$build"/{io,mpi,src/{config,data,evaluation,structural_entropy,bayesian_optimisation}}/CMakeFiles/*.dir/Unity/unity_*.cxx |
  xargs -0 -n 1 -P "${FEDPP_BUILD_JOBS:-$(nproc)}" clang-tidy-19 -p "$build" --quiet --config-file=.clang-tidy \
    --checks=-bugprone-suspicious-include --extra-arg={-Xclang,-analyzer-config,-Xclang,max-nodes=30000} 2>&1 |
  { grep -vE "^[0-9]+ warnings? (and [0-9]+ errors? )?generated|^Suppressed|^Use -header-filter" || true; }
