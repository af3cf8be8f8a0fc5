"""The job scripts without SLURM: commands in its and mpirun's place, which say how they were called. What only a real SLURM shows is in slurm.py.

Needs FEDPP_SOURCE.
"""
import os
import pathlib
import subprocess
import tempfile
import unittest

JOBS = pathlib.Path(os.environ["FEDPP_SOURCE"]) / "jobs"
OPEN_MPI = 'case $1 in --version) echo "mpirun (Open MPI) 4.1.4"; exit ;; esac\n'


class Stubs(unittest.TestCase):
    """A folder of its own as current folder, and a folder of commands in front of PATH."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "bin").mkdir()
        apart = ("SLURM_", "SRUN_", "FEDPP", "OMP_")
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(apart)}
        self.environment.update(PATH=f"{self.folder}/bin:{os.environ['PATH']}", FEDPP_HOME=str(JOBS.parent), FEDPP="fedpp")

    def command(self, name, script):
        path = self.folder / "bin" / name
        path.write_text("#!/usr/bin/env bash\n" + script)
        path.chmod(0o755)

    def start(self, *words, **environment):
        return subprocess.run([str(word) for word in words], cwd=self.folder, env={**self.environment, **environment}, capture_output=True, text=True, timeout=60)

    def on_ranks(self, ranks, **environment):
        return self.start("bash", "-c", f'. "{JOBS}/environment.sh"; on_ranks "{ranks}" train run.toml', **environment)


class Cores(Stubs):
    def test_srun_gives_a_rank_the_cores_that_sbatch_was_asked_for(self):
        self.command("srun", 'echo "cores ${SRUN_CPUS_PER_TASK:-unset}, threads $OMP_NUM_THREADS, $*"')
        self.assertIn("cores 4, threads 4, --ntasks=2 ", self.on_ranks(2, SLURM_CPUS_PER_TASK="4").stdout)
        self.assertIn("cores 2, threads 4, ", self.on_ranks(2, SLURM_CPUS_PER_TASK="4", SRUN_CPUS_PER_TASK="2").stdout)
        self.assertIn("cores unset, threads 1, ", self.on_ranks(2).stdout)

    def test_open_mpi_gives_a_rank_a_core_a_thread(self):
        self.command("mpirun", OPEN_MPI + 'echo "$OMP_PROC_BIND: $*"')
        said = self.on_ranks(2, FEDPP_LAUNCHER="mpirun", OMP_NUM_THREADS="3")
        self.assertEqual(said.stdout, "spread: -n 2 --map-by slot:PE=3 fedpp train run.toml\n", said.stderr)

    def test_open_mpi_without_as_many_cores_binds_nothing(self):
        self.command("mpirun", OPEN_MPI + 'case "$*" in *PE=*) exit 1 ;; esac\necho "$OMP_PROC_BIND: $*"')
        said = self.on_ranks(2, FEDPP_LAUNCHER="mpirun", OMP_NUM_THREADS="3")
        self.assertEqual(said.stdout, "false: -n 2 --bind-to none fedpp train run.toml\n")
        self.assertIn("cannot give each rank 3 cores", said.stderr)

    def test_a_placement_of_ones_own_is_left_alone(self):
        self.command("mpirun", OPEN_MPI + 'echo "$*"')
        said = self.on_ranks(2, FEDPP_LAUNCHER="mpirun", FEDPP_MPIRUN="--bind-to socket")
        self.assertEqual(said.stdout, "-n 2 --bind-to socket fedpp train run.toml\n")

    def test_another_mpi_gets_no_options_of_open_mpi(self):
        self.command("mpirun", 'case $1 in --version) echo "HYDRA build details"; exit ;; esac\necho "$*"')
        self.assertEqual(self.on_ranks(2, FEDPP_LAUNCHER="mpirun").stdout, "-n 2 fedpp train run.toml\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
