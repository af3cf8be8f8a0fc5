# Environment modules, as in FEDPP_MODULES="gcc/13 openmpi/4.1 hdf5/1.14 kokkos/5.2-cuda".
if [ -z "${FEDPP_MODULES:-}" ]; then
  echo "modules.sh: FEDPP_MODULES is empty: name the modules that fedpp was built with" >&2
  exit 2
fi
for start in /etc/profile.d/modules.sh /etc/profile.d/lmod.sh; do # where the batch shell does not know the command yet
  type module >/dev/null 2>&1 || [ ! -r "$start" ] || . "$start"
done
module purge
module load ${FEDPP_MODULES}
if ! command -v "${FEDPP_LAUNCHER:-srun}" >/dev/null; then
  echo "modules.sh: no ${FEDPP_LAUNCHER:-srun} in PATH after 'module purge': name its module, too, in FEDPP_MODULES" >&2
  exit 2
fi
