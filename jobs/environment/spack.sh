# A Spack environment (spack.yaml here describes one): 'spack -e jobs/environment install' once, then this in each job.
if ! command -v spack >/dev/null; then
  echo "spack.sh: no spack in PATH: source its share/spack/setup-env.sh in jobs/environment/site.sh" >&2
  exit 2
fi
eval "$(spack env activate --sh --dir "${FEDPP_SPACK_ENV:-$fedpp_jobs/environment}")"
FEDPP=$(command -v fedpp)
