#!/usr/bin/env bash
# bench.sh [PRESET [CMAKE-OPTION ...]] - builds a preset (default: cpu) with the benchmarks, runs all of them on one rank, and leaves
# bench/results/DATE-REVISION-DEVICE.json with a picture of the roofline beside it. FEDPP_BENCH_FILTER picks benchmarks by name.
#   scripts/bench.sh
#   scripts/bench.sh cuda -DKokkos_ROOT=$KOKKOS_CUDA_PREFIX      # on a GPU machine
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-cpu}
scripts/build.sh "$preset" -DFEDPP_BUILD_BENCH=ON "${@:2}"
. scripts/mpi-environment.sh
export OPENBLAS_NUM_THREADS=1 KOKKOS_DISABLE_WARNINGS=1
[ -n "${FEDPP_SHARED:-}" ] || { [ -d ../shared/data ] && export FEDPP_SHARED=$PWD/../shared; } || true

mkdir -p bench/results
device=$( (command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name --format=csv,noheader | head -1 || sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1) |
  tr -cs '[:alnum:]\n' - | tr '[:upper:]' '[:lower:]' | sed 's/-$//')
out=bench/results/$(date +%F)-$(git rev-parse --short=8 HEAD)-${device:-unknown}.json
"build/$preset/bench/fedpp_bench" --benchmark_filter="${FEDPP_BENCH_FILTER:-.}" --benchmark_out="$out" --benchmark_out_format=json
if python=$(scripts/find-plotting-python.sh); then "$python" bench/roofline.py "$out"; fi
echo "bench: $out"
