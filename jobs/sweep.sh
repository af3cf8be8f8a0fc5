#!/usr/bin/env bash
# sweep.sh GRID CONFIG OUT [SBATCH-OPTION ...] - trains CONFIG once for every line of GRID, as one array of jobs, and gathers the results in
# OUT/table.csv when all have ended. A line holds settings as for --set, separated by blanks; # begins a comment:
#
#   training.learning_rate=0.01 federation.seed=1
#   training.learning_rate=0.03 federation.seed=1
#
# Results of line N (lines without settings not counted) are in OUT/NNN. The same grid and CONFIG may be submitted again, to go on with what has not finished.
# Prints the numbers of the array and of the job that gathers, which is charged and placed as the array is (--account, --partition, --qos,
# --reservation, --clusters).
set -euo pipefail
[ $# -ge 3 ] || { echo "usage: sweep.sh GRID CONFIG OUT [SBATCH-OPTION ...]" >&2; exit 2; }
grid=$1 config=$2 out=$3
shift 3
[ -r "$config" ] || { echo "sweep.sh: no configuration $config" >&2; exit 2; }
home=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export FEDPP_HOME=${FEDPP_HOME:-$home}
lines=$(sed 's/#.*//' "$grid" | tr -d '\r' | grep '[^[:space:]]') || { echo "sweep.sh: $grid has no line with settings" >&2; exit 2; }
tasks=$(wc -l <<<"$lines")
if [ -e "$out/grid.txt" ] && ! diff -q "$out/grid.txt" - <<<"$lines" >/dev/null; then
  echo "sweep.sh: $out holds a sweep of another grid ($out/grid.txt), whose runs would pass for those of $grid: name another folder than $out" >&2
  exit 2
fi
if [ -e "$out/config.toml" ] && ! cmp -s "$config" "$out/config.toml"; then
  echo "sweep.sh: $out holds a sweep of another configuration ($out/config.toml), whose results would pass for those of $config: name another folder than $out" >&2
  exit 2
fi
mkdir -p "$out"
echo "$lines" >"$out/grid.txt" # what is swept, as it was when submitted
[ -e "$out/config.toml" ] || cp "$config" "$out/config.toml"

shared=() # options of the array that the job which gathers needs, too
for ((i = 1; i <= $#; ++i)); do
  case ${!i} in
    --account=* | --partition=* | --qos=* | --reservation=* | --clusters=* | -[ApqM]?*) shared+=("${!i}") ;;
    --account | --partition | --qos | --reservation | --clusters | -[ApqM]) shared+=("${!i}" "${@:i+1:1}") ;;
  esac
done

array=$(sbatch --parsable --array="1-$tasks" "$@" "$home/jobs/sweep.sbatch" "$config" "$out")
array=${array%%;*} # ";CLUSTER" follows where there are several
echo "$array"
gather=$(sbatch --parsable ${shared[@]+"${shared[@]}"} --dependency="afterany:$array" --ntasks=1 --cpus-per-task=1 --time=10 --job-name=fedpp-gather --output="$out/gather.log" \
  --wrap="python3 '$home/jobs/gather.py' '$out'")
echo "${gather%%;*}"
