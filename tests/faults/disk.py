"""A disk that is full, a folder that cannot be written to, one that vanishes, and NaN in a client: each ends or goes on in words.

The full disk is a file system in memory of a few megabytes; without the right to mount one (root, or a user name space) the test skips, said so.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import faults
import program
from program import FEDPP


class Disk(program.Case):
    def setUp(self):
        super().setUp()
        faults.deck(self.folder, 40)

    def start_training(self, *arguments, ranks=2, out="out"):
        log = open(self.folder / "log", "w")
        self.addCleanup(log.close)
        process = subprocess.Popen(self.on_ranks(ranks, "train", "run.toml", "--out", out, *arguments), cwd=self.folder, stdout=log, stderr=log)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def log(self):
        return (self.folder / "log").read_text()

    def wait_for(self, what, process, seconds=120):
        deadline = time.time() + seconds
        while not what() and process.poll() is None and time.time() < deadline:
            time.sleep(0.005)

    def checkpoints(self, out):
        return sorted(out.glob("checkpoint-*.h5"))


class FullDisk(Disk):
    def setUp(self):
        super().setUp()
        self.small = self.folder / "small"
        self.small.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", self.small], capture_output=True, text=True)
        if mounted.returncode != 0:
            self.skipTest(f"no file system of our own can be mounted: {mounted.stderr.strip()}")
        self.addCleanup(lambda: subprocess.run(["umount", "-l", self.small]))

    def fill(self):
        """To the last byte, also what a checkpoint that was deleted has given back."""
        try:
            with open(self.small / "filler", "ab", buffering=0) as file:
                while file.write(b"x" * 4096):
                    pass
        except OSError:
            pass

    def test_for_a_while_costs_no_run(self):
        out = self.small / "out"
        process = self.start_training("--set", "federation.rounds=100000", out=out)
        self.wait_for(lambda: len(self.checkpoints(out)) >= 1, process)
        self.wait_for(lambda: self.fill() or "no checkpoint after round" in self.log(), process)
        (self.small / "filler").unlink()
        told = self.log()
        self.assertIn("No space left on device", told)
        self.assertIn("tried again after the first round that ends 1 s on", told)
        rounds = len(self.log().splitlines())
        self.wait_for(lambda: len(self.log().splitlines()) > rounds + 20, process)
        self.assertIsNone(process.poll(), self.log())
        process.send_signal(signal.SIGUSR1)
        self.assertEqual(process.wait(timeout=60), 75, self.log())
        self.assertEqual(self.start([FEDPP, "checkpoint", "verify", out]).returncode, 0)
        self.assertEqual(list(out.glob("*.partial")), [])

    def test_for_good_ends_the_run_and_keeps_what_there_was(self):
        out = self.small / "out"
        process = self.start_training("--set", "federation.rounds=100000", out=out)
        self.wait_for(lambda: len(self.checkpoints(out)) >= 1, process)
        self.wait_for(lambda: self.fill(), process)
        self.assertEqual(process.wait(timeout=120), 1, self.log())
        self.assertIn("No space left on device", self.log())
        self.assertEqual(list(out.glob("*.partial")), [])
        (self.small / "filler").unlink()
        done = int(self.checkpoints(out)[-1].name[11:17])
        self.assertEqual(self.start_training("--auto-resume", "--set", f"federation.rounds={done + 1}", out=out).wait(), 0, self.log())


class Folder(Disk):
    def test_that_vanishes_ends_the_run(self):
        process = self.start_training("--set", "federation.rounds=100000")
        self.wait_for(lambda: self.checkpoints(self.folder / "out"), process)
        os.rename(self.folder / "out", self.folder / "gone")
        self.assertEqual(process.wait(timeout=120), 1, self.log())
        self.assertIn("out/checkpoint-", self.log())
        self.assertEqual(self.start([FEDPP, "checkpoint", "verify", "gone"]).returncode, 0)

    def test_that_cannot_be_written_to_is_refused_before_the_work(self):
        for target in ["/proc/fedpp", "train.csv/out"]:
            process = self.start_training(out=target)
            self.assertEqual(process.wait(timeout=60), 2, self.log())
            self.assertIn("output.directory", self.log())
        if os.geteuid() != 0:
            os.mkdir(self.folder / "locked", 0o500)
            self.assertEqual(self.start_training(out="locked").wait(timeout=60), 2)
            self.assertIn("cannot be written to", self.log())


class ClientWithoutNumbers(Disk):
    def test_is_left_out_by_name_and_the_run_goes_on(self):
        """A learning rate that takes every weight beyond the numbers: uploads are refused, the run ends in order."""
        process = self.start_training("--set", "training.learning_rate=1e300", "--set", "federation.rounds=3")
        code = process.wait(timeout=120)
        self.assertIn(" left out of round ", self.log())
        self.assertIn("client ", self.log())
        self.assertEqual(code, 2, self.log())
        self.assertIn("no upload of any round was accepted", self.log())
        self.assertNotIn("Segmentation", self.log())
        result = json.loads((self.folder / "out/result.json").read_text())
        self.assertTrue(all(r["left_out"] for r in result["rounds"]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
