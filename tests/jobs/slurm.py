"""The job scripts under a real SLURM: submit, signal, requeue, resume, a killed rank, array and gathered table, dependency, cancel, scaling.

Uses the SLURM that answers to sinfo, or brings one up on this machine (FEDPP_SHARED/tools/slurm_up.sh) where its packages are installed; skips with
code 77 and a word where neither is there. FEDPP_SLURM_LONG=1 lets the time limit itself send the signals (about four minutes). Needs FEDPP_EXECUTABLE
and FEDPP_SOURCE.
"""
import csv
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(os.environ["FEDPP_SOURCE"])
JOBS = SOURCE / "jobs"
FEDPP = os.environ["FEDPP_EXECUTABLE"]
LONG = os.environ.get("FEDPP_SLURM_LONG") == "1"
TOOLS = pathlib.Path(os.environ.get("FEDPP_SHARED", "")) / "tools"


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


class Lab:
    """A SLURM of this machine for the time of the tests; nothing to do where one answers already."""

    def __init__(self):
        self.folder = None
        if shutil.which("sbatch") and subprocess.run(["sinfo"], capture_output=True).returncode == 0:
            return
        up = TOOLS / "slurm_up.sh"
        if not shutil.which("slurmctld", path=os.environ["PATH"] + ":/usr/sbin") or not up.is_file():
            skip("no SLURM answers, and none can be brought up here (Debian: apt-get install slurm-wlm munge)")
        self.folder = tempfile.mkdtemp(prefix="fedpp-slurm-")
        os.environ["SLURM_LAB_PORT"] = str(random.randrange(20000, 30000, 10))
        started = subprocess.run(["bash", up, self.folder], capture_output=True, text=True)
        if started.returncode != 0:
            skip(f"SLURM does not start here: {started.stderr.strip()}")
        said = subprocess.run(["bash", "-c", f". {self.folder}/env.sh; env -0"], capture_output=True, text=True).stdout
        os.environ.update(dict(line.split("=", 1) for line in said.split("\0") if "=" in line))

    def close(self):
        if self.folder:
            subprocess.run(["bash", TOOLS / "slurm_down.sh", self.folder], capture_output=True)
            shutil.rmtree(self.folder, ignore_errors=True)


class Slurm(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        rng = random.Random(4)
        rows = "".join(f"{s},{t:.3f},{rng.randrange(4)}\n" for s in range(24) for t in sorted(50 * rng.random() for _ in range(24)))
        (self.folder / "train.csv").write_text("sequence,time,type\n" + rows)
        (self.folder / "run.toml").write_text("""
[data]
train = ["train.csv"]
clients = 6
partition = "heterogeneous"
types_per_client = 3
[model]
encoder = "deep-kernel"
width = 5
inducing = 7
[federation]
rounds = 12
participants = 4
[evaluation]
samples = 2
e_steps = 3
curve_points = 20
[output]
checkpoint_every = 3
progress = false
""")
        self.environment = {**os.environ, "FEDPP_HOME": str(SOURCE), "FEDPP": FEDPP, "FEDPP_SRUN": "--mpi=pmix"}

    def run_in_folder(self, *command, **environment):
        result = subprocess.run([str(word) for word in command], cwd=self.folder, env={**self.environment, **environment}, capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, f"{command}: {result.stdout}{result.stderr}")
        return result.stdout.strip()

    def submit(self, *words, **environment):
        return self.run_in_folder("sbatch", "--parsable", "--output=job.log", "--open-mode=append", *words, **environment)

    def state(self, job):
        said = subprocess.run(["scontrol", "-o", "show", "job", job], capture_output=True, text=True).stdout
        return set(re.findall(r"JobState=(\w+)", said)), [int(n) for n in re.findall(r"Restarts=(\d+)", said)]

    def wait(self, job, until, seconds=300):
        """Until until() holds; a job that was requeued would wait for two minutes, and is let go after five seconds: its last step must have
        cleaned up, or PMIx finds its socket in use."""
        deadline, pending_since = time.time() + seconds, None
        while not until():
            self.assertLess(time.time(), deadline, f"{self.state(job)} {self.log()}")
            pending_since = (pending_since or time.time()) if "PENDING" in self.state(job)[0] else None
            if pending_since and time.time() - pending_since > 5:
                subprocess.run(["scontrol", "update", f"JobId={job}", "StartTime=now"], capture_output=True)
            time.sleep(0.2)

    def finished(self, job):
        """Ended for good: a job that puts itself back into the queue looks ended for a moment."""
        ended = lambda: {"COMPLETED"} <= self.state(job)[0] <= {"COMPLETED", "FAILED"} or self.state(job)[0] <= {"FAILED", "CANCELLED", "TIMEOUT"}
        return lambda: self.state(job)[0] and ended() and (time.sleep(0.5), ended())[1]

    def log(self):
        return (self.folder / "job.log").read_text() if (self.folder / "job.log").exists() else ""

    def uninterrupted(self, *settings):
        self.run_in_folder("mpirun", "-n", 1, FEDPP, "train", "run.toml", "--out", "whole", *settings)
        return self.outcome("whole")

    def outcome(self, out):
        result = json.loads((self.folder / out / "result.json").read_text())
        kept = {key: result[key] for key in ["theta", "scores", "calibration", "best_round", "state"]}
        kept["rounds"] = [{k: v for k, v in r.items() if k not in ("seconds", "bytes_rank_0", "imbalance")} for r in result["rounds"]]
        return json.dumps(kept)

    def checkpoints(self, out):
        return len(list((self.folder / out).glob("checkpoint-*.h5"))) if (self.folder / out).is_dir() else 0


class Run(Slurm):
    def test_srun_and_mpirun(self):
        whole = self.uninterrupted()
        for launcher in ["srun", "mpirun"]:
            job = self.submit("--ntasks=2", JOBS / "run.sbatch", "run.toml", launcher, FEDPP_LAUNCHER=launcher)
            self.wait(job, self.finished(job))
            self.assertEqual(self.outcome(launcher), whole, self.log())
            self.assertIn("rank 1: host ", (self.folder / launcher / "train.log").read_text())

    def test_ranks_have_cores_of_their_own_or_threads_that_are_not_bound(self):
        """Also in a step of some of the job's cores, which srun binds only where it is told how many a rank has."""
        rank = self.folder / "rank"
        rank.write_text('#!/bin/sh\nmkdir -p ranks\necho "$(env -u OMP_NUM_THREADS nproc) $OMP_PROC_BIND" >ranks/$SLURM_NTASKS-$SLURM_PROCID\n')
        rank.chmod(0o755)
        for name, ranks in (("part", "2"), ("whole", "")):
            (self.folder / name).write_text(f'#!/bin/bash\n. "$FEDPP_HOME/jobs/environment.sh"; on_ranks "{ranks}" train\n')
            job = self.submit("--ntasks=3", name, FEDPP=str(rank), OMP_PROC_BIND="", OMP_NUM_THREADS="1")
            self.wait(job, self.finished(job))
        said = {path.name: path.read_text().split() for path in (self.folder / "ranks").iterdir()}
        self.assertEqual(sorted(said), ["2-0", "2-1", "3-0", "3-1", "3-2"], self.log())
        for cores, bound in said.values():
            self.assertEqual(bound, "spread" if cores == "1" else "false", said)

    def test_stopped_twice_requeued_twice_same_bits(self):
        rounds = ["--set", "federation.rounds=6000" if LONG else "federation.rounds=400"]
        limit = ["--time=1", "--signal=B:USR1@35"] if LONG else []
        job = self.submit("--ntasks=4", *limit, JOBS / "run.sbatch", "run.toml", "out", *rounds)
        for restarts in [1, 2]:
            if not LONG:  # the very signal that the time limit would send, sooner
                self.wait(job, lambda: "RUNNING" in self.state(job)[0] and self.log().count("resumed from") == restarts - 1 and self.checkpoints("out") >= 2)
                subprocess.run(["scancel", "--batch", "--signal=USR1", job], check=True)
            self.wait(job, lambda: self.state(job)[1] == [restarts])
        if LONG:
            subprocess.run(["scontrol", "update", f"JobId={job}", "TimeLimit=30"], check=True)
        self.wait(job, self.finished(job))
        log = self.log()
        self.assertEqual(log.count("back into the queue"), 2, log)
        self.assertEqual(log.count("fedpp ended with code 75"), 2, log)
        self.assertIn("fedpp ended with code 0", log)
        self.assertEqual(self.outcome("out"), self.uninterrupted(*rounds))

    def test_a_killed_rank_ends_the_job_within_seconds_and_it_resumes(self):
        rounds = ["--set", "federation.rounds=400"]
        job = self.submit("--ntasks=2", JOBS / "run.sbatch", "run.toml", "out", *rounds)
        self.wait(job, lambda: self.checkpoints("out") >= 2)
        victim = re.search(r"rank 1: host \S+, process (\d+)", (self.folder / "out/train.log").read_text()).group(1)
        os.kill(int(victim), signal.SIGKILL)
        start = time.time()
        self.wait(job, lambda: self.state(job)[1] == [1])
        self.assertLess(time.time() - start, 30)
        self.wait(job, self.finished(job))
        self.assertEqual(self.outcome("out"), self.uninterrupted(*rounds), self.log())

    def test_mistakes_are_not_tried_again(self):
        job = self.submit("--ntasks=2", JOBS / "run.sbatch", "run.toml", "out", "--set", "federation.rounds=0")
        self.wait(job, self.finished(job))
        self.assertEqual(self.state(job), ({"FAILED"}, [0]), self.log())
        self.assertIn("fedpp ended with code 2", self.log())

    def test_cancelled(self):
        job = self.submit("--ntasks=2", JOBS / "run.sbatch", "run.toml", "out", "--set", "federation.rounds=100000")
        self.wait(job, lambda: self.checkpoints("out") >= 1)
        subprocess.run(["scancel", job], check=True)
        self.wait(job, self.finished(job))
        self.assertEqual(self.state(job)[0], {"CANCELLED"})
        self.wait(job, lambda: "running (" not in self.run_in_folder(FEDPP, "status", "out"), seconds=30)
        self.run_in_folder(FEDPP, "checkpoint", "verify", "out")


class Studies(Slurm):
    def test_sweep_of_twelve_and_its_table(self):
        lines = [f"training.learning_rate={rate} federation.seed={seed}" for rate in (0.01, 0.03, 0.1) for seed in (1, 2, 3, 4)]
        lines[5] += " federation.participants=99"  # a mistake in one line costs that line
        (self.folder / "grid").write_text("# rates and seeds\n\n" + "\n".join(lines) + "  # the last\n")
        array, gather = self.run_in_folder(JOBS / "sweep.sh", "grid", "run.toml", "sweep", "--output=task.log").split()
        self.wait(gather, self.finished(gather))
        with open(self.folder / "sweep/table.csv") as file:
            table = list(csv.DictReader(file))
        self.assertEqual(len(table), 12)
        self.assertEqual([row["state"] for row in table], ["finished"] * 5 + ["not started"] + ["finished"] * 6)
        self.assertEqual(table[8]["training.learning_rate"], "0.1")
        self.assertEqual(len({row["test"] for row in table if row["test"]}), 11)
        self.assertIn("11 of 12 finished", (self.folder / "sweep/gather.log").read_text())

    def test_the_last_task_of_a_sweep_is_requeued_alone(self):
        (self.folder / "grid").write_text("federation.rounds=2\nfederation.rounds=3\nfederation.rounds=400\n")
        array, gather = self.run_in_folder(JOBS / "sweep.sh", "grid", "run.toml", "sweep", "--output=task.log", "--ntasks=1").split()
        last = f"{array}_3"
        running = lambda: self.state(f"{array}_1")[0] == self.state(f"{array}_2")[0] == {"COMPLETED"} and self.checkpoints("sweep/003") >= 2
        self.wait(last, running)
        subprocess.run(["scancel", "--batch", "--signal=USR1", last], check=True)
        self.wait(last, lambda: self.state(last)[1] == [1])
        self.wait(last, self.finished(last))
        self.assertEqual([self.state(f"{array}_{task}") for task in (1, 2, 3)], [({"COMPLETED"}, [0])] * 2 + [({"COMPLETED"}, [1])])
        self.wait(gather, self.finished(gather))

    def test_scaling(self):
        job = self.submit("--ntasks=4", JOBS / "scaling.sbatch", "run.toml", "scaling")
        self.wait(job, self.finished(job))
        self.assertEqual(self.state(job)[0], {"COMPLETED"}, self.log())
        with open(self.folder / "scaling/scaling.csv") as file:
            self.assertEqual([row["ranks"] for row in csv.DictReader(file)], ["1", "2", "4"])
        self.assertIn("the same bits on every number of ranks", self.log())
        self.assertTrue((self.folder / "scaling/scaling.png").is_file(), self.log())

    def test_profilers_that_are_not_there_are_named(self):
        job = self.submit("--ntasks=1", JOBS / "profile.sbatch", "kokkos", "run.toml", "profile", KOKKOS_TOOLS_LIBS="/nowhere.so")
        self.wait(job, self.finished(job))
        self.assertIn("KOKKOS_TOOLS_LIBS: '/nowhere.so' is no library", self.log())


if __name__ == "__main__":
    lab = Lab()
    try:
        unittest.main(verbosity=2)
    finally:
        lab.close()
