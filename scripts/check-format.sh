#!/usr/bin/env bash
# check-format.sh [--fix] - compares (or brings) every C++ file under version control with .clang-format, by clang-format 19.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v clang-format-19 >/dev/null || { echo "check-format: clang-format-19 is missing (Debian: apt-get install clang-format-19)" >&2; exit 1; }
mode=(--dry-run --Werror)
[ "${1:-}" != "--fix" ] || mode=(-i)
git ls-files -z '*.cpp' '*.hpp' | xargs -0 clang-format-19 "${mode[@]}"
