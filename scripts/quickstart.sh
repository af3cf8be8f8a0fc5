#!/usr/bin/env bash
# quickstart.sh - from a fresh clone to a trained federation: installs packages (Debian, Ubuntu), builds, trains on the NYC taxi
# trips that ship with the project, and draws figures. Needs no root where the packages are there. Runs again quickly.
#   FEDPP_RANKS=N   MPI ranks (default: the cores, at least 2 and at most 8)
#   FEDPP_OUT=DIR   results (default: out/nyc-taxi)
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-packages.sh
scripts/build.sh cpu

. scripts/mpi-environment.sh
cores=$(nproc)
ranks=${FEDPP_RANKS:-$((cores < 2 ? 2 : cores > 8 ? 8 : cores))}
out=${FEDPP_OUT:-out/nyc-taxi}
resume=()  # a second call goes on where the first one ended
if compgen -G "$out/checkpoint-*.h5" >/dev/null; then resume=(--resume); fi
mpirun -n "$ranks" build/cpu/src/fedpp train examples/nyc-taxi/train.toml --out "$out" "${resume[@]}"

python=$(scripts/find-plotting-python.sh)
"$python" scripts/plot.py "$out"
FEDPP_PYTHON=$python build/cpu/src/fedpp report "$out"
