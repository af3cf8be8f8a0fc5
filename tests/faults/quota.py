"""A disk quota that is exceeded while a checkpoint or a result is written: as a full disk, it is said with the file and the remedy, costs nothing that
was there, and a run goes on or ends with code 1. The quota is made by quota.c, call by call, so that every run meets it at the same place."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import faults
import preload
import program
from program import FEDPP

ROUNDS = 6
SAID = "Disk quota exceeded (delete files of yours, have the quota raised, or choose another folder)"
# The system's call that finds no room, and the bytes that each rank may still write: none, and less than its part of a checkpoint.
CALLS = [("write", 0), ("write", 5000), ("fsync", 0), ("close", 0)]


class Quota(program.Case):
    whole = ""  # how a run ends that has room

    def setUp(self):
        super().setUp()
        self.folder = self.folder.resolve()  # as the system names open files
        faults.deck(self.folder, ROUNDS)
        if not Quota.whole:
            Quota.whole = self.outcome("whole", self.train("whole"))

    def train(self, out, *arguments, name=None, call="write", left=0, ranks=2):
        """With a quota for the files in `out` whose names hold `name`; without one where there is no name."""
        command = self.on_ranks(ranks, "train", "run.toml", "--out", out, *arguments)
        if name is not None:
            command = preload.under("quota", command, FEDPP_QUOTA_FOLDER=self.folder / out, FEDPP_QUOTA_NAME=name, FEDPP_QUOTA_CALL=call,
                                    FEDPP_QUOTA_BYTES=left)
        return self.start(command)

    def outcome(self, out, result):
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return faults.outcome(self.folder / out)

    def rounds(self, out):
        return [int(path.name[11:17]) for path in sorted((self.folder / out).glob("checkpoint-*.h5"))]

    def assert_nothing_is_half_there(self, out, rounds):
        self.assertEqual(self.rounds(out), rounds)
        self.assertEqual(list((self.folder / out).glob("*.partial")), [])
        if rounds:
            verified = self.start([FEDPP, "checkpoint", "verify", out])
            self.assertEqual(verified.stdout.count(": intact\n"), len(rounds), verified.stdout)

    def assert_ended_by(self, result, file):
        """One line of one rank, the file and the remedy in it; the code for a failure of the machine."""
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        told = [line for line in result.stderr.splitlines() if line.startswith("fedpp: error")]
        self.assertEqual(len(told), 1, result.stderr)
        self.assertTrue(told[0].startswith(f"fedpp: error: {file}"), told[0])
        self.assertTrue(told[0].endswith(SAID), told[0])

    def test_at_one_checkpoint_costs_no_run(self):
        for k, (call, left) in enumerate(CALLS):
            with self.subTest(call=call, left=left):
                out = f"out{k}"
                result = self.train(out, name="checkpoint-000003", call=call, left=left)
                self.assertEqual(self.outcome(out, result), self.whole)
                told = [line for line in result.stdout.splitlines() if line.startswith("no checkpoint after round")]
                self.assertEqual(len(told), 1, result.stdout)
                self.assertTrue(told[0].startswith(f"no checkpoint after round 3: {out}/checkpoint-000003.h5: "), told[0])
                self.assertTrue(told[0].endswith(SAID + "; tried again after the first round that ends 1 s on"), told[0])
                rounds = self.rounds(out)  # which of the later ones, the machine's speed decides
                self.assertNotIn(3, rounds)
                self.assertEqual(rounds[-1], ROUNDS)
                self.assert_nothing_is_half_there(out, rounds)

    def test_at_the_last_checkpoint_ends_the_run_and_keeps_the_former(self):
        for k, (call, left) in enumerate(CALLS):
            with self.subTest(call=call, left=left):
                out = f"out{k}"
                self.assert_ended_by(self.train(out, name="checkpoint-000006", call=call, left=left), f"{out}/checkpoint-000006.h5: ")
                self.assert_nothing_is_half_there(out, [3, 4, 5])
                self.assertFalse((self.folder / out / "result.json").exists())
        resumed = self.train(out, "--auto-resume")
        self.assertIn(f"resumed from {out}/checkpoint-000005.h5 after round 5", resumed.stdout)
        self.assertEqual(self.outcome(out, resumed), self.whole)

    def test_at_a_result_ends_the_run_and_keeps_the_former(self):
        """On one rank: of several, the next would find a failed close when it opens the file again."""
        self.assertEqual(self.outcome("out", self.train("out", ranks=1)), self.whole)
        former = {name: (self.folder / "out" / name).read_bytes() for name in ("result.json", "result.h5")}
        for file in former:
            for call, left in CALLS:
                with self.subTest(file=file, call=call, left=left):
                    self.assert_ended_by(self.train("out", "--resume", name=file, call=call, left=left, ranks=1), f"out/{file}")
                    self.assert_nothing_is_half_there("out", [4, 5, 6])
                    self.assertEqual((self.folder / "out" / file).read_bytes(), former[file])
        self.assertEqual(self.outcome("out", self.train("out", "--resume")), self.whole)

    def test_at_what_evaluate_and_predict_write_keeps_the_former(self):
        self.train("out", ranks=1)
        for words, file in [(["evaluate"], "evaluation.json"), (["predict"], "prediction.h5"), (["predict", "--next-events"], "next_events.csv")]:
            ask = self.on_ranks(1, words[0], "out", *words[1:])
            self.assertEqual(self.start(ask).returncode, 0)
            former = (self.folder / "out" / file).read_bytes()
            for call, left in CALLS:
                with self.subTest(file=file, call=call, left=left):
                    limits = dict(FEDPP_QUOTA_FOLDER=self.folder / "out", FEDPP_QUOTA_NAME=file, FEDPP_QUOTA_CALL=call, FEDPP_QUOTA_BYTES=min(left, 100))
                    self.assert_ended_by(self.start(preload.under("quota", ask, **limits)), f"out/{file}: ")
                    self.assertEqual((self.folder / "out" / file).read_bytes(), former)
                    self.assertEqual(list((self.folder / "out").glob("*.partial")), [])

    def test_before_the_first_round_leaves_nothing(self):
        for call, left in CALLS:
            with self.subTest(call=call, left=left):
                self.assert_ended_by(self.train("out", name="config.toml", call=call, left=left), "out/config.toml: ")
                self.assertFalse((self.folder / "out").exists())

    def test_of_the_whole_folder_keeps_what_had_room(self):
        """Two checkpoints fit. Records and logs find no room either; they are not what a run ends for."""
        self.assertEqual(self.train("two", "--set", "federation.rounds=2", "--set", "federation.validate_every=0").returncode, 0)
        left = (self.folder / "two/checkpoint-000002.h5").stat().st_size  # each of two ranks writes half of a file
        self.assert_ended_by(self.train("out", name="", left=left), "out/checkpoint-000006.h5: ")
        rounds = self.rounds("out")
        self.assertTrue(rounds)
        self.assert_nothing_is_half_there("out", rounds)
        status = self.start([FEDPP, "status", "out"])
        self.assertEqual(status.returncode, 0, status.stderr)
        self.assertIn(f"checkpoint-{rounds[-1]:06d}.h5", status.stdout)
        self.assertEqual(self.outcome("out", self.train("out", "--auto-resume")), self.whole)


if __name__ == "__main__":
    unittest.main(verbosity=2)
