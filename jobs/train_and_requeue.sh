# Sourced by run.sbatch and sweep.sbatch after environment.sh.
#
# train_and_requeue OUT CONFIG [ARGUMENT...]: trains on all tasks of the job from the newest intact checkpoint in OUT, or from the
# start. When SLURM says that time is nearly up (--signal=B:USR1@...), or sends TERM (preemption), the ranks finish their round and write a
# checkpoint; then the job puts itself back into the queue, also where they died of the request (while they started, or because a round took
# longer than the time that was left). After another failure it does so, too, as long as it got further than the time before.
#   FEDPP_MAX_RESTARTS   (default 100)

train_and_requeue() {
  local out=$1 config=$2 code=0 asked= interrupted= ranks= before after job=${SLURM_JOB_ID:-}
  # The last task of an array has the array's own number, by which SLURM means all its tasks. (A job submitted from a task inherits the
  # array's variables, not its number.)
  [ "$job" != "${SLURM_ARRAY_JOB_ID:-none}" ] || job=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID
  shift 2
  newest_checkpoint() { find "$out" -maxdepth 1 -name 'checkpoint-*.h5' 2>/dev/null | sort | tail -1; }
  before=$(newest_checkpoint)
  echo "$(date -u +%FT%TZ) job ${job:-none}, restart ${SLURM_RESTART_COUNT:-0}, on ${SLURM_JOB_NODELIST:-this machine}, from ${before:-the start}"

  pass_on() { [ -z "$ranks" ] || kill -USR1 "$ranks" 2>/dev/null; }
  trap 'asked=yes interrupted=yes; echo "$(date -u +%FT%TZ) asked to stop: a checkpoint after this round"; pass_on' USR1 TERM
  on_ranks "" train "$config" --out "$out" --auto-resume "$@" &
  ranks=$!
  [ -z "$asked" ] || pass_on # it came before there was anyone to tell
  while interrupted=; do
    code=0
    wait $ranks || code=$?
    [ -n "$interrupted" ] || break # else a trapped signal may have ended wait, not the ranks; of ranks that are gone it says the code again
  done
  trap - USR1 TERM
  after=$(newest_checkpoint)
  # srun ends with 0, too, where a node could not start its tasks.
  if [ $code -eq 0 ] && [ ! -e "$out/result.json" ]; then
    echo "the launcher ended without a failure, but there is no result" >&2
    code=75
  fi
  echo "$(date -u +%FT%TZ) fedpp ended with code $code; checkpoint: ${after:-none}"
  # Ranks that were asked to stop while they loaded libraries, or that mpirun or SLURM ended in the middle of a round, failed at nothing.
  [ -z "$asked" ] || [ $code -eq 0 ] || [ $code -eq 2 ] || code=75

  case $code in
    0 | 2) return $code ;; # done; a mistake of the user's, which no restart mends
    75) ;; # stopped by a signal after a checkpoint, or never started
    *)
      if [ "$after" = "$before" ]; then
        echo "no further than the time before: not put back into the queue" >&2
        return $code
      fi
      ;;
  esac
  if [ -z "$job" ] || [ "${SLURM_RESTART_COUNT:-0}" -ge "${FEDPP_MAX_RESTARTS:-100}" ]; then
    echo "go on with: fedpp train $config --out $out --auto-resume" >&2
    return $code
  fi
  # A job that was cancelled stays so, and one that was preempted SLURM puts back itself.
  if ! scontrol -o show job "$job" | grep -q 'JobState=RUNNING'; then
    echo "the job was ended from outside; go on with: fedpp train $config --out $out --auto-resume" >&2
    return $code
  fi
  echo "back into the queue"
  scontrol requeue "$job"
  return $code
}
