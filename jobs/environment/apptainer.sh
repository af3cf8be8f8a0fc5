# A container (fedpp.def here describes one). The launcher starts one container a rank, so its MPI must match the one in the
# container: with Open MPI and srun that is PMIx on both sides. --nv brings the node's GPU driver in.
image=${FEDPP_IMAGE:-$FEDPP_HOME/fedpp.sif}
if [ ! -e "$image" ]; then
  echo "apptainer.sh: no container $image: build it with 'apptainer build fedpp.sif jobs/environment/fedpp.def', or name it in FEDPP_IMAGE" >&2
  exit 2
fi
fedpp_command=(apptainer exec $([ -e /dev/nvidiactl ] && echo --nv) ${FEDPP_BIND:+--bind "$FEDPP_BIND"} "$image" fedpp)
