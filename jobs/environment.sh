# Sourced by the job scripts: makes `fedpp` runnable on this machine and defines how ranks are started. Nothing of a particular site
# is written here; it comes from variables, set in the shell that submits (sbatch passes them on) or in jobs/environment/site.sh,
# which is yours and not under version control.
#
#   FEDPP_HOME        the folder that holds jobs/: the repository (default: where the job was submitted), or PREFIX/share/fedpp
#   FEDPP_MACHINE     plain (default): packages of a distribution, or an executable in PATH; modules; spack; apptainer
#   FEDPP             the executable (default: build/cuda, build/cpu or the installed one beside FEDPP_HOME, else in PATH)
#   FEDPP_LAUNCHER    srun (default under SLURM) or mpirun
#   FEDPP_SRUN        further options of srun, as in "--mpi=pmix --cpu-bind=cores"
#   FEDPP_MPIRUN      further options of mpirun; where they say --map-by or --bind-to, ranks are placed by them alone
#   FEDPP_MODULES     modules to load, for FEDPP_MACHINE=modules
#   FEDPP_SPACK_ENV   folder of a Spack environment, for FEDPP_MACHINE=spack (default: jobs/environment)
#   FEDPP_IMAGE       the container, for FEDPP_MACHINE=apptainer (default: fedpp.sif)
#   FEDPP_BIND        folders that the container sees beside those of its own, as apptainer's --bind takes them: /data,/scratch
#   FEDPP_MAX_RESTARTS    how often a job of run.sbatch or sweep.sh goes back into the queue (default: 100)
#   FEDPP_NCU_LAUNCHES    kernel launches that profile.sbatch shows under ncu (default: 60)
#   FEDPP_PYTHON      the Python with Matplotlib for figures (default: python3 in PATH, then /usr/bin/python3)

FEDPP_HOME=${FEDPP_HOME:-${SLURM_SUBMIT_DIR:-$PWD}}
fedpp_jobs=$FEDPP_HOME/jobs
case $- in *u*) fedpp_unset=-u ;; *) fedpp_unset=+u ;; esac
set +u # scripts of sites and of modules read variables that are not set
[ ! -f "$fedpp_jobs/environment/site.sh" ] || . "$fedpp_jobs/environment/site.sh"

fedpp_command=()
if [ -z "${FEDPP:-}" ]; then
  FEDPP=fedpp
  for built in "$FEDPP_HOME"/../../bin/fedpp "$FEDPP_HOME"/build/cpu/src/fedpp "$FEDPP_HOME"/build/cuda/src/fedpp; do
    [ ! -x "$built" ] || FEDPP=$built
  done
fi
[ -r "$fedpp_jobs/environment/${FEDPP_MACHINE:=plain}.sh" ] || { echo "environment.sh: FEDPP_MACHINE=$FEDPP_MACHINE: plain, modules, spack or apptainer" >&2; exit 2; }
. "$fedpp_jobs/environment/$FEDPP_MACHINE.sh"
set $fedpp_unset
[ ${#fedpp_command[@]} -gt 0 ] || fedpp_command=("$FEDPP")

# Threads: what SLURM gives a task, and none for BLAS inside a rank.
fedpp_threads_bound=${OMP_PROC_BIND:-}
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-${SLURM_CPUS_PER_TASK:-1}} OMP_PROC_BIND=${OMP_PROC_BIND:-spread} OMP_PLACES=${OMP_PLACES:-threads}
export OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 KOKKOS_DISABLE_WARNINGS=1

# A folder has one run at a time (train.lock) and a checkpoint its name only when it is whole. HDF5's own locks add nothing, and where a file
# system has none, older versions of HDF5 refuse to write.
export HDF5_USE_FILE_LOCKING=${HDF5_USE_FILE_LOCKING:-FALSE}

# fedpp hands MPI host memory only (2P numbers a round): a library that looks for device memory in its buffers would only take time at its start
# and memory on the GPU. By the names of Open MPI 4 and 5, MPICH, MVAPICH and Intel MPI.
export OMPI_MCA_opal_cuda_support=0 OMPI_MCA_accelerator=null MPICH_GPU_SUPPORT_ENABLED=0 MV2_USE_CUDA=0 I_MPI_OFFLOAD=0

# place_ranks RANKS: fedpp_placement, the options by which Open MPI's mpirun gives each rank a core a thread. Left alone it binds each of two
# ranks to one core and more of them to a socket, where their threads meet on its first cores. Where it has not as many cores (hardware
# threads that SLURM counts as CPUs, more ranks than cores) the system places the threads.
place_ranks() {
  local ranks=$1
  fedpp_placement=
  case "${FEDPP_MPIRUN:-}" in *--map-by* | *--bind-to*) return ;; esac
  case "$(mpirun --version 2>/dev/null)" in *"Open MPI"* | *OpenRTE*) ;; *) return ;; esac
  fedpp_placement="--map-by slot:PE=$OMP_NUM_THREADS"
  if ! mpirun ${ranks:+-n "$ranks"} $fedpp_placement ${FEDPP_MPIRUN:-} true </dev/null >/dev/null 2>&1; then
    echo "environment.sh: mpirun cannot give each rank $OMP_NUM_THREADS cores: they are not bound (FEDPP_MPIRUN=\"--map-by ...\" places them)" >&2
    fedpp_placement="--bind-to none"
    export OMP_PROC_BIND=${fedpp_threads_bound:-false}
  fi
}

# give_cores: SRUN_CPUS_PER_TASK, by which srun gives each rank a core a thread and binds it there. Since SLURM 22.05 srun takes the number from
# this variable only, and without it binds nothing in a step that is smaller than the job. Where the job has not as many cores, srun would
# refuse the step: it is left alone.
give_cores() {
  local nodes=${SLURM_JOB_NUM_NODES:-1} tasks=${SLURM_NTASKS:-1}
  if [ -n "${SLURM_CPUS_PER_TASK:-}" ] || [ $(((tasks + nodes - 1) / nodes * OMP_NUM_THREADS)) -le "${SLURM_CPUS_ON_NODE:-0}" ]; then
    export SRUN_CPUS_PER_TASK=${SRUN_CPUS_PER_TASK:-${SLURM_CPUS_PER_TASK:-$OMP_NUM_THREADS}}
  fi
}

# A rank that srun did not bind sees the cores of others, too. OpenMP would bind the first thread of each of these ranks to the first core.
fedpp_unbound='[ "$(env -u OMP_NUM_THREADS nproc)" -le "$OMP_NUM_THREADS" ] || export OMP_PROC_BIND=false; exec "$@"'

# on_ranks RANKS ARGUMENT...: fedpp on that many ranks ("" for all tasks of the job). A rank that dies ends the others within seconds.
on_ranks() {
  local ranks=$1
  shift
  case ${FEDPP_LAUNCHER:-srun} in
    srun)
      give_cores
      [ -n "$fedpp_threads_bound" ] || fedpp_command=(bash -c "$fedpp_unbound" rank "${fedpp_command[@]}")
      # A step of some of the job's cores would have their share of its memory only.
      exec srun ${ranks:+--ntasks="$ranks"} --mem=0 --kill-on-bad-exit=1 ${FEDPP_SRUN:-} "${fedpp_command[@]}" "$@" ;;
    mpirun)
      place_ranks "$ranks"
      exec mpirun ${ranks:+-n "$ranks"} $fedpp_placement ${FEDPP_MPIRUN:-} "${fedpp_command[@]}" "$@" ;;
    *) echo "environment.sh: FEDPP_LAUNCHER=$FEDPP_LAUNCHER: srun or mpirun" >&2; exit 2 ;;
  esac
}
