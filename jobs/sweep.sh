#!/usr/bin/env bash
# sweep.sh GRID CONFIG OUT [SBATCH-OPTION ...] - trains CONFIG once for every line of GRID, as one array of jobs, and gathers the results in
# OUT/table.csv when all have ended. A line holds settings as for --set, separated by blanks; # begins a comment:
#
#   training.learning_rate=0.01 federation.seed=1
#   training.learning_rate=0.03 federation.seed=1
#
# Results of line N (lines without settings not counted) are in OUT/NNN. Prints the numbers of the array and of the job that gathers.
set -euo pipefail
[ $# -ge 3 ] || { echo "usage: sweep.sh GRID CONFIG OUT [SBATCH-OPTION ...]" >&2; exit 2; }
grid=$1 config=$2 out=$3
shift 3
home=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export FEDPP_HOME=${FEDPP_HOME:-$home}
tasks=$(sed 's/#.*//' "$grid" | grep -c '[^[:space:]]') || { echo "sweep.sh: $grid has no line with settings" >&2; exit 2; }
mkdir -p "$out"
sed 's/#.*//' "$grid" | grep '[^[:space:]]' >"$out/grid.txt" # what is swept, as it was when submitted
array=$(sbatch --parsable --array="1-$tasks" "$@" "$home/jobs/sweep.sbatch" "$config" "$out")
gather=$(sbatch --parsable --dependency="afterany:$array" --ntasks=1 --cpus-per-task=1 --time=10 --job-name=fedpp-gather --output="$out/gather.log" \
  --wrap="python3 '$home/jobs/gather.py' '$out'")
echo "$array $gather"
