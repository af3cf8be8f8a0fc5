"""A clock of the wall that jumps by a day, forwards and backwards: neither results nor checkpoints nor what is said about time depend on it. What a
process asks for the time finds the jumps of clock.c; the times of files, which the system keeps, are set here."""
import json
import os
import pathlib
import re
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import faults
import preload
import program
from program import FEDPP

ROUNDS = 6
DAY = 86400


class Clock(program.Case):
    def setUp(self):
        super().setUp()
        faults.deck(self.folder, ROUNDS)

    def train(self, out, *arguments, jumps=True):
        # Every round is validated, since the last of a part would be.
        command = self.on_ranks(2, "train", "run.toml", "--out", out, "--set", "federation.validate_every=1", *arguments)
        result = self.start(preload.under("clock", command) if jumps else command)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def command(self, *arguments):
        result = self.start(preload.under("clock", [FEDPP, *arguments]))
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def checkpoints(self, out):
        return sorted((self.folder / out).glob("checkpoint-*.h5"))

    def rounds(self, out):
        return [int(path.name[11:17]) for path in self.checkpoints(out)]

    def records(self, out, event):
        lines = [json.loads(line) for line in (self.folder / out / "status.jsonl").read_text().splitlines()]
        return [line for line in lines if line["event"] == event]

    def test_jumps_change_no_bit(self):
        self.train("whole", jumps=False)
        self.train("out", "--set", "federation.rounds=3")
        self.train("out", "--resume")
        times = [record["time"] for record in self.records("out", "round")]
        self.assertNotEqual(times, sorted(times), "no jump was met: the test tests nothing")
        self.assertEqual(faults.outcome(self.folder / "out"), faults.outcome(self.folder / "whole"))

    def test_durations_are_of_a_clock_that_does_not_jump(self):
        said = self.train("out")
        result = json.loads((self.folder / "out/result.json").read_text())
        seconds = [record["seconds"] for event in ("round", "checkpoint") for record in self.records("out", event)]
        seconds += [*result["phases"].values(), *(record["seconds"] for record in result["rounds"])]
        self.assertGreater(len(seconds), 3 * ROUNDS)
        for duration in seconds:
            self.assertTrue(0 <= duration < DAY / 24, seconds)
        left = re.findall(r"(\S+) (s|min) left", said)
        self.assertEqual(len(left), ROUNDS, said)
        for number, unit in left:
            self.assertTrue(0 <= float(number) * (60 if unit == "min" else 1) < DAY / 24, said)

    def test_checkpoints_by_minutes_are_due_when_they_would_be(self):
        arguments = ["--set", "output.checkpoint_every=0", "--set", "output.checkpoints_kept=9", "--set"]
        self.train("seldom", *arguments, "output.checkpoint_minutes=60")
        self.assertEqual(self.rounds("seldom"), [ROUNDS])
        self.train("often", *arguments, "output.checkpoint_minutes=1e-9")
        self.assertEqual(self.rounds("often"), list(range(1, ROUNDS + 1)))

    def test_the_newest_checkpoint_is_that_of_the_last_round(self):
        """However the times of the files lie: the newest was written when the clock was days behind, or ahead."""
        self.train("whole", jumps=False)
        self.train("out", "--set", "federation.rounds=4")
        self.assertEqual(self.rounds("out"), [2, 3, 4])
        now = time.time()
        for days, age in [(-3, r"[234]\.\d days"), (3, "0 s")]:
            for k, path in enumerate(self.checkpoints("out")):
                os.utime(path, (now, now + days * DAY * (k - 1)))
            newest = self.checkpoints("out")[-1].name
            self.assertRegex(self.command("status", "out"), rf"checkpoint  {newest}, {age} ago")
            listed = re.findall(r"^ +(\d+) .*(checkpoint-\d+\.h5)$", self.command("checkpoint", "list", "out"), re.MULTILINE)
            self.assertEqual([int(round) for round, name in listed], self.rounds("out"))
            self.assertIn(f"out/{newest}\n", self.command("checkpoint", "show", "out"))
            done = int(newest[11:17])
            said = self.train("out", "--resume", "--set", f"federation.rounds={done + 1}")
            self.assertIn(f"resumed from out/{newest} after round {done}", said)
            self.assertEqual(self.rounds("out"), [done - 1, done, done + 1], "those of the last rounds are kept")
        self.assertEqual(faults.outcome(self.folder / "out"), faults.outcome(self.folder / "whole"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
