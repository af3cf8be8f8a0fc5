"""The job scripts without SLURM: commands in its and mpirun's place, which say how they were called. What only a real SLURM shows is in slurm.py.

Needs FEDPP_SOURCE.
"""
import csv
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
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
        self.assertIn("cores 4, threads 4, --ntasks=2 --mem=0 ", self.on_ranks(2, SLURM_CPUS_PER_TASK="4").stdout)
        self.assertIn("cores 2, threads 4, ", self.on_ranks(2, SLURM_CPUS_PER_TASK="4", SRUN_CPUS_PER_TASK="2").stdout)

    def test_srun_gives_a_rank_a_core_a_thread_where_sbatch_was_not_asked_and_there_are_as_many(self):
        """A step that is smaller than the job's part of a node is bound by that alone."""
        self.command("srun", 'echo "cores ${SRUN_CPUS_PER_TASK:-unset}, threads $OMP_NUM_THREADS"')
        job = {"SLURM_NTASKS": "7", "SLURM_JOB_NUM_NODES": "2", "SLURM_CPUS_ON_NODE": "8"}
        self.assertIn("cores 1, threads 1\n", self.on_ranks(2, **job).stdout)
        self.assertIn("cores 2, threads 2\n", self.on_ranks(2, **job, OMP_NUM_THREADS="2").stdout)
        self.assertIn("cores unset, threads 3\n", self.on_ranks(2, **job, OMP_NUM_THREADS="3").stdout)  # srun would refuse the step

    def test_a_rank_that_srun_does_not_bind_does_not_bind_its_threads(self):
        self.command("srun", 'until [ "$1" = bash ] || [ "$1" = fedpp ]; do shift; done\nexec "$@"')
        self.command("fedpp", 'echo "$OMP_PROC_BIND: $*"')
        self.command("nproc", 'echo "${OMP_NUM_THREADS:-4}"')  # as the real one, which answers to this variable first
        self.assertEqual(self.on_ranks(2, OMP_NUM_THREADS="3").stdout, "false: train run.toml\n")
        self.assertEqual(self.on_ranks(2, OMP_NUM_THREADS="4").stdout, "spread: train run.toml\n")
        self.assertEqual(self.on_ranks(2, OMP_NUM_THREADS="3", OMP_PROC_BIND="close").stdout, "close: train run.toml\n")

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


class Scripts(Stubs):
    def test_scaling_fills_a_node_before_the_next(self):
        self.command("srun", 'echo "$*" >>asked')
        self.start("bash", JOBS / "scaling.sbatch", "run.toml", "out", SLURM_NTASKS="16", SLURM_JOB_NUM_NODES="4", FEDPP_SRUN="--mpi=pmix")
        asked = [line.split(" --mem")[0] + line.split("exit=1")[1].split(" bash ")[0] for line in (self.folder / "asked").read_text().splitlines()]
        self.assertEqual(asked, [f"--ntasks={ranks} --nodes={nodes} --distribution=block --mpi=pmix" for ranks, nodes in [(1, 1), (2, 1), (4, 1), (8, 2), (16, 4)]])

    def test_scaling_ends_with_all_tasks_of_the_job(self):
        self.command("srun", 'echo "$1" >>asked')
        for tasks, asked in [(1, [1]), (3, [1, 2, 3]), (6, [1, 2, 4, 6]), (8, [1, 2, 4, 8])]:
            self.start("bash", JOBS / "scaling.sbatch", "run.toml", f"out-{tasks}", SLURM_NTASKS=str(tasks))
            self.assertEqual((self.folder / "asked").read_text().split(), [f"--ntasks={ranks}" for ranks in asked])
            (self.folder / "asked").unlink()

    def test_scaling_takes_no_times_of_another_job(self):
        self.command("srun", "touch started")
        (self.folder / "out/ranks-1").mkdir(parents=True)
        said = self.start("bash", JOBS / "scaling.sbatch", "run.toml", "out", SLURM_NTASKS="2")
        self.assertEqual((said.returncode, (self.folder / "started").exists()), (2, False))
        self.assertIn("scaling.sbatch: out holds runs of another job", said.stderr)

    def test_outside_slurm_fedpps_folder_is_the_current_one_or_asked_for(self):
        del self.environment["FEDPP_HOME"]
        for script, first in [("run", []), ("scaling", []), ("profile", ["perf"])]:
            said = self.start("bash", JOBS / f"{script}.sbatch", *first, "run.toml", "out")
            self.assertEqual(said.returncode, 2)
            self.assertIn("set FEDPP_HOME to it", said.stderr)
        said = self.start("bash", JOBS / "sweep.sbatch", "run.toml", "out", SLURM_ARRAY_TASK_ID="1")
        self.assertIn("FEDPP_HOME is not fedpp's folder", said.stderr)

    def test_scripts_of_a_site_may_read_variables_that_are_not_set(self):
        shutil.copytree(JOBS, self.folder / "jobs")
        (self.folder / "jobs/environment/site.sh").write_text('[ "$NOBODY_SETS_THIS" = 1 ] || export OF_THE_SITE=yes\n')
        self.command("srun", 'echo "$OF_THE_SITE $HDF5_USE_FILE_LOCKING"; touch result.json')
        said = self.start("bash", "jobs/run.sbatch", "run.toml", ".", FEDPP_HOME=str(self.folder))
        self.assertIn("yes FALSE\n", said.stdout, said.stderr)
        strict = self.start("bash", "-uc", ". jobs/environment.sh; echo $NOBODY_SETS_THIS", FEDPP_HOME=str(self.folder))
        self.assertIn("unbound variable", strict.stderr)

    def test_a_profile_deletes_no_folder_of_others(self):
        self.command("perf", "")
        self.command("srun", "")
        (self.folder / "run").mkdir()
        said = self.start("bash", JOBS / "profile.sbatch", "perf", "run.toml", ".")
        self.assertEqual((said.returncode, (self.folder / "run").exists()), (2, True))
        self.assertIn("./run is there and no training's", said.stderr)
        (self.folder / "run/train.log").touch()
        self.command("fedpp", '[ $1 = status ] && echo "$2: running (host n1)"')
        said = self.start("bash", JOBS / "profile.sbatch", "perf", "run.toml", ".")
        self.assertEqual((said.returncode, (self.folder / "run").exists()), (2, True))
        self.assertIn("a run is at work in ./run", said.stderr)
        self.command("fedpp", 'echo "$2: not running, and no end was recorded"')
        self.assertEqual(self.start("bash", JOBS / "profile.sbatch", "perf", "run.toml", ".").returncode, 0)
        self.assertFalse((self.folder / "run").exists())

    def test_a_profile_of_each_rank_has_its_own_name(self):
        """Under mpirun in a job SLURM_PROCID is that of the script or of the node's daemon, the same for all ranks there."""
        self.command("perf", 'echo "${4##*/}" >>named')
        self.command("srun", 'while [ "$1" != bash ]; do shift; done\nSLURM_PROCID=5 "$@"')
        self.command("mpirun", OPEN_MPI + 'while [ "$1" != bash ]; do shift; [ $# -gt 0 ] || exit 0; done\n'
                     'for rank in 0 1; do OMPI_COMM_WORLD_RANK=$rank "$@"; done')
        for launcher in ("srun", "mpirun"):
            self.start("bash", JOBS / "profile.sbatch", "perf", "run.toml", "out", FEDPP_LAUNCHER=launcher, SLURM_PROCID="0")
        self.assertEqual((self.folder / "named").read_text().split(), ["perf-5.data", "perf-0.data", "perf-1.data"])

    def test_libraries_of_kokkos_tools_may_be_several_and_names_alone(self):
        self.command("srun", 'echo "$KOKKOS_TOOLS_LIBS"')
        (self.folder / "kp.so").touch()
        profile = lambda libraries: self.start("bash", JOBS / "profile.sbatch", "kokkos", "run.toml", "out", KOKKOS_TOOLS_LIBS=libraries)
        for libraries in ["libkp_kernel_timer.so", "./kp.so", "./kp.so;libkp_memory_events.so"]:
            self.assertEqual(profile(libraries).stdout, libraries + "\n")
        self.assertIn("'./no.so' is no library", profile("libkp_kernel_timer.so;./no.so").stderr)
        self.assertIn("KOKKOS_TOOLS_LIBS is empty", profile("").stderr)


class Machines(Stubs):
    """An environment that cannot be had ends the job before it starts ranks."""

    def refused(self, said, **environment):
        self.command("srun", "touch started")
        result = self.start("bash", JOBS / "run.sbatch", "run.toml", "out", **environment)
        self.assertEqual((result.returncode, (self.folder / "started").exists()), (2, False), result.stderr)
        self.assertIn(said, result.stderr)

    def test_one_that_is_not_known(self):
        self.refused("FEDPP_MACHINE=module: plain, modules, spack or apptainer", FEDPP_MACHINE="module")

    def test_modules(self):
        self.command("module", '[ "$1" = purge ] || ! echo "Lmod: unknown $2" >&2')
        self.refused("FEDPP_MODULES='gcc/99' cannot be loaded", FEDPP_MACHINE="modules", FEDPP_MODULES="gcc/99")
        (self.folder / "bin/module").unlink()
        if not any(os.path.exists(f"/etc/profile.d/{name}.sh") for name in ("modules", "lmod")):
            self.refused("no command 'module' here", FEDPP_MACHINE="modules", FEDPP_MODULES="gcc/13")

    def test_spack(self):
        self.command("spack", 'echo "Error: no environment" >&2; exit 1')
        self.command("fedpp", "")  # another one in PATH is not that of the environment
        self.refused("FEDPP_SPACK_ENV=/env is no environment with fedpp in it", FEDPP_MACHINE="spack", FEDPP_SPACK_ENV="/env")
        self.command("spack", 'echo "export PATH=/usr/bin:/bin"')  # activated, and fedpp is not installed in it
        self.refused("FEDPP_SPACK_ENV=/env is no environment with fedpp in it", FEDPP_MACHINE="spack", FEDPP_SPACK_ENV="/env")


class Requeue(Stubs):
    """run.sbatch under a SLURM that says RUNNING; what was asked of scontrol is in `asked`."""

    def setUp(self):
        super().setUp()
        self.command("scontrol", 'echo "$*" >>asked; echo JobState=RUNNING')

    def stopped(self, srun, **job):
        """Ends with the script's code and output; srun says by the file `started` that it can be asked to stop."""
        self.command("srun", srun)
        environment = {**self.environment, "SLURM_JOB_ID": "7", **job}
        script = subprocess.Popen(["bash", JOBS / "run.sbatch", "run.toml", "out"], cwd=self.folder, env=environment, stdout=subprocess.PIPE, text=True)
        while not (self.folder / "started").exists():
            self.assertIsNone(script.poll())
            time.sleep(0.01)
        script.send_signal(signal.SIGUSR1)
        said = script.communicate(timeout=60)[0]
        return script.returncode, said

    def asked(self):
        return set((self.folder / "asked").read_text().splitlines())

    def requeued(self):
        return "requeue 7" in (self.folder / "asked").read_text() if (self.folder / "asked").exists() else False

    def test_a_stop_that_kills_ranks_while_they_start_is_no_failure(self):
        code, said = self.stopped("touch started; exec sleep 30")
        self.assertIn("fedpp ended with code 138; checkpoint: none", said)
        self.assertTrue(self.requeued(), said)
        self.assertEqual(code, 75)

    def test_a_task_of_an_array_is_asked_for_and_requeued_by_its_own_name(self):
        code, said = self.stopped("touch started; exec sleep 30", SLURM_ARRAY_JOB_ID="7", SLURM_ARRAY_TASK_ID="3")  # the last one has the array's number
        self.assertEqual(self.asked(), {"-o show job 7_3", "requeue 7_3"}, said)

    def test_a_job_submitted_from_a_task_of_an_array_is_no_task(self):
        code, said = self.stopped("touch started; exec sleep 30", SLURM_ARRAY_JOB_ID="5", SLURM_ARRAY_TASK_ID="3")  # inherited
        self.assertEqual(self.asked(), {"-o show job 7", "requeue 7"}, said)

    def test_a_mistake_stays_one_after_a_stop(self):
        code, said = self.stopped("trap 'kill $!; exit 2' USR1; sleep 30 >/dev/null 2>&1 & touch started; wait")
        self.assertEqual(code, 2, said)
        self.assertFalse(self.requeued(), said)

    def test_ranks_that_are_still_at_work_shortly_before_the_limit_are_left(self):
        """SLURM calls a job that ran into its limit timed out, and takes it back no more."""
        self.command("scontrol", 'echo "$*" >>asked; [ $1 != requeue ] || { touch gone; sleep 0.5; }\n'
                     'echo "JobId=7 JobState=RUNNING EndTime=$(date -d "+4 sec" +%FT%T) Deadline=N/A"')  # SLURM takes its time to say another state
        code, said = self.stopped("trap '' USR1; touch started; until [ -e gone ]; do sleep 0.05; done; exit 143")
        self.assertIn("the ranks are still at work\nback into the queue\n", said)
        self.assertEqual((self.folder / "asked").read_text().count("requeue 7\n"), 1, said)
        self.assertNotIn("twice", said)
        self.assertEqual(code, 75)

    def test_where_all_the_time_goes_by_twice_without_a_checkpoint_it_stays_out_of_the_queue(self):
        def again(restart, srun="touch started; exec sleep 30"):
            for name in ("started", "asked"):
                (self.folder / name).unlink(missing_ok=True)
            code, said = self.stopped(srun, SLURM_RESTART_COUNT=str(restart))
            self.assertEqual(code, 75, said)
            return self.requeued()

        self.assertTrue(again(0))
        self.assertFalse(again(1))
        with_checkpoint = "trap 'kill $!; touch out/checkpoint-000004.h5; exit 75' USR1; sleep 30 >/dev/null 2>&1 & touch started; wait"
        self.assertTrue(again(2, with_checkpoint))
        self.assertTrue(again(3))
        self.assertFalse(again(4))

    def test_after_the_last_restart_it_says_why_it_stays_out_of_the_queue(self):
        self.command("srun", "mkdir -p out; touch out/checkpoint-000004.h5; exit 75")
        job = {"SLURM_JOB_ID": "7", "SLURM_RESTART_COUNT": "3"}
        said = self.start("bash", JOBS / "run.sbatch", "run.toml", "out", **job, FEDPP_MAX_RESTARTS="3")
        self.assertEqual((said.returncode, self.requeued()), (75, False))
        self.assertIn("as often as FEDPP_MAX_RESTARTS=3 allows", said.stderr)
        self.start("bash", JOBS / "run.sbatch", "run.toml", "out", **job, FEDPP_MAX_RESTARTS="4")
        self.assertTrue(self.requeued())

    def test_a_failure_without_a_stop_and_without_a_checkpoint_stays_out_of_the_queue(self):
        self.command("srun", "mkdir -p out; echo '{\"event\":\"start\"}' >>out/status.jsonl; exit 138")
        for _ in range(2):
            self.assertEqual(self.start("bash", JOBS / "run.sbatch", "run.toml", "out", SLURM_JOB_ID="7").returncode, 138)
            self.assertFalse(self.requeued())

    def test_ranks_that_die_before_the_training_begins_are_started_once_more(self):
        """An MPI may fail to start on one of several nodes, and start there the next time."""
        def again(restart, srun="exit 139"):
            (self.folder / "asked").unlink(missing_ok=True)
            self.command("srun", srun)
            said = self.start("bash", JOBS / "run.sbatch", "run.toml", "out", SLURM_JOB_ID="7", SLURM_RESTART_COUNT=str(restart))
            self.assertEqual(said.returncode, 139, said)
            return self.requeued(), "twice in a row the ranks ended before the training began" in said.stderr

        self.assertEqual(again(0), (True, False))
        self.assertEqual(again(1), (False, True))
        further = "echo '{\"event\":\"start\"}' >>out/status.jsonl; touch out/checkpoint-000004.h5; exit 139"
        self.assertEqual(again(2, further), (True, False))
        self.assertEqual(again(3), (True, False))
        self.assertEqual(again(4), (False, True))


class Sweep(Stubs):
    def setUp(self):
        super().setUp()
        self.command("sbatch", 'echo "$*" >>asked; echo "$(wc -l <asked);north"')
        (self.folder / "run.toml").write_text("[federation]\nrounds = 3\n")
        (self.folder / "grid").write_bytes(b"# two\r\ntraining.learning_rate=0.01 federation.seed=1\r\n\r\nfederation.seed=2 # the last\r\n")

    def sweep(self, *options, grid="grid"):
        return self.start(JOBS / "sweep.sh", grid, "run.toml", "out", *options)

    def asked(self):
        return (self.folder / "asked").read_text().splitlines()

    def result(self, run, **config):
        (self.folder / "out" / run).mkdir(exist_ok=True)
        models = [{"headline": -1.0}]
        (self.folder / "out" / run / "result.json").write_text(
            json.dumps({"config": config, "rounds": [], "best_round": 0, "scores": {"models": models}}))

    def states(self):
        self.start("python3", JOBS / "gather.py", "out")
        with open(self.folder / "out/table.csv") as file:
            return [row["state"] for row in csv.DictReader(file)]

    def test_lines_of_another_system_are_read(self):
        said = self.sweep()
        self.assertEqual(said.stdout.split(), ["1", "2"], said.stderr)
        lines = (self.folder / "out/grid.txt").read_bytes().split(b"\n")
        self.assertEqual([line.split() for line in lines], [[b"training.learning_rate=0.01", b"federation.seed=1"], [b"federation.seed=2"], []])
        self.assertIn("--array=1-2 ", self.asked()[0])
        self.assertIn("--dependency=afterany:1 ", self.asked()[1])

    def test_the_job_that_gathers_is_charged_and_placed_as_the_array(self):
        self.sweep("--account=a b", "--ntasks=4", "--partition", "p", "-qlong", "--reservation=r", "-M", "north")
        self.assertIn("--parsable --account=a b --partition p -qlong --reservation=r -M north --dependency=", self.asked()[1])

    def test_the_array_is_named_where_the_job_that_gathers_is_refused(self):
        self.command("sbatch", 'case $* in *--wrap*) exit 1 ;; esac; echo 5')
        said = self.sweep()
        self.assertEqual((said.returncode, said.stdout), (1, "5\n"))

    def test_another_grid_needs_another_folder(self):
        self.sweep()
        self.assertEqual(self.sweep().returncode, 0)
        (self.folder / "other").write_text("federation.seed=3\n")
        said = self.sweep(grid="other")
        self.assertEqual(said.returncode, 2)
        self.assertIn("out/grid.txt", said.stderr)
        self.assertEqual(len(self.asked()), 4)

    def test_another_configuration_needs_another_folder(self):
        """Its tasks would be refused one by one, beside a table of the old results."""
        self.sweep()
        (self.folder / "run.toml").write_text("[federation]\nrounds = 4\n")
        said = self.sweep()
        self.assertEqual((said.returncode, len(self.asked())), (2, 2))
        self.assertIn("out/config.toml", said.stderr)
        waiting = self.task(1)  # submitted before CONFIG changed
        self.assertEqual((waiting.returncode, waiting.stdout), (2, ""))
        self.assertIn("run.toml is not what was submitted", waiting.stderr)

    def task(self, number, **environment):
        """A task of the array, which says what it would train."""
        self.command("srun", 'echo "$*"; mkdir -p out/001; touch out/001/result.json')
        return self.start("bash", JOBS / "sweep.sbatch", "run.toml", "out", SLURM_ARRAY_TASK_ID=str(number), **environment)

    def test_a_task_trains_the_settings_of_its_line_and_none_other(self):
        self.sweep()
        self.assertIn("--auto-resume --set training.learning_rate=0.01 --set federation.seed=1\n", self.task(1).stdout)
        beyond = self.task(3)
        (self.folder / "out/grid.txt").unlink()
        for said, number in [(beyond, 3), (self.task(1), 1)]:
            self.assertEqual((said.returncode, said.stdout), (2, ""))
            self.assertIn(f"sweep.sbatch: out/grid.txt has no line {number}: ", said.stderr)

    def test_a_task_without_fedpps_folder_says_so(self):
        self.sweep()
        said = self.task(1, FEDPP_HOME="nowhere")
        self.assertEqual((said.returncode, said.stdout), (2, ""))
        self.assertIn("FEDPP_HOME is not fedpp's folder", said.stderr)

    def test_the_table_holds_settings_and_scores_as_they_are(self):
        """A result holds settled values: what the grid calls "auto" it calls by its name."""
        (self.folder / "grid").write_text("aggregation.divergence=auto federation.seed=1\naggregation.divergence=kl\n")
        self.sweep()
        self.result("001", aggregation={"divergence": "kl"}, federation={"seed": 1})
        self.assertEqual(self.states(), ["finished", "not started"])
        with open(self.folder / "out/table.csv") as file:
            first, second = csv.DictReader(file)
        self.assertEqual((first["aggregation.divergence"], first["federation.seed"], first["test"]), ("auto", "1", "-1"))
        self.assertEqual((second["aggregation.divergence"], second["federation.seed"], second["test"]), ("kl", "", ""))

    def test_a_grid_is_utf_8_in_any_locale(self):
        line = "data.train=größe.csv"
        (self.folder / "grid").write_bytes(f"{line}\n".encode())
        self.sweep()
        (self.folder / "out/001").mkdir(exist_ok=True)
        result = {"config": {"data": {"train": ["größe.csv"]}}, "rounds": [], "best_round": 0, "scores": {"models": [{"headline": -1.0}]}}
        (self.folder / "out/001/result.json").write_bytes(json.dumps(result, ensure_ascii=False).encode())
        said = self.start("python3", JOBS / "gather.py", "out", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
        self.assertEqual((said.returncode, said.stderr), (0, ""))
        self.assertIn("\n001,größe.csv,finished,", (self.folder / "out/table.csv").read_bytes().decode().replace("\r", ""))


if __name__ == "__main__":
    unittest.main(verbosity=2)
