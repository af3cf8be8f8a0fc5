#!/usr/bin/env bash
# bench.sh [PRESET [CMAKE-OPTION ...]] - builds a preset (default: cpu) with the benchmarks, runs all of them on one rank, and leaves
# bench/results/DATE-REVISION-DEVICE.json with a picture of the roofline beside it, medians of five (FEDPP_BENCH_REPETITIONS) among its lines.
# FEDPP_BENCH_FILTER picks benchmarks by name. Where FEDPP_PEER_PYTHON names a Python that has PyTorch, the workloads are then run in
# turns with the peer, on the same device: DATE-REVISION-DEVICE-peer-WORKLOAD.json.
#   scripts/bench.sh
#   FEDPP_PEER_PYTHON=python3 scripts/bench.sh cuda -DKokkos_ROOT=$KOKKOS_CUDA_PREFIX      # on a GPU machine
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-cpu}
[ -z "${FEDPP_PEER_PYTHON:-}" ] || "$FEDPP_PEER_PYTHON" -c 'import torch' ||
  { echo "bench: FEDPP_PEER_PYTHON=$FEDPP_PEER_PYTHON has no PyTorch: name one that has, or leave it out" >&2; exit 1; }
scripts/build.sh "$preset" -DFEDPP_BUILD_BENCH=ON "${@:2}"
. scripts/mpi-environment.sh
export OPENBLAS_NUM_THREADS=1 KOKKOS_DISABLE_WARNINGS=1
[ -n "${FEDPP_SHARED:-}" ] || { [ -d ../shared/data ] && export FEDPP_SHARED=$PWD/../shared; } || true

mkdir -p bench/results
# As the results name it: one processor's name stands for many, so its family and model are added.
of() { sed -n "s/^$1[[:space:]]*: //p" /proc/cpuinfo | head -1; }
processor() { echo "$(of 'model name') $(of 'cpu family') $(of model)"; }
device=$( (command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name --format=csv,noheader | head -1 || processor) |
  tr -cs '[:alnum:]\n' - | tr '[:upper:]' '[:lower:]' | sed 's/-$//')
name=bench/results/$(date +%F)-$(git rev-parse --short=8 HEAD)-${device:-unknown}
out=$name.json
"build/$preset/bench/fedpp_bench" --benchmark_filter="${FEDPP_BENCH_FILTER:-.}" --benchmark_repetitions="${FEDPP_BENCH_REPETITIONS:-5}" \
  --benchmark_report_aggregates_only=true --benchmark_out="$out" --benchmark_out_format=json
if python=$(scripts/find-plotting-python.sh); then "$python" bench/roofline.py "$out"; fi
if [ -n "${FEDPP_PEER_PYTHON:-}" ]; then
  [ "$preset" = cuda ] && device=cuda || device=cpu
  for workload in a b c d; do
    clients=()
    [ $device-$workload = cpu-b ] && clients=(--clients 2)  # minutes a turn otherwise
    "$FEDPP_PEER_PYTHON" bench/peer/measure.py "build/$preset" "$workload" --device "$device" "${clients[@]}" --out "$name-peer-$workload.json"
  done
fi
echo "bench: $out"
