"""Runs that are stopped, damaged, changed and looked at: what comes back, and what is said.

Needs the environment of tests/federation/CMakeLists.txt.
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import threading
import time
import unittest

from runs import PER_SEQUENCE, POOLED, SameBits, data_set, settings
from program import FEDPP


class AutoResume(SameBits):
    def test_starts_goes_on_and_passes_over_damage(self):
        self.deck(federation__rounds=5, **PER_SEQUENCE)
        self.train(1, "whole")
        self.train(2, "out", "--auto-resume", "--set", "federation.rounds=3")  # nothing there: a start
        newest = self.newest("out")
        newest.write_bytes(newest.read_bytes()[:-1])
        self.write("out/checkpoint-000003.h5.4711.partial", "of a killed run")
        said = self.train(1, "out", "--auto-resume").stdout
        self.assertEqual(list((self.folder / "out").glob("*.partial")), [])
        self.assertIn("passed over: out/" + newest.name, said)
        self.assertIn("resumed from out/checkpoint-000002.h5 after round 2", said)
        self.assert_same("whole", "out")
        self.assertEqual(self.checkpoints("out"), self.checkpoints("whole"))

    def test_a_finished_training_has_nothing_left_to_do(self):
        self.deck(federation__rounds=2)
        self.train(2, "out", "--auto-resume")
        results = [self.folder / "out" / name for name in ("result.json", "result.h5")]
        written = [path.stat().st_mtime_ns for path in results]
        self.assertIn("its results are there: nothing to do", self.train(1, "out", "--auto-resume").stdout)
        self.assertEqual([path.stat().st_mtime_ns for path in results], written)
        whole = self.result("out")
        for change in ["evaluation.samples=4", "federation.rounds=3"]:
            again = ["--set", change]
            self.assertNotIn("nothing to do", self.train(1, "out", "--auto-resume", *again).stdout)
            self.assertIn("nothing to do", self.train(1, "out", "--auto-resume", *again).stdout)
        results[1].unlink()
        self.assertNotIn("nothing to do", self.train(1, "out", "--auto-resume", *again).stdout)
        self.write("train.csv", data_set(24, seed=6))
        self.assertIn("its training events or windows are not those", self.train(1, "out", "--auto-resume", *again, code=2).stderr)
        self.assertEqual(len(self.result("out")["rounds"]), 3)
        self.assertEqual(self.result("out")["rounds"][:2], whole["rounds"])

    def test_only_damaged_ones_are_for_a_person_to_look_at(self):
        self.deck(federation__rounds=1)
        self.train(1, "out")
        self.newest("out").write_bytes(b"\0" * 1000)
        said = self.train(2, "out", "--auto-resume", code=2).stderr
        self.assertIn("none is intact", said)
        self.assertIn("never sealed", said)


class DamagedNewest(SameBits):
    """What is said about it helps with the command at hand."""

    def test_each_command_says_how_it_takes_an_intact_one(self):
        self.deck(federation__rounds=2)
        self.train(1, "out")
        self.newest("out").write_bytes(self.newest("out").read_bytes()[:-1])
        intact = "the newest intact one is out/checkpoint-000001.h5: "
        self.write("new.csv", data_set(4, seed=7))
        new = ["--set", "data.train=new.csv", "--set", "data.clients=1", "--out", "new"]
        for command, remedy in [(["train", "run.toml", "--out", "out", "--resume"], "go on from it with 'fedpp train ... --resume --checkpoint out/"),
                                (["adapt", "out", *new], "start from it with 'fedpp adapt out/checkpoint-000001.h5 ...'"),
                                (["evaluate", "out"], "move the damaged one to another folder"),
                                (["predict", "out"], "move the damaged one to another folder")]:
            result = self.start(self.on_ranks(2, *command))
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(intact + remedy, result.stderr)
            self.assertEqual(result.stderr.count("fedpp: error"), 1, result.stderr)
        self.start(self.on_ranks(1, "adapt", "out/checkpoint-000001.h5", *new, "--rounds", "1")).check_returncode()
        self.newest("out").rename(self.folder / "damaged.h5")
        self.start(self.on_ranks(1, "evaluate", "out")).check_returncode()


class Changes(SameBits):
    def setUp(self):
        super().setUp()
        self.deck(federation__rounds=2)
        self.train(1, "out")

    def test_are_listed_and_need_the_flag(self):
        changes = ["--set", "training.learning_rate=0.02", "--set", "federation.rounds=3"]
        refusal = self.train(1, "out", "--resume", *changes, code=2).stderr
        self.assertIn("training.learning_rate = 0.02 (checkpoint: 0.05)", refusal)
        self.assertIn("--accept-changes", refusal)
        said = self.train(2, "out", "--resume", "--accept-changes", *changes).stdout
        self.assertIn("training.learning_rate = 0.02 (checkpoint: 0.05)", said)
        self.assertIn("federation.rounds = 3 (checkpoint: 2)", said)
        self.assertEqual(self.result("out")["rounds"][2]["learning_rate"], 0.02)

    def test_harmless_ones_are_listed(self):
        said = self.train(1, "out", "--resume", "--set", "federation.rounds=3", "--set", "evaluation.samples=2").stdout
        self.assertIn("federation.rounds = 3 (checkpoint: 2)", said)
        self.assertIn("evaluation.samples = 2 (checkpoint: 3)", said)
        self.assertNotIn("changed since", self.train(1, "other", "--auto-resume").stdout)

    def test_data_that_moved_are_accepted_and_other_data_are_not(self):
        (self.folder / "elsewhere").mkdir()
        shutil.copy(self.folder / "train.csv", self.folder / "elsewhere" / "train.csv")
        moved = ["--resume", "--accept-changes", "--set", "federation.rounds=3", "--set", "data.train=elsewhere/train.csv"]
        self.train(1, "out", *moved)
        self.train(1, "whole", "--set", "federation.rounds=3")
        self.assertEqual(self.result("out")["theta"], self.result("whole")["theta"])
        self.write("elsewhere/train.csv", data_set(12, seed=8))
        self.assertIn("is not the one of", self.train(1, "out", *moved, "--set", "federation.rounds=4", code=2).stderr)
        self.assertIn("under another model.inducing", self.train(1, "out", "--resume", "--accept-changes", "--set", "model.inducing=9",
                                           code=2).stderr)


class Cadence(SameBits):
    def test_by_the_clock(self):
        self.deck(federation__rounds=3, output__checkpoint_every=0, output__checkpoint_minutes=1e-9, output__checkpoints_kept=9)
        self.train(2, "out")
        self.assertEqual(len(self.checkpoints("out")), 3)
        self.train(2, "seldom", "--set", "output.checkpoint_minutes=60")
        self.assertEqual(self.checkpoints("seldom"), ["checkpoint-000003.h5"])
        self.train(2, "never", "--set", "output.checkpoint_minutes=0")
        self.assertEqual(self.checkpoints("never"), ["checkpoint-000003.h5"])

    def test_by_rounds(self):
        self.deck(federation__rounds=5, output__checkpoint_every=2, output__checkpoints_kept=9)
        self.train(2, "out")
        self.assertEqual(self.checkpoints("out"), [f"checkpoint-00000{done}.h5" for done in (2, 4, 5)])
        self.train(1, "few", "--set", "output.checkpoints_kept=2")
        self.assertEqual(self.checkpoints("few"), ["checkpoint-000004.h5", "checkpoint-000005.h5"])


class Watching(SameBits):
    """A run in the background of many rounds."""

    def spawn(self, command):
        log = open(self.folder / "log", "w")
        self.addCleanup(log.close)
        # Tests that a shell runs in the background ignore SIGINT, and so would what they start.
        process = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        self.addCleanup(lambda: process.poll() is None and (process.send_signal(signal.SIGUSR1), process.wait()))
        return process

    def running(self, out="out", ranks=2, until=2, **changes):
        self.deck(federation__rounds=100000, **changes)
        arguments = ["train", "run.toml", "--out", out]
        process = self.spawn(self.on_ranks(ranks, *arguments) if ranks else [FEDPP, *arguments])
        self.wait_for(process, lambda: (self.folder / out).is_dir() and len(self.checkpoints(out)) >= until)
        return process

    def wait_for(self, process, there):
        deadline = time.time() + 120
        while time.time() < deadline and not there():
            self.assertIsNone(process.poll(), (self.folder / "log").read_text())
            time.sleep(0.02)

    def starting(self, sent):
        """A run that got the signal `sent` while it waits for its configuration, and the pipe that this is to come from."""
        path = self.folder / "pipe.toml"
        path.unlink(missing_ok=True)
        os.mkfifo(path)
        process = self.spawn([FEDPP, "train", "pipe.toml", "--out", "out"])
        pipe = open(path, "w")  # returns when the run reads
        self.addCleanup(pipe.close)
        process.send_signal(sent)
        return process, pipe

    def status(self, out="out", code=0):
        result = self.start([FEDPP, "status", out])
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout + result.stderr


class Status(Watching):
    def test_running_stopped_resumed_finished(self):
        process = self.running()
        text = self.status()
        for words in ["out: running (host ", "fedpp ", "2 ranks", "rounds ", " of 100000", "left", "ELBO", "validation", "does not compare with test scores", "imbalance",
                      "checkpoint  checkpoint-0000"]:
            self.assertIn(words, text)
        process.send_signal(signal.SIGUSR1)
        self.assertEqual(process.wait(), 75)
        text = self.status()
        self.assertIn("stopped by a signal", text)
        done = int(re.search(r"rounds +(\d+) of", text).group(1))
        with open(self.folder / "out/status.jsonl", "a") as file:  # as a killed run leaves it
            file.write('{"event": "round", "rou')
        self.assertIn("1 line of status.jsonl cannot be read", self.status())
        self.train(1, "out", "--resume", "--set", f"federation.rounds={done + 1}")
        long_ago = time.time() - 3.5 * 24 * 3600  # so that the ages said are the same in the next second
        for path in (self.folder / "out").glob("checkpoint-*.h5"):
            os.utime(path, (long_ago, long_ago))
        text = self.status()
        self.assertIn(".h5, 3.5 days ago", text)
        self.assertIn("finished at", text)
        self.assertIn(f"{done + 1} of {done + 1}", text)
        self.assertIn("started 2 times", text)
        self.assertIn("scores      fedpp ", text)
        with open(self.folder / "out/status.jsonl", "a") as file:
            file.write('{"event": ' + "[" * 200000 + "]" * 200000 + "}\n")
        self.assertIn("2 lines of status.jsonl cannot be read", self.status())
        (self.folder / "received").mkdir()
        os.mkfifo(self.folder / "received/status.jsonl")
        told = self.start([FEDPP, "status", "received"])
        self.assertEqual(told.returncode, 2)
        self.assertIn("received/status.jsonl: is no regular file", told.stderr)
        text = self.status()
        (self.folder / "empty").mkdir()
        of_two = self.start([FEDPP, "status", "empty", "out"])
        self.assertEqual((of_two.returncode, of_two.stdout), (2, text))
        self.assertEqual(of_two.stderr, "fedpp: error: empty holds no run of 'fedpp train'\n")

    def test_interrupted_once_writes_a_checkpoint(self):
        process = self.running(ranks=None)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(), 75)
        self.assertIn("stopped by a signal", self.status())

    def test_stopped_while_results_are_computed(self):
        """Client by client here, as there is no room for two."""
        self.deck(federation__rounds=1, evaluation__e_steps=10, evaluation__samples=400, backend__workspace_mb=1)
        self.train(2, "whole")
        self.write("run.toml", settings(federation__rounds=1, evaluation__e_steps=200000, evaluation__samples=400, backend__workspace_mb=1))
        process = self.spawn(self.on_ranks(2, "train", "run.toml", "--out", "out", "--profile"))
        self.wait_for(process, lambda: (self.folder / "out/checkpoint-000001.h5").exists())
        process.send_signal(signal.SIGUSR1)
        self.assertEqual(process.wait(), 75)
        said = (self.folder / "log").read_text()
        self.assertIn("stopped by a signal after the last round, before its results were whole; go on with --resume", said)
        self.assertIn("local update", said[said.index("validation:"):])  # the table of --profile
        self.assertIn("stopped by a signal", self.status())
        self.assertEqual([path.name for path in (self.folder / "out").glob("result*")], [])
        self.train(1, "out", "--resume", "--set", "evaluation.e_steps=10")
        self.assert_same("whole", "out")

    def test_interrupted_twice_ends_at_once(self):
        self.deck()
        process, _ = self.starting(signal.SIGINT)
        until = time.time() + 60
        while process.poll() is None and time.time() < until:  # it goes on waiting for its configuration after the first
            process.send_signal(signal.SIGINT)
            time.sleep(0.05)
        self.assertEqual(process.wait(), -signal.SIGINT)

    def test_stopped_before_the_first_round(self):
        for sent in [signal.SIGUSR1, signal.SIGTERM, signal.SIGINT]:
            self.deck()
            deck = (self.folder / "run.toml").read_text()
            process, pipe = self.starting(sent)
            with pipe:
                pipe.write(deck)
            self.assertEqual(process.wait(), 75, (self.folder / "log").read_text())
            self.assertIn(f"signal {int(sent)}: stopped before the first round", (self.folder / "log").read_text())
            self.assertFalse((self.folder / "out").exists())

    def test_killed(self):
        process = self.running(ranks=1)
        child = int(pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])
        os.kill(child, signal.SIGKILL)
        self.assertNotEqual(process.wait(), 0)
        text = self.status()
        self.assertIn("not running, and no end was recorded (host ", text)

    def test_no_run(self):
        (self.folder / "empty").mkdir()
        self.assertIn("holds no run", self.status("empty", code=2))
        self.assertIn("is no folder", self.status("nowhere", code=2))


class Lock(Watching):
    def test_a_second_job_is_kept_out(self):
        process = self.running()
        for arguments in [["--resume"], ["--auto-resume"]]:
            said = self.train(2, "out", *arguments, code=2).stderr
            self.assertIn("in use by another run (host ", said)
            self.assertEqual(said.count("fedpp: error"), 1, said)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGUSR1)
        self.assertEqual(process.wait(), 75)
        self.assertFalse((self.folder / "out/train.lock").exists())

    def test_links_of_its_files_names_are_not_followed(self):
        """In a folder that others may write to, such a link would have a file of the user's overwritten or added to."""
        self.deck(federation__rounds=1)
        self.train(1, "out")
        self.write("victim", "somebody's\n")
        for name in ["train.lock", "train.log", "status.jsonl"]:
            with self.subTest(name):
                path = self.folder / "out" / name
                path.unlink(missing_ok=True)
                path.symlink_to("../victim")
                said = self.train(2, "out", "--resume", "--set", "federation.rounds=2", code=2).stderr
                self.assertIn(f"out/{name}: is a symbolic link, to which nothing is written: take it away", said)
                self.assertNotIn("MPI_ABORT", said)
                self.assertEqual((self.folder / "victim").read_text(), "somebody's\n")
                path.unlink()

    def test_a_job_that_was_started_again_waits_for_the_lock_of_its_life_before(self):
        os.environ["SLURM_JOB_ID"] = "7"
        self.addCleanup(os.environ.pop, "SLURM_JOB_ID")
        process = self.running(ranks=None)
        again = self.on_ranks(1, "train", "run.toml", "--out", "out", "--resume", "--set", "federation.rounds=1")
        self.assertEqual(self.start(again).returncode, 2)
        self.assertEqual(self.start(again, env={"SLURM_RESTART_COUNT": "1", "SLURM_JOB_ID": "8"}).returncode, 2)
        other = subprocess.Popen(again, cwd=self.folder, env={**os.environ, "SLURM_RESTART_COUNT": "1"}, stderr=subprocess.PIPE, text=True)
        time.sleep(1)
        self.assertIsNone(other.poll())
        process.send_signal(signal.SIGUSR1)
        self.assertEqual(process.wait(), 75)
        self.assertIn("federation.rounds = 1, but", other.communicate(timeout=60)[1])  # it had the lock, and read on

    def test_ranks_that_mpi_does_not_know_of_are_told(self):
        self.deck(federation__rounds=1)
        alone = lambda **step: self.start([FEDPP, "train", "run.toml", "--out", "out", "--auto-resume"], env=step).stderr
        self.assertIn("fedpp: 3 tasks were started together, but MPI sees one rank in each", alone(SLURM_STEP_NUM_TASKS="3"))
        self.assertEqual(alone(SLURM_STEP_NUM_TASKS="3", SLURM_PROCID="1"), "")
        self.assertEqual(alone(SLURM_STEP_NUM_TASKS="1"), "")
        self.assertNotIn("tasks", self.start(self.on_ranks(1, "train", "run.toml", "--out", "new"), env={"SLURM_STEP_NUM_TASKS": "3"}).stderr)


class CheckpointCommand(SameBits):
    def setUp(self):
        super().setUp()
        self.deck(federation__rounds=3, model__encoder="decay", model__mean="linear")
        self.train(1, "out")

    def command(self, *arguments, code=0):
        result = self.start([FEDPP, "checkpoint", *arguments])
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def test_list_verify_show(self):
        self.assertEqual(len(re.findall(r"checkpoint-00000[123]\.h5\n", self.command("list", "out"))), 3)
        self.assertEqual(self.command("verify", "out").count(": intact\n"), 3)
        shown = self.command("show", "out")
        for words in ["out/checkpoint-000003.h5", "rounds done      3", "clients          6", "model.inducing = 7", "seed             1"]:
            self.assertIn(words, shown)
        for words in ["model.jitter", "aggregation.divergence", "data.realisation"]:
            self.assertNotIn(words, shown)
        self.deck(**POOLED, federation__rounds=1)
        self.train(1, "pooled")
        shown = self.command("show", "pooled")
        self.assertIn('data.protocol = "population"', shown)
        self.assertNotIn("data.clock", shown)  # which follows the protocol
        self.newest("out").write_bytes(b"no checkpoint")
        self.assertIn("DAMAGED", self.command("list", "out"))
        said = self.command("verify", "out", code=2)
        self.assertEqual(said.count(": intact\n"), 2)
        self.assertIn("checkpoint-000003.h5: refused", said)
        self.assertIn("checkpoint-000002.h5", self.command("show", "out"))
        self.assertIn("refused", self.command("show", "out/checkpoint-000003.h5", code=2))

    def test_beside_a_job_that_prunes(self):
        for name in self.checkpoints("out")[:-1]:
            (self.folder / "out" / name).unlink()
        going = True

        def job():  # that keeps one
            newest = self.newest("out")
            for done in range(4, 10**6):
                if not going:
                    break
                newest = newest.rename(newest.with_name(f"checkpoint-{done:06}.h5"))
                time.sleep(0.005)

        running = threading.Thread(target=job)
        running.start()
        try:
            for _ in range(40):
                self.assertIn("rounds done      3", self.command("show", "out"))
                self.assertNotIn("DAMAGED", self.command("list", "out"))
                self.assertNotIn("cannot open", self.command("verify", "out"))
        finally:
            going = False
            running.join()

    def test_missing(self):
        (self.folder / "empty").mkdir()
        self.assertIn("holds no", self.command("list", "empty", code=2))
        self.assertIn("is no folder", self.command("list", "nowhere", code=2))
        self.assertIn("nowhere.h5", self.command("verify", "nowhere.h5", code=2))


if __name__ == "__main__":
    unittest.main(verbosity=2)
