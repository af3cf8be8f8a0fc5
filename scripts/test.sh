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
# Twice as many places as cores: a run of the program counts for two and spends much of its time in one process, starting or waiting.
# shellcheck disable=SC2086  # FEDPP_CTEST_OPTIONS holds several words, as "-LE paper"
ctest --preset "$preset" -j "${FEDPP_TEST_JOBS:-$((2 * $(nproc)))}" ${FEDPP_CTEST_OPTIONS:-}
