#!/usr/bin/env bash
# find-plotting-python.sh - prints a Python that has numpy, h5py and matplotlib: FEDPP_PYTHON, the one in PATH, or the system's, which has
# them from its packages even where another one stands in front.
set -euo pipefail
for python in "${FEDPP_PYTHON:-python3}" python3 /usr/bin/python3; do
  if "$python" -c 'import h5py, matplotlib, numpy' 2>/dev/null; then
    echo "$python"
    exit 0
  fi
done
echo "find-plotting-python: no Python with numpy, h5py and matplotlib: scripts/install-packages.sh installs one on Debian," >&2
echo "'python3 -m pip install numpy h5py matplotlib' elsewhere" >&2
exit 1
