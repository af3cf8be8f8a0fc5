#!/usr/bin/env bash
# fuzz.sh MINUTES [TARGET ...] - runs the fuzz targets (default: all), one after another, so many CPU-minutes each, from the committed corpus. New
# inputs are kept in build/fuzz/corpus, findings in build/fuzz/findings. Needs Clang with libFuzzer (Debian: clang-19 libclang-rt-19-dev).
set -euo pipefail
cd "$(dirname "$0")/.."
minutes=${1:?usage: fuzz.sh MINUTES [TARGET ...]}
shift
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(configuration csv json windows table checkpoint status result)
build=${FEDPP_FUZZ_BUILD:-build/fuzz}
[ -f "$build/CMakeCache.txt" ] || cmake --preset fuzz -B "$build"
cmake --build "$build" --target "${targets[@]/#/fuzz_}"
failed=0
for target in "${targets[@]}"; do
  mkdir -p "$build/corpus/$target" "$build/findings"
  options=(-max_len=4096 -timeout=20 -rss_limit_mb=2048 -artifact_prefix="$build/findings/$target-" -print_final_stats=1)
  [ ! -f "tests/fuzz/$target.dict" ] || options+=(-dict="tests/fuzz/$target.dict")
  echo "=== $target"
  nice -n 19 "$build/tests/fuzz/fuzz_$target" "${options[@]}" "$build/corpus/$target" "tests/fuzz/corpus/$target" >"$build/$target.log" 2>&1 &
  fuzzer=$!
  # libFuzzer's own limit counts wall time, which on a shared machine is not the work done; USR1 lets it end in peace.
  while used=$(ps -o cputimes= -p $fuzzer) && [ "$used" -lt $((minutes * 60)) ]; do sleep 2; done
  kill -USR1 $fuzzer 2>/dev/null || true
  wait $fuzzer || failed=1
  grep -E 'stat::number_of_executed_units|SUMMARY|broken promise' "$build/$target.log" || tail -3 "$build/$target.log"
done
exit $failed
