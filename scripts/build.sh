#!/usr/bin/env bash
# build.sh [PRESET [CMAKE-OPTION ...]] - configures and builds one preset (default: cpu) in build/PRESET. Builds only what changed;
# several sources a compilation, which halves the time of a whole build (-DCMAKE_UNITY_BUILD=OFF: each its own, faster after an edit).
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-cpu}
[ $# -eq 0 ] || shift
cmake --preset "$preset" -DCMAKE_UNITY_BUILD=ON "$@"
cmake --build --preset "$preset" -j "${FEDPP_BUILD_JOBS:-$(nproc)}"
