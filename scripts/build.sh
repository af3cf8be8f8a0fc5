#!/usr/bin/env bash
# build.sh [PRESET [CMAKE-OPTION ...]] - configures and builds one preset (default: cpu) in build/PRESET. Builds only what changed;
# several sources a compilation, which halves the time of a whole build (-DCMAKE_UNITY_BUILD=OFF: each its own, faster after an edit).
# FEDPP_BUILD_TARGETS names what to build instead of all.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-cpu}
[ $# -eq 0 ] || shift
cmake --preset "$preset" -DCMAKE_UNITY_BUILD=ON "$@"
# shellcheck disable=SC2086  # FEDPP_BUILD_TARGETS holds several words
cmake --build --preset "$preset" ${FEDPP_BUILD_TARGETS:+--target $FEDPP_BUILD_TARGETS} -j "${FEDPP_BUILD_JOBS:-$(nproc)}"
