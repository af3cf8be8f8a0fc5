# Sourced by the scripts here: lets mpirun start several ranks on a workstation, in a container and as root. On a cluster none of
# this is wanted: its own Open MPI knows its network and its scheduler.
if [ "$(id -u)" -eq 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
export OMPI_MCA_mpi_yield_when_idle=1
# More ranks than cores, none of them bound; shared memory only, and without system calls that containers forbid.
case "$(mpirun --version 2>/dev/null)" in
  *"Open MPI) 4."*)
    export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
    export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none ;;
  *"Open MPI) 5."*)
    export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe PRTE_MCA_hwloc_default_binding_policy=none
    export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,sm OMPI_MCA_smsc=^cma ;;
esac
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}     # ranks share the cores
export OPENBLAS_NUM_THREADS=1
export KOKKOS_DISABLE_WARNINGS=1
