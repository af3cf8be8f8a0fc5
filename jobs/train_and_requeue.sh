# Sourced by run.sbatch and sweep.sbatch after environment.sh.
#
# train_and_requeue OUT CONFIG [ARGUMENT...]: trains on all tasks of the job from the newest intact checkpoint in OUT, or from the
# start. When SLURM says that time is nearly up (--signal=B:USR1@...), or sends TERM (preemption), the ranks finish their round and write a
# checkpoint; then the job puts itself back into the queue, also where they died of the request while they started. After another failure it
# does so, too, as long as it got further than the time before; where the ranks died before the training began, as an MPI does whose start
# failed on one of several nodes, once.
# SLURM takes back no job that ran into its limit: 45 s before it the job goes back whatever the ranks do. Where all the time went by twice in
# a row without a new checkpoint, it stays out.
#   FEDPP_MAX_RESTARTS   (default 100)

train_and_requeue() {
  local out=$1 config=$2 code=0 asked= time_up= never_began= interrupted= ranks= watch= before after begun job=${SLURM_JOB_ID:-}
  # The last task of an array has the array's own number, by which SLURM means all its tasks. (A job submitted from a task inherits the
  # array's variables, not its number.)
  [ "$job" != "${SLURM_ARRAY_JOB_ID:-none}" ] || job=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID
  shift 2
  say() { echo "$(date -u +%FT%TZ) $*"; }
  newest_checkpoint() { find "$out" -maxdepth 1 -name 'checkpoint-*.h5' 2>/dev/null | sort | tail -1; }
  trainings_begun() { cat "$out/status.jsonl" 2>/dev/null | grep -c '"event":"start"'; }
  before=$(newest_checkpoint) begun=$(trainings_begun)
  say "job ${job:-none}, restart ${SLURM_RESTART_COUNT:-0}, ${SLURM_NTASKS:+$SLURM_NTASKS tasks }on ${SLURM_JOB_NODELIST:-this machine}, from ${before:-the start}"

  put_back() {
    if [ -z "$job" ]; then
      echo "go on with: fedpp train $config --out $out --auto-resume" >&2
      return
    fi
    if [ "${SLURM_RESTART_COUNT:-0}" -ge "${FEDPP_MAX_RESTARTS:-100}" ]; then
      echo "started again ${SLURM_RESTART_COUNT:-0} times, as often as FEDPP_MAX_RESTARTS=${FEDPP_MAX_RESTARTS:-100} allows: not put back into the queue; submit it again to go on" >&2
      return
    fi
    # A job that was cancelled stays so, and one that was preempted SLURM puts back itself.
    if ! scontrol -o show job "$job" | grep -q 'JobState=RUNNING'; then
      echo "the job was ended from outside (after a failed node or preemption SLURM puts it back itself); else go on with: fedpp train $config --out $out --auto-resume" >&2
      return
    fi
    if [ -n "$time_up$never_began" ] && [ "$(newest_checkpoint)" = "$before" ]; then
      local life=${SLURM_RESTART_COUNT:-0} where="${before:-the start}${never_began:+, never begun}"
      if [ "$(cat "$out/requeued-from" 2>/dev/null)" = "$((life - 1)) $where" ]; then
        if [ -n "$never_began" ]; then
          echo "twice in a row the ranks ended before the training began: not put back into the queue" >&2
        else
          echo "twice in a row the time was up without a checkpoint: not put back into the queue; ask for more time (sbatch --time=...)" >&2
        fi
        return
      fi
      mkdir -p "$out" && echo "$life $where" >"$out/requeued-from"
    fi
    echo "back into the queue"
    scontrol requeue "$job"
  }
  # 0: it has put the job back, or said why not.
  put_back_in_time() {
    local now end lead
    now=$(date +%s)
    end=$(scontrol -o show job "$job" 2>/dev/null | sed -n 's/.* EndTime=\([^ ]*\).*/\1/p')
    [ -n "$end" ] && end=$(date -d "$end" +%s 2>/dev/null) || end=$((now + 180)) # as --signal says
    lead=$((end - now))
    [ "$lead" -gt 0 ] || return 1
    read -r -t $((lead > 90 ? lead - 45 : lead / 2)) <> <(:) # sleeps without a child, which would outlive this
    trap '' TERM
    say "the ranks are still at work"
    put_back
    return 0
  }
  watch_the_time() {
    put_back_in_time &
    watch=$!
  }
  ask() {
    asked=yes interrupted=yes
    say "asked to stop: a checkpoint after this round"
    [ "$1" != USR1 ] || time_up=yes
    [ -n "$ranks" ] || return # nobody to tell yet
    kill -USR1 "$ranks" 2>/dev/null
    [ -z "$time_up" ] || [ -n "$watch" ] || watch_the_time
  }
  trap 'ask USR1' USR1
  trap 'ask TERM' TERM
  on_ranks "" train "$config" --out "$out" --auto-resume "$@" &
  ranks=$!
  [ -z "$asked" ] || kill -USR1 "$ranks" 2>/dev/null # it came before there was anyone to tell
  [ -z "$time_up" ] || [ -n "$watch" ] || watch_the_time
  while interrupted=; do
    code=0
    wait $ranks || code=$?
    [ -n "$interrupted" ] || break # else a trapped signal may have ended wait, not the ranks; of ranks that are gone it says the code again
  done
  trap - USR1 TERM
  local put_back_already=
  if [ -n "$watch" ]; then
    kill "$watch" 2>/dev/null
    ! wait "$watch" || put_back_already=yes
  fi
  after=$(newest_checkpoint)
  # srun ends with 0, too, where a node could not start its tasks.
  if [ $code -eq 0 ] && [ ! -e "$out/result.json" ]; then
    echo "the launcher ended without a failure, but there is no result" >&2
    code=75
  fi
  say "fedpp ended with code $code; checkpoint: ${after:-none}"
  # Ranks that were asked to stop while they loaded libraries, or that mpirun or SLURM ended in the middle of a round, failed at nothing.
  [ -z "$asked" ] || [ $code -eq 0 ] || [ $code -eq 2 ] || code=75

  [ -z "$put_back_already" ] || return $code
  case $code in
    0 | 2) ;; # done; a mistake of the user's, which no restart mends
    75) put_back ;; # stopped by a signal after a checkpoint, or never started
    *)
      if [ "$after" = "$before" ] && [ "$(trainings_begun)" != "$begun" ]; then
        echo "no further than the time before: not put back into the queue" >&2
      else
        [ "$after" != "$before" ] || never_began=yes
        put_back
      fi
      ;;
  esac
  return $code
}
