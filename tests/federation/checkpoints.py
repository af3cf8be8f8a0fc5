"""Checkpoints that are damaged, missing or of another run are refused in words and leave everything as it was; results from whole ones."""
import json
import os
import random
import shutil
import unittest

import h5py
import numpy as np

from runs import PER_SEQUENCE, SameBits, data_set
from program import FEDPP


class Checkpoints(SameBits):
    def setUp(self):
        super().setUp()
        self.deck(federation__rounds=3, **PER_SEQUENCE)
        self.train(1, "out")

    def contents(self, out):
        return {path.name: path.read_bytes() for path in (self.folder / out).iterdir() if path.name != "train.log"}

    def refused(self, *words, ranks=2, arguments=()):
        """--resume ends with code 2, one message with these words, and the folder as it was."""
        before = self.contents("out")
        result = self.train(ranks, "out", "--resume", "--set", "federation.rounds=5", *arguments, code=2)
        for word in words:
            self.assertIn(word, result.stderr)
        self.assertEqual(result.stderr.count("fedpp: error"), 1, result.stderr)
        self.assertEqual(before, self.contents("out"))

    def test_damaged(self):
        newest = self.newest("out")
        intact = newest.read_bytes()
        rng = random.Random(3)
        damages = {"truncated": intact[: len(intact) * 2 // 3], "header only": intact[:512], "empty": b"", "longer": intact + b"\0",
                   "foreign": b"sequence,time,type\n" * 200, "not sealed": b"\0" * 512 + intact[512:]}
        for k in range(3):
            at = rng.randrange(len(intact))
            damages[f"bit flipped at {at}"] = intact[:at] + bytes([intact[at] ^ (1 << k)]) + intact[at + 1:]
        for what, content in damages.items():
            with self.subTest(what):
                newest.write_bytes(content)
                self.refused(newest.name, ranks=1 if "bit" in what else 2)

    def test_previous_one_instead(self):
        self.train(1, "whole", "--set", "federation.rounds=5")
        newest = self.newest("out")
        newest.write_bytes(newest.read_bytes()[:-1])
        previous = self.checkpoints("out")[-2]
        self.refused(newest.name, previous)  # the remedy names it
        self.train(2, "out", "--resume", "--checkpoint", f"out/{previous}", "--set", "federation.rounds=5")
        self.assert_same("whole", "out")

    def test_another_course_from_an_earlier_one(self):
        """evaluate, predict and --resume take the course that went on, not what it left behind."""
        left = {name: (self.folder / "out" / name).read_bytes() for name in self.checkpoints("out")[1:]}
        log = self.train(1, "out", "--resume", "--checkpoint", "out/checkpoint-000001.h5", "--accept-changes",
                         "--set", "training.learning_rate=0.1", "--set", "federation.rounds=2").stdout
        self.assertIn("superseded", log)
        self.assertIn("out/checkpoint-000003.h5.superseded", log)
        self.assertEqual(self.newest("out").name, "checkpoint-000002.h5")
        for name, content in left.items():
            self.assertEqual((self.folder / "out" / f"{name}.superseded").read_bytes(), content)
        self.assertEqual(self.start(self.on_ranks(1, "evaluate", "out")).returncode, 0)
        evaluated = json.loads((self.folder / "out/evaluation.json").read_text())
        self.assertEqual(evaluated["scores"], self.result("out")["scores"])

    def test_every_rank_takes_the_one_that_rank_0_sees(self):
        """A network's file system that lags, a run that writes meanwhile: rank 1 sees a round more."""
        self.train(1, "other/out", "--set", "federation.rounds=4")
        for name in self.checkpoints("out"):
            (self.folder / "other/out" / name).write_bytes((self.folder / "out" / name).read_bytes())
        self.assertEqual(self.checkpoints("other/out")[-1], "checkpoint-000004.h5")
        for command in [["evaluate", "out"], ["adapt", "out", "--continue", "--rounds", 1, "--out", self.folder / "on"]]:
            launch, program = self.on_ranks(2, *command)[:3], self.on_ranks(2, *command)[3:]
            result = self.start([*launch, "sh", "-c", '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] || cd "$0"; exec "$@"', self.folder / "other", *program])
            self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads((self.folder / "out/evaluation.json").read_text())["scores"], self.result("out")["scores"])
        self.assertEqual(len(self.result("on")["rounds"]), 4)

    def test_a_copy_under_another_number(self):
        newest = self.newest("out")
        (self.folder / "out/checkpoint-000009.h5").write_bytes(newest.read_bytes())
        self.refused("checkpoint-000009.h5: its name says round 9", "after round 3: name it checkpoint-000003.h5")
        evaluated = self.start(self.on_ranks(1, "evaluate", "out"))
        self.assertEqual(evaluated.returncode, 2, evaluated.stderr)
        (self.folder / "out/checkpoint-000009.h5").rename(self.folder / "kept.h5")
        self.train(1, "out", "--resume", "--checkpoint", "kept.h5", "--set", "federation.rounds=4")

    def test_missing(self):
        self.refused("nowhere.h5", arguments=["--checkpoint", "nowhere.h5"])
        result = self.train(2, "empty", "--resume", code=2)
        self.assertIn("holds no checkpoint", result.stderr)
        self.assertFalse((self.folder / "empty").exists())

    def test_fewer_rounds_than_done(self):
        told = self.train(2, "out", "--resume", "--set", "federation.rounds=2", code=2).stderr
        self.assertIn("has done 3", told)
        self.assertEqual(told.count("has done 3"), 1, told)
        self.assertNotIn("MPI_ABORT", told)

    def test_wrong_configuration(self):
        self.refused("model.inducing = 9", "checkpoint: 7", self.newest("out").name, arguments=["--set", "model.inducing=9"])
        self.refused("federation.seed", "--accept-changes", arguments=["--set", "federation.seed=2"])
        told = self.train(1, "out", "--resume", "--set", "model.encoder=rbf", code=2).stderr
        self.assertIn("under another model.encoder its weights have no meaning", told)
        self.assertNotIn("--accept-changes", told)
        told = self.start(self.on_ranks(1, "evaluate", "out", "--set", "federation.seed=2"))
        self.assertEqual(told.returncode, 2)
        self.assertIn("evaluated as it was trained", told.stderr)
        self.assertNotIn("--resume", told.stderr)

    def test_wrong_data(self):
        self.write("train.csv", data_set(23))
        self.refused(self.newest("out").name)

    @staticmethod
    def altered(data):
        line = next(row for row in data.splitlines() if row.startswith("7,"))  # its first event: the window starts earlier
        sequence, time, kind = line.split(",")
        return data.replace(line, f"{sequence},{float(time) - 0.125},{kind}", 1)

    def test_altered_data(self):
        self.write("train.csv", self.altered((self.folder / "train.csv").read_text()))
        self.refused("not those that", self.newest("out").name, "--accept-changes", "adapt --continue")
        evaluated = self.start(self.on_ranks(2, "evaluate", "out"))
        self.assertEqual(evaluated.returncode, 2, evaluated.stderr)
        self.assertIn("not those that", evaluated.stderr)
        self.train(2, "out", "--resume", "--accept-changes", "--set", "federation.rounds=5")
        self.assertGreater(self.result("out")["best_round"], 3, "scores of other data took part in the choice")

    def test_altered_validation_data(self):
        """Rounds are ranked by them: with others scores do not compare. They are nothing to a state that is evaluated."""
        data = (self.folder / "train.csv").read_text()
        lines = data.splitlines()
        own = [k for k, row in enumerate(lines) if row.startswith("7,")]
        for k in own[int(0.66 * len(own)):int(0.74 * len(own))]:  # validation is from 0.6 to 0.8
            sequence, time, kind = lines[k].split(",")
            lines[k] = f"{sequence},{float(time) + 1e-3},{kind}"
        self.write("train.csv", "\n".join(lines) + "\n")
        self.refused("its validation events or windows are not those that", self.newest("out").name, "--accept-changes")
        evaluated = self.start(self.on_ranks(2, "evaluate", "out"))
        self.assertEqual(evaluated.returncode, 0, evaluated.stderr)
        self.train(1, "unranked", "--set", "federation.validate_every=0")
        self.train(2, "out", "--resume", "--accept-changes", "--set", "federation.rounds=5")
        self.assertGreater(self.result("out")["best_round"], 3, "scores of other data took part in the choice")
        self.write("train.csv", data)
        self.train(1, "unranked", "--resume", "--set", "federation.validate_every=0", "--set", "federation.rounds=4")

    def test_files_of_others_in_the_folder(self):
        for name in ["config.toml", "result.json"]:
            for text in ["[build]\njobs = 4\n", '{"mine": 1}', ""]:
                self.write(f"others/{name}", text)
                told = self.train(2, "others", code=2).stderr
                self.assertIn(f"others/{name}: no run of fedpp has written it", told)
                self.assertEqual(told.count("fedpp: error"), 1, told)
                self.assertEqual([(path.name, path.read_text()) for path in (self.folder / "others").iterdir()], [(name, text)])
            (self.folder / "others" / name).unlink()
        self.write("others/config.toml", (self.folder / "out/config.toml").read_text())  # of a run that has no checkpoint yet
        self.train(1, "others")

    def test_data_that_lie_elsewhere_now(self):
        data = (self.folder / "train.csv").read_text()
        self.write("moved/train.csv", data)
        (self.folder / "train.csv").unlink()
        there = ["--set", "data.train=moved/train.csv"]
        evaluated = self.start(self.on_ranks(2, "evaluate", "out", *there))
        self.assertEqual(evaluated.returncode, 0, evaluated.stderr)
        again = json.loads((self.folder / "out" / "evaluation.json").read_text())
        self.assertEqual(again["scores"], self.result("out")["scores"])
        told = self.train(2, "out", "--resume", "--set", "federation.rounds=5", *there).stdout
        self.assertIn("moved/train.csv", told)
        self.write("moved/train.csv", self.altered(data))
        evaluated = self.start(self.on_ranks(2, "evaluate", "out", *there))
        self.assertEqual(evaluated.returncode, 2, evaluated.stderr)
        self.assertIn("not those that", evaluated.stderr)
        self.write("moved/other.csv", data)  # another name is another configuration
        evaluated = self.start(self.on_ranks(1, "evaluate", "out", "--set", "data.train=moved/other.csv"))
        self.assertEqual(evaluated.returncode, 2)
        self.assertIn("evaluated as it was trained", evaluated.stderr)

    def test_second_training_into_the_folder(self):
        before = self.contents("out")
        result = self.train(2, "out", code=2)
        self.assertIn("--resume", result.stderr)
        self.assertIn("--out", result.stderr)
        self.assertEqual(before, self.contents("out"))

    def test_evaluate_and_predict_from_the_folder(self):
        self.assertEqual(self.start(self.on_ranks(2, "evaluate", "out")).returncode, 0)
        again = json.loads((self.folder / "out" / "evaluation.json").read_text())
        self.assertEqual(again["scores"], self.result("out")["scores"])
        self.assertEqual(self.start(self.on_ranks(2, "predict", "out", "--clients", "1,4")).returncode, 0)
        with h5py.File(self.folder / "out" / "prediction.h5") as file, h5py.File(self.folder / "out" / "result.h5") as result:
            self.assertEqual(sorted(file["curves"]), ["client_000001", "client_000004"])
            for of in (file, result):
                self.assertEqual((of.attrs["state"], of.attrs["scored_round"]), (again["state"], again["scored_round"]))
            quantiles, told = result["calibration"], again["calibration"]
            self.assertEqual(quantiles.attrs["increments"], told["increments"])
            below = (told["increments"] + 1) * -np.expm1(-quantiles["expected"][()])  # increments up to each edge, without those in the last bin
            np.testing.assert_allclose(below, below.round(), atol=1e-9)
            self.assertEqual(round(below[-1]) + quantiles.attrs["beyond"], told["increments"])
            self.assertTrue((np.diff(below) > 0.5).all(), "bins without increments are left out")
            for name in ["time", "lower", "upper"]:
                self.assertEqual(file[f"curves/client_000001/{name}"][()].tobytes(),
                                 result[f"curves/client_000001/{name}"][()].tobytes())

    def test_clients_are_named_by_number_range_or_all(self):
        for names, drawn in [("1-3,5", [1, 2, 3, 5]), ("all", range(6))]:
            self.assertEqual(self.start(self.on_ranks(2, "predict", "out", "--clients", names)).returncode, 0)
            with h5py.File(self.folder / "out" / "prediction.h5") as file:
                self.assertEqual(sorted(file["curves"]), [f"client_{c:06d}" for c in drawn])
        for names, said in [("2-6", "there are clients 0 to 5"), ("3-1", "name clients by number"), ("two", "name clients by number"),
                            ("-1", "name clients by number"), ("1-", "name clients by number")]:
            refused = self.start(self.on_ranks(1, "predict", "out", f"--clients={names}"))
            self.assertEqual(refused.returncode, 2)
            self.assertIn(said, refused.stderr)

    def test_a_result_that_cannot_be_written_is_refused_before_the_work(self):
        (self.folder / "folder").mkdir()
        before = sorted(self.folder.rglob("*"))
        self.newest("out").write_bytes(b"")  # the work would begin by refusing this
        for command, name in [("evaluate", "x.json"), ("predict", "x.h5")]:
            for target in [f"nowhere/{name}", "folder"]:
                result = self.start(self.on_ranks(2, command, "out", "--out", target))
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn(f"fedpp: error: {target}: ", result.stderr)
        self.assertEqual(sorted(self.folder.rglob("*")), before)

    def test_results_replace_only_their_own_kind(self):
        os.link(self.folder / "train.csv", self.folder / "train.json")
        os.mkfifo(self.folder / "pipe.json")
        (self.folder / "link.json").symlink_to("elsewhere.json")
        before = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        newest = f"out/{self.newest('out').name}"
        for command, target, reason in [
                ("evaluate", "out/result.json", "'fedpp train' wrote it"), ("evaluate", newest, "must end in .json"),
                ("evaluate", "train.json", "is read here"), ("evaluate", "pipe.json", "is a device, pipe or socket"),
                ("evaluate", "link.json", "is a symbolic link"), ("predict", newest, "'fedpp train' wrote it"),
                ("predict", "out/result.h5", "'fedpp train' wrote it"), ("predict", "train.csv", "must end in .h5")]:
            with self.subTest(f"{command} --out {target}"):
                result = self.start(self.on_ranks(1, command, "out", "--out", target))
                self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
                self.assertIn(f"fedpp: error: {target}: ", result.stderr)
                self.assertIn(reason, result.stderr)
        # Under names of their own the content tells.
        self.start([FEDPP, "import", "train.csv", "--out", "events.h5"]).check_returncode()
        copies = {"weights.h5": newest, "curves.h5": "out/result.h5", "scores.json": "out/result.json", "x.futures.csv": "train.csv"}
        for copy, source in copies.items():
            shutil.copy(self.folder / source, self.folder / copy)
        self.write("mine.json", '{"mine": 1}')
        self.write("half.json", '{"scores": ')
        self.write("half.h5", "\x89HDF")
        for name in [*copies, "events.h5", "mine.json", "half.json", "half.h5"]:
            before[self.folder / name] = (self.folder / name).read_bytes()
            command = ["evaluate", "out", "--out", name] if name.endswith("json") else ["predict", "out", "--out", name]
            if name == "x.futures.csv":
                command = ["predict", "out", "--out", "x.h5", "--futures", "1", "--horizon", "1"]
            result = self.start(self.on_ranks(2, *command))
            self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
            self.assertIn(f"fedpp: error: {name}: no result of 'fedpp {command[0]}' as this version writes it, and it would be replaced: name another", result.stderr)
        self.assertEqual({path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}, before)
        self.assertTrue((self.folder / "pipe.json").is_fifo())
        self.write("again.json", "")
        for _ in range(2):  # their own, and a file that was made to be filled
            for command in [["evaluate", "out", "--out", "again.json"],
                            ["predict", "out", "--out", "none.h5", "--set", "evaluation.curve_clients=0"],
                            ["predict", "out", "--out", "again.h5", "--next-events", "--futures", "1", "--horizon", "1"]]:
                self.start(self.on_ranks(1, *command)).check_returncode()
        (self.folder / "curves.h5").unlink()
        # The tables go where the curves go.
        result = self.start(self.on_ranks(1, "predict", "out", "--next-events", "--out", "curves.h5"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((self.folder / "curves.next_events.csv").is_file())
        self.assertFalse((self.folder / "out" / "next_events.csv").exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
