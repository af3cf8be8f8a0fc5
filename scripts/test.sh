#!/usr/bin/env bash
# test.sh [PRESET [CMAKE-OPTION ...]] - installs packages (Debian, Ubuntu), builds a preset (default: cpu) and runs all its tests.
#   scripts/test.sh
#   scripts/test.sh asan -DKokkos_ROOT=/opt/kokkos
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-cpu}

scripts/install-packages.sh
scripts/build.sh "$@"

. scripts/mpi-environment.sh
# shellcheck disable=SC2086  # FEDPP_CTEST_OPTIONS holds several words, as "-LE paper"
ctest --preset "$preset" -j "${FEDPP_TEST_JOBS:-$(nproc)}" ${FEDPP_CTEST_OPTIONS:-}
