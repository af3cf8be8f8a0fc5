"""validation/paper: `test_paper.py --quick EXPERIMENT` runs one at its quick size; without arguments the engine is tested."""
import argparse
import contextlib
import csv
import functools
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

PAPER = pathlib.Path(__file__).resolve().parents[2] / "validation" / "paper"
FEDPP = os.environ["FEDPP_EXECUTABLE"]
try:
    import matplotlib  # noqa: F401
    import numpy as np
    import tomllib  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}; the experiments need Python 3.11 with NumPy and Matplotlib")
    sys.exit(77)

sys.path.insert(0, str(PAPER))
import experiment as engine  # noqa: E402
import next_event  # noqa: E402
import run as command  # noqa: E402
import tables  # noqa: E402

DECK = """
title = "t"
data = ["tiny/population", "tiny/chronological"]
seeds = 3
[axis.a]
"x" = { training.epochs = 1 }
"y" = { training.epochs = 2 }
[axis.b]
"p" = {}
"q" = { model.start_variance = 2.0 }
[[adjust]]
where = { a = "y", data = "tiny/population" }
settings = { training.samples = 7 }
[[compare]]
ours = { a = "y" }
theirs = { a = "x" }
[[compare]]
ours = { a = "x" }
theirs = { trivial = "best" }
[quick]
data = ["tiny/population"]
levels = { b = ["q"] }
"""


FORECAST = "chronological-table"  # whose quick size foretells next events, too


def quick(name):
    more = ["--next-event"] if name == FORECAST else []
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run([sys.executable, PAPER / "run.py", name, "--quick", "--fedpp", FEDPP, "--out", folder, *more],
                                capture_output=True, text=True, timeout=500)
        print(result.stdout + result.stderr)
        made = pathlib.Path(folder) / f"quick-{name}"
        with open(made / "results.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        png = (made / "results.png").read_bytes()
        if name == FORECAST:
            with open(made / "results-next-event.csv", newline="") as file:
                forecasts = list(csv.DictReader(file))
            if len(forecasts) != len(rows) or not all(float(row["rmse fedpp, expectation"]) > 0 for row in forecasts):
                return False
    described = engine.Experiment(name, "quick")
    expected = 1 if described.command else len(list(described.runs()))
    return result.returncode == 0 and len(rows) >= expected and png.startswith(b"\x89PNG")


class Engine(unittest.TestCase):
    def setUp(self):
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (self.folder / "e").mkdir()
        (self.folder / "e" / "experiment.toml").write_text(DECK)
        for name in ("datasets.toml", "chronological.toml"):
            (self.folder / name).write_text((PAPER / name).read_text().replace("../../examples", str(PAPER / "../../examples")))
        here, engine.HERE = engine.HERE, self.folder
        self.addCleanup(setattr, engine, "HERE", here)

    def experiment(self, *arguments):
        return engine.Experiment("e", *arguments)

    def rows(self, experiment, score):
        """A row for every run, headline by score(run)."""
        return {run.key: {"data": run.data.name, **run.levels, "seed": str(run.seed), "headline": str(score(run)), "homogeneous": "1.5",
                          "histogram": "2.5", "settings": run.digest} for run in experiment.runs()}

    def test_every_experiment_is_legal_at_every_size(self):
        engine.HERE = PAPER
        for name in command.EXPERIMENTS:
            for size in ("", "quick", "full"):
                experiment = engine.Experiment(name, size)
                runs = list(experiment.runs())
                self.assertTrue(runs or experiment.command, name)
                self.assertEqual(len({(run.data.name, run.digest, run.seed) for run in runs}), len(runs), f"{name}: two cells are one run")
                for entry in experiment.compare:
                    for side in (entry["ours"], entry["theirs"]):
                        self.assertLessEqual(set(side) - {"trivial"}, set(experiment.axes), f"{name}: {side}")
                        chosen = {axis for axis, level in side.items() if level == engine.BY_VALIDATION}
                        self.assertLessEqual(chosen, set(experiment.choose), f"{name}: {side}")

    def test_the_program_takes_every_runs_settings(self):
        engine.HERE = PAPER
        runs = {run.digest: run for name in command.EXPERIMENTS for size in ("", "quick", "full") for run in engine.Experiment(name, size, 1).runs()}
        for run in runs.values():
            options = [word for option in run.options({"data.train": "train.csv", "data.test": "test.csv"}) for word in ("--set", option)]
            result = subprocess.run([FEDPP, "config", run.data.deck, *options], capture_output=True, text=True)
            self.assertEqual(result.returncode, 0, f"{run.key}: {result.stderr}")

    def test_grid(self):
        self.assertEqual(len(list(self.experiment().runs())), 2 * 2 * 2 * 3)
        self.assertEqual([run.key for run in self.experiment("quick", 1).runs()],
                         [("tiny/population", "x", "q", 1), ("tiny/population", "y", "q", 1)])
        self.assertEqual({run.levels["a"] for run in self.experiment("", None, {"a": ["y"]}).runs()}, {"y"})
        self.assertEqual(command.chosen_levels(["a=x,y", "data=d"]), {"a": ["x", "y"], "data": ["d"]})
        with self.assertRaisesRegex(SystemExit, "--only a=y: a was given before"):
            command.chosen_levels(["a=x", "a=y"])
        with self.assertRaisesRegex(SystemExit, "--only a: give AXIS=LEVEL"):
            command.chosen_levels(["a"])
        with self.assertRaisesRegex(SystemExit, "a has no level 'z'; there are x, y"):
            self.experiment("", None, {"a": ["z"]})
        with self.assertRaisesRegex(SystemExit, "--only c: e has data, a, b"):
            self.experiment("", None, {"c": ["x"]})
        with self.assertRaisesRegex(SystemExit, "no data set 'tiny'; there are .*tiny/population"):
            self.experiment("", None, {"data": ["tiny"]})

    def test_settings_of_a_run(self):
        run = {r.key: r for r in self.experiment().runs()}
        self.assertEqual(run["tiny/population", "y", "q", 1].settings["training.samples"], 7)
        self.assertNotIn("training.samples", run["tiny/chronological", "y", "q", 1].settings)
        self.assertEqual(run["tiny/chronological", "y", "q", 1].settings["model.start_variance"], 2.0)
        self.assertEqual(run["tiny/chronological", "y", "q", 1].settings["data.clients"], 3)

    def test_digest_is_that_of_what_the_run_depends_on(self):
        first, second = ({r.key: r.digest for r in self.experiment().runs()} for _ in range(2))
        self.assertEqual(first, second)
        self.assertEqual(len(set(first.values())), 8)  # data, a, b; not the seed
        deck = self.folder / "e" / "experiment.toml"
        deck.write_text(DECK.replace("training.epochs = 2", "training.epochs = 3").replace('"t"', '"u"'))
        third = {r.key: r.digest for r in self.experiment().runs()}
        self.assertEqual({key for key in first if first[key] != third[key]}, {key for key in first if key[1] == "y"})

    def test_rows_of_other_settings_are_left_out(self):
        old = self.experiment()
        rows = self.rows(old, lambda run: run.seed)
        path = self.folder / "results.csv"
        old.write(path, rows)
        self.assertEqual(old.read(path)[1], 0)
        self.assertEqual({k: r["headline"] for k, r in old.read(path)[0].items()}, {k: r["headline"] for k, r in rows.items()})
        deck = self.folder / "e" / "experiment.toml"
        deck.write_text(DECK.replace("training.epochs = 2", "training.epochs = 3"))
        kept, stale = self.experiment().read(path)
        self.assertEqual({key[1] for key in kept}, {"x"})
        self.assertEqual((len(kept), stale), (12, 12))

    def test_paired_difference_takes_the_seed_out(self):
        experiment = self.experiment()
        noise = {1: 0.3, 2: -1.0, 3: 5.0}
        gains = {1: 0.10, 2: 0.12, 3: 0.11}
        rows = self.rows(experiment, lambda run: noise[run.seed] + gains[run.seed] * (run.levels["a"] == "y"))
        text = tables.comparisons(experiment, rows).splitlines()
        values = np.array(list(gains.values()))
        expected = f"{values.mean():+.4f}±{values.std(ddof=1) / np.sqrt(3):.4f}"
        self.assertEqual(text[2], f"| tiny/population | y - x | 3 | {expected} | above |")
        # The best trivial model is 2.5: seeds at -2.2, -3.5, +2.5.
        self.assertIn("x - best trivial | 3 | -1.0667±1.8224 | tie |", text[4])
        swapped = self.rows(experiment, lambda run: noise[run.seed] - gains[run.seed] * (run.levels["a"] == "y"))
        self.assertIn("| below |", tables.comparisons(experiment, swapped))

    def test_the_choice_is_validations(self):
        (self.folder / "e" / "experiment.toml").write_text(DECK.replace("[axis.a]", 'choose.a = ["x", "y"]\n[axis.a]').replace(
            "[quick]", '[[compare]]\nours = { a = "best by validation" }\ntheirs = { trivial = "best" }\n[quick]'))
        experiment = self.experiment()
        # y is better on the test by 1, on validation on the first seed alone.
        rows = self.rows(experiment, lambda run: 3 + (run.levels["a"] == "y"))
        for (_, a, _, seed), row in rows.items():
            row["validation"] = "-2.0" if a == "x" else "-1.5" if seed == 1 else "-10.0"
        chosen = experiment.rows_with(rows, experiment.data[0], {"a": engine.BY_VALIDATION, "b": "p"})
        self.assertEqual([(levels["a"], seed) for levels, seed, _ in chosen], [("y", 1), ("x", 2), ("x", 3)])
        self.assertIn("| tiny/population | best by validation - best trivial | 3 | +0.8333±0.3333 | above |", tables.comparisons(experiment, rows))
        self.assertIn("| tiny/population | x 4, y 2 | 6 | +0.6667 |", tables.choices(experiment, rows))
        # Of levels that --only leaves.
        alone = engine.Experiment("e", "", None, {"a": ["x"]})
        self.assertIn("| tiny/population | x 6 | 6 | +0.0000 |", tables.choices(alone, rows))
        # Where a candidate has not run, or has no validation, nothing is chosen.
        del rows["tiny/population", "y", "p", 2], rows["tiny/population", "y", "q", 2]["validation"]
        chosen = experiment.rows_with(rows, experiment.data[0], {"a": engine.BY_VALIDATION})
        self.assertEqual([(*levels.values(), seed) for levels, seed, _ in chosen], [("y", "p", 1), ("y", "q", 1), ("x", "p", 3), ("x", "q", 3)])

    def test_score_over_a_trivial_model(self):
        deck = self.folder / "e" / "experiment.toml"
        deck.write_text('over = "homogeneous"\n' + DECK)
        experiment = self.experiment()
        self.assertEqual(experiment.score({"headline": "2", "homogeneous": "1.5"}), 0.5)

    def test_tasks_share_the_runs_and_finished_ones_are_kept(self):
        fake = self.folder / "fedpp"  # counts its trainings, and writes what one leaves
        fake.write_text("#!/bin/sh\n[ $1 = train ] || { for o; do :; done; touch $o; exit 0; }\necho $4 >> %s/trained\nmkdir -p $4\n"
                        "echo '{\"scores\": {\"events\": 1, \"models\": [{\"name\": \"fedpp\", \"headline\": 1.0, \"plug_in\": 1.0}]}, "
                        "\"rounds\": [], \"best_round\": 1, \"calibration\": {\"ks\": 0.1}, \"phases\": {}, \"git\": \"x\"}' > $4/result.json\n" % self.folder)
        fake.chmod(0o755)
        experiment, results = self.experiment(), self.folder / "results.csv"
        options = argparse.Namespace(fedpp=fake, out=self.folder / "out", launch="", task="")
        trained = lambda: (self.folder / "trained").read_text().splitlines()  # noqa: E731
        for number in range(1, 6):
            options.task = f"{number}/5"
            with contextlib.redirect_stdout(io.StringIO()):
                command.train(options, experiment, {})
            self.assertLessEqual(len(trained()), 5 * number)
        self.assertEqual(len(set(trained())), 24)
        rows = command.gather(options, experiment, results, functools.partial(command.trained, options))
        self.assertEqual(len(rows), 24)
        options.task = ""
        command.train(options, experiment, rows)
        self.assertEqual(len(trained()), 24)
        shutil.rmtree(options.out)  # results.csv is enough
        self.assertEqual(command.gather(options, experiment, results, functools.partial(command.trained, options)), rows)

    def test_forecasts_are_made_once_and_compared_within_a_seed(self):
        fake = self.folder / "fedpp"  # errors of 1 and 4, ours a quarter and a half of theirs
        fake.write_text("#!/bin/sh\n[ $1 = evaluate ] || exit 1\necho $2 >> %s/evaluated\nfor out; do :; done\n"
                        "echo '{\"git\": \"x\", \"next_event\": {\"test\": {\"events\": 9, \"predictors\": ["
                        "{\"name\": \"fedpp, expectation\", \"rmse\": 1, \"mae\": 7}, {\"name\": \"fedpp, median\", \"rmse\": 7, \"mae\": 2}, "
                        "{\"name\": \"mean gap\", \"rmse\": 4, \"mae\": 7}, {\"name\": \"median gap\", \"rmse\": 7, \"mae\": 4}, "
                        "{\"name\": \"Hawkes, exponential\", \"rmse\": 0.5, \"mae\": 1}]}}}' > $out\n" % self.folder)
        fake.chmod(0o755)
        experiment, results = self.experiment(), self.folder / "forecasts.csv"
        options = argparse.Namespace(fedpp=fake, out=self.folder / "out")
        finished = [run for run in experiment.runs() if run.data.name == "tiny/population"]
        for run in finished:
            run.folder(options.out).mkdir(parents=True)
            (run.folder(options.out) / "result.json").write_text("{}")
        with contextlib.redirect_stdout(io.StringIO()):
            rows = self.forecasts(options, experiment, results)
            again = self.forecasts(options, experiment, results)
        self.assertEqual(len(rows), len(finished))
        self.assertEqual(rows, again)
        self.assertEqual(len((self.folder / "evaluated").read_text().splitlines()), len(finished))
        lines = next_event.summary(experiment, rows).splitlines()
        self.assertEqual(len(lines), 2 + 4)  # two axes of two levels
        self.assertEqual([cell.strip() for cell in lines[2].split("|")[5:13]],
                         ["1.000±0.000", "4.000±0.000", "0.500±0.000", "+75.0±0.0 smaller", "-100.0±0.0 larger",
                          "2.000±0.000", "4.000±0.000", "+50.0±0.0 smaller"])
        fake.write_text("#!/bin/sh\necho no such folder >&2\nexit 2\n")
        results.unlink(), shutil.rmtree(options.out)
        (finished[0].folder(options.out)).mkdir(parents=True)
        (finished[0].folder(options.out) / "result.json").write_text("{}")
        with self.assertRaisesRegex(SystemExit, "code 2:\nno such folder"):
            self.forecasts(options, experiment, results)
        self.assertFalse(results.is_file())
        with self.assertRaisesRegex(SystemExit, "no --next-event"):
            self.main("--task", "1/2", "--next-event")

    def forecasts(self, options, experiment, results):
        return command.gather(options, experiment, results, functools.partial(next_event.measure, options))

    def test_the_repositorys_results_are_written_only_where_asked(self):
        committed = self.folder / "e" / "results.csv"
        made = self.folder / "out" / "e" / "results.csv"
        experiment = self.experiment("", 1)
        for arguments, written, spared in [([], made, committed), (["--update"], committed, made)]:
            spared.unlink(missing_ok=True)
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(self.main("--table", *arguments, runs=experiment), 0)
            self.assertTrue(written.is_file() and written.with_suffix(".png").is_file())
            self.assertFalse(spared.is_file() or spared.with_suffix(".png").is_file())
            written.unlink(), written.with_suffix(".png").unlink()
        with self.assertRaisesRegex(SystemExit, "no --update"):
            self.main("--quick", "--update")

    def main(self, *arguments, runs=None):
        """run.py on the experiment `e`, whose runs are finished in OUT."""
        scores = [{"name": name, "headline": x, "plug_in": x} for name, x in [("fedpp", 1.0), ("homogeneous", 0.5)]]
        result = {"scores": {"events": 1, "models": scores}, "rounds": [{"validation": 0.25}, {"validation": None}], "best_round": 1, "calibration": {"ks": 0.1}, "phases": {}, "git": "x"}
        for run in runs.runs() if runs else []:
            folder = run.folder(self.folder / "out")
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "result.json").write_text(json.dumps(result))
        with mock.patch.object(command, "EXPERIMENTS", ["e"]), \
                mock.patch.object(sys, "argv", ["run.py", "e", "--fedpp", FEDPP, "--out", str(self.folder / "out"), "--seeds", "1", *arguments]):
            return command.main()

    def test_the_verdict_of_a_check_is_the_experiments(self):
        (self.folder / "e" / "check.py").write_text("import pathlib, sys\nout = pathlib.Path(sys.argv[sys.argv.index('--out') + 1])\n"
                                                    "out.mkdir(parents=True, exist_ok=True)\n(out / 'e.csv').write_text('a')\nsys.exit(1)\n")
        (self.folder / "e" / "experiment.toml").write_text('title = "t"\ncommand = ["../e/check.py"]\n')
        self.assertEqual(self.main(), 1)
        self.assertEqual((self.folder / "out" / "e" / "results.csv").read_text(), "a")
        with self.assertRaisesRegex(SystemExit, "no --table"):
            self.main("--table")

    def test_pages_say_which_rows_a_change_superseded(self):
        register = engine.read_toml(PAPER / "superseded.toml")
        place = {revision: k for k, revision in enumerate(register["history"])}
        for path in sorted(PAPER.glob("*/results*.csv")):
            with open(path, newline="", encoding="utf-8") as file:
                rows = [row for row in csv.DictReader(file) if "revision" in row]
            page = (path.parent / "README.md").read_text(encoding="utf-8")
            said = [text for text in page.split("\n\n") if text.startswith("**Superseded")]
            for row in rows:
                self.assertIn(row["revision"][:7], place, f"{path}: superseded.toml says where a revision belongs")
                self.assertNotIn("-", row["revision"], f"{path}: a row of a tree with changes beside its commit")
            for change, what in register["change"].items():
                stale = {row["revision"][:7] for row in rows if place[row["revision"][:7]] < place[change] and
                         row["data"].startswith(what["data"]) and row.get("model", "") in what.get("models", [row.get("model", "")])}
                named = not stale or any(all(word in text for word in (path.name, change, *stale)) for text in said)
                with self.subTest(file=f"{path.parent.name}/{path.name}", change=change):
                    self.assertTrue(named, f"{path}: rows of {', '.join(sorted(stale))} precede {change} ({what['moved']}); its README.md names no such")

    def test_task_out_of_range(self):
        for text in ["4/3", "0/3", "x/3", "3"]:
            with self.assertRaisesRegex(SystemExit, "1 <= N <= M"):
                command.part(text)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--quick"]:
        sys.exit(0 if quick(sys.argv[2]) else 1)
    unittest.main(verbosity=2)
