#!/usr/bin/env bash
# install-packages.sh [PACKAGE ...] - installs what fedpp is built from on Debian 12, 13 and Ubuntu, and further packages named.
# Does nothing, and needs no root, where all of it is there.
set -euo pipefail

packages=(
  g++ cmake ninja-build git
  libtrilinos-kokkos-dev libopenblas-dev liblapack-dev         # kernels
  libopenmpi-dev openmpi-bin libhdf5-openmpi-dev               # ranks and files
  libcli11-dev libtomlplusplus-dev nlohmann-json3-dev libspdlog-dev libfmt-dev zlib1g-dev libxxhash-dev
  libgtest-dev libgmock-dev libbenchmark-dev                   # tests and benchmarks
  python3 python3-numpy python3-h5py python3-matplotlib        # tests of the command line, figures
  "$@"
)

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "install-packages: this is not Debian or Ubuntu, so nothing is installed here. What the build misses, it names; on a" >&2
  echo "cluster take modules or Spack (README.md, 'On a cluster'). The packages on Debian are: ${packages[*]}" >&2
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  [ "$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null)" = "install ok installed" ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "install-packages: missing: ${missing[*]}" >&2
    echo "install-packages: you are not root and there is no sudo: ask for 'apt-get install ${missing[*]}'" >&2
    exit 1
  fi
  root=(sudo)
fi
echo "install-packages: installing ${missing[*]}"
"${root[@]}" apt-get -q update
"${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends "${missing[@]}"
