#!/usr/bin/env bash
# check-device-code.sh KOKKOS-CUDA-HEADERS [ARCH] - compiles every source that holds kernels or arrays of the device (gpu/, src/model/, some of
# bench/), and tests that hold kernels, with nvcc for one architecture (default: 90), against the headers of a Kokkos that has CUDA switched on.
# Links and runs nothing. Fails, too, where device code calls a function that is the host's alone (nvcc itself only warns, and the call ends the
# kernel), and where a kernel keeps more than 64 bytes a thread in local memory, which is global memory: registers that do not suffice, or an
# array whose index the compiler does not know.
set -euo pipefail
headers=$(realpath "${1:?usage: check-device-code.sh KOKKOS-CUDA-HEADERS [ARCH]}")
arch=${2:-90}
cd "$(dirname "$0")/.."
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
[ -x "$nvcc" ] || { echo "check-device-code: no nvcc in PATH: load the CUDA toolkit" >&2; exit 1; }
mpi_folders=$(mpicxx -show | grep -o -- '-I[^ ]*' | tr '\n' ' ' || true)  # words: the paths of an MPI have no blanks
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT

# Several sources a compilation, as scripts/build.sh has them: their headers are read once.
compile() {
  local unit=$objects/unit-$1.cpp status=0
  shift
  printf '#include "%s"\n' "${@/#/$PWD/}" >"$unit"
  "$nvcc" -x cu -std=c++20 --extended-lambda -arch="sm_$arch" -Xptxas -v -Werror cross-execution-space-call -Xcompiler -fopenmp \
    -DFMT_CONSTEVAL= -DFMT_USE_CONSTEXPR=1 -isystem "$headers" $mpi_folders -I. -Isrc -Itests -c "$unit" -o "$unit.o" 2>"$unit.log" || status=$?
  grep -vE '^ptxas info|bytes stack frame' "$unit.log" >&2 || true
  [ "$status" -eq 0 ] && printf "  sm_$arch  %s\n" "$@"
}
export -f compile
export nvcc arch headers objects mpi_folders
mapfile -t others < <(grep -lE 'FEDPP_KERNEL|gpu::(Array|to_device)|KOKKOS_ENABLE_CUDA' bench/*.cpp && grep -l FEDPP_KERNEL tests/*/*.cpp)
sources=(gpu/*.cpp src/model/*.cpp "${others[@]}")
printf '%s\0' "${sources[@]}" | xargs -0 -n 10 -P "${FEDPP_BUILD_JOBS:-$(nproc)}" bash -c 'compile $$ "$@"' compile
echo "check-device-code: ${#sources[@]} sources compile for sm_$arch"

# What ptxas says of each kernel: its name, its stack frame and spills (some are parts of the frame), its registers.
cat "$objects"/*.log | c++filt | awk -v most=64 '
  /Compiling entry function/ { kernel = $0; ++kernels }
  /bytes stack frame/ && $1 > 0 { ++local; if ($1 > most) { print "  " $0 ": " substr(kernel, 1, 600); ++bad } }
  /Used [0-9]+ registers/ { for (i = 1; i < NF; ++i) if ($i == "Used" && $(i + 1) > registers) registers = $(i + 1) }
  END {
    printf "check-device-code: %d kernels, up to %d registers a thread; %d functions with local memory, %d with more than %d bytes of it\n", kernels, registers, local, bad, most
    exit kernels == 0 || bad > 0
  }'
