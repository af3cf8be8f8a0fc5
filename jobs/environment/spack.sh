# A Spack environment (spack.yaml here describes one): 'spack -e jobs/environment install' once, then this in each job.
if ! command -v spack >/dev/null; then
  echo "spack.sh: no spack in PATH: source its share/spack/setup-env.sh in jobs/environment/site.sh" >&2
  exit 2
fi
fedpp_spack=${FEDPP_SPACK_ENV:-$fedpp_jobs/environment}
if ! fedpp_activation=$(spack env activate --sh --dir "$fedpp_spack") || ! { eval "$fedpp_activation"; FEDPP=$(command -v fedpp); }; then
  echo "spack.sh: FEDPP_SPACK_ENV=$fedpp_spack is no environment with fedpp in it: 'spack -e $fedpp_spack install' makes it one" >&2
  exit 2
fi
