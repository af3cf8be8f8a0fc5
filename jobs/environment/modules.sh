# Environment modules, as in FEDPP_MODULES="gcc/13 openmpi/4.1 hdf5/1.14 kokkos/5.2-cuda".
if [ -z "${FEDPP_MODULES:-}" ]; then
  echo "modules.sh: FEDPP_MODULES is empty: name the modules that fedpp was built with" >&2
  exit 2
fi
for start in /etc/profile.d/modules.sh /etc/profile.d/lmod.sh; do # where the batch shell does not know the command yet
  type module >/dev/null 2>&1 || [ ! -r "$start" ] || . "$start"
done
if ! type module >/dev/null 2>&1; then
  echo "modules.sh: FEDPP_MACHINE=modules, and no command 'module' here: name the script that defines it in jobs/environment/site.sh (. /path/init/bash), or set FEDPP_MACHINE=plain" >&2
  exit 2
fi
module purge
if ! module load ${FEDPP_MODULES}; then
  echo "modules.sh: FEDPP_MODULES='$FEDPP_MODULES' cannot be loaded: 'module avail' lists the modules that there are" >&2
  exit 2
fi
if ! command -v "${FEDPP_LAUNCHER:-srun}" >/dev/null; then
  echo "modules.sh: no ${FEDPP_LAUNCHER:-srun} in PATH after 'module purge': name its module, too, in FEDPP_MODULES" >&2
  exit 2
fi
