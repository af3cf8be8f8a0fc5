#!/usr/bin/env bash
# build.sh [PRESET [CMAKE-OPTION ...]] - configures and builds one preset (default: cpu) in build/PRESET. Builds only what changed.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-cpu}
[ $# -eq 0 ] || shift
cmake --preset "$preset" "$@"
cmake --build --preset "$preset" -j "${FEDPP_BUILD_JOBS:-$(nproc)}"
