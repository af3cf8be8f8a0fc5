"""The Python module and 'fedpp report' on runs of the program: arrays, a page that needs nothing from outside, unfinished runs, refusals, installed."""
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import program
from program import FEDPP

SOURCE = pathlib.Path(os.environ["FEDPP_SOURCE"])
sys.path.insert(0, str(SOURCE / "python"))
import fedpp
import fedpp.files
from fedpp.results import open_arrays


class Finished(program.Case):
    trained = {}  # folders by what was asked for: most tests look at the same run, each at a copy of its own

    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.kept.cleanup)

    def setUp(self):
        super().setUp()
        rows = "".join(f"{s},{0.5 + 0.9 * k + 0.01 * s},{k % 2}\n" for s in range(12) for k in range(24))
        self.write("train.csv", "sequence,time,type\n" + rows)
        self.write("run.toml", '[data]\ntrain = ["train.csv"]\nclients = 3\npartition = "heterogeneous"\ntypes_per_client = 2\nclock = "calendar"\n'
                   'time_unit = "day"\ntime_origin = "2019-03-01"\n[model]\nencoder = "deep-kernel"\nwidth = 4\ninducing = 6\n[federation]\nrounds = 3\nparticipants = 2\n[evaluation]\nsamples = 2\n'
                   'e_steps = 3\ncurve_points = 30\n')

    def train(self, *arguments):
        wanted = (self.folder / "run.toml").read_text(), arguments
        is_first = not (self.folder / "out").exists()
        if is_first and wanted in self.trained:
            kept, folder = self.trained[wanted]
            shutil.copytree(kept, self.folder / "out")
            archived = self.folder / "out/config.toml"
            archived.write_text(archived.read_text().replace(folder, str(self.folder)))  # where the data are
            return
        result = self.start(self.on_ranks(2, "train", "run.toml", "--out", "out", *arguments))
        self.assertEqual(result.returncode, 0, result.stderr)
        if is_first:
            self.trained[wanted] = shutil.copytree(self.folder / "out", pathlib.Path(self.kept.name) / str(len(self.trained))), str(self.folder)

    def report(self, *arguments, code=0, **environment):
        result = self.start([FEDPP, "report", *arguments], env={"FEDPP_PYTHON": sys.executable, **environment})
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def test_arrays(self):
        self.train()
        run = fedpp.Run(self.folder / "out")
        self.assertTrue(run.finished)
        self.assertEqual(run.rounds["round"].tolist(), [1, 2, 3])
        mean, sd = run.theta
        state = fedpp.Checkpoint(run.checkpoints()[-1])
        np.testing.assert_array_equal(state.theta.mean, mean)  # not a bit lost on the way through JSON
        np.testing.assert_array_equal(state.theta.sd, sd)
        self.assertEqual(state.clients, 3)
        self.assertEqual(state.best_round, run.result["best_round"])
        started = [state.client(c) for c in range(3) if state.client(c).weights is not None]
        self.assertTrue(started)
        self.assertEqual(started[0].weights.mean.shape, mean.shape)
        realisations = len(started[0].v_mean)
        self.assertEqual(started[0].v_mean.shape, (realisations, 6))
        self.assertEqual(started[0].v_factor.shape, (realisations, 6, 6))
        np.testing.assert_array_equal(started[0].v_factor, np.tril(started[0].v_factor))
        self.assertTrue(np.all(np.diagonal(started[0].v_factor, axis1=1, axis2=2) > 0))
        self.assertEqual(state.configuration["model"]["inducing"], 6)
        self.assertEqual(run.curves(0)["median"].shape, (30,))
        self.assertEqual(run.scores()["fedpp"][1].shape, (3,))
        self.refused(lambda: fedpp.Checkpoint(self.folder / "out/result.h5"), "out/result.h5 is no checkpoint", "but holds: calibration, curves", "checkpoints()")
        for read in (lambda: run.curves("0"), lambda: state.client("0")):
            self.refused(read, "client '0' is no whole number")
        for client, kept, words in [(9, "last", "no client 9, but 0 to 2"), (-1, "last", "no client -1"), (0, "bst", "no state 'bst' of client 0, but: last")]:
            with self.assertRaisesRegex(LookupError, f"out/checkpoint-000003.h5 holds {words}"):
                state.client(client, kept)

    def test_what_predict_and_evaluate_wrote(self):
        self.write("run.toml", (self.folder / "run.toml").read_text().replace('clock = "calendar"\n', "") + "curve_clients = 1\n")
        self.train()
        run = fedpp.Run(self.folder / "out")
        for read, command in [(lambda: run.next_events, "--next-events"), (lambda: run.futures, "--futures"), (lambda: run.futures_summary, "--futures"), (lambda: run.evaluation, "fedpp evaluate"),
                              (lambda: run.curves(2, "prediction.h5"), "fedpp predict")]:
            with self.assertRaisesRegex(FileNotFoundError, command):
                read()
        with self.assertRaisesRegex(LookupError, "no curve of client 2, but of: 0.*--clients 2"):
            run.curves(2)
        for command in [["predict", "out", "--clients", "1,2"], ["predict", "out", "--clients", "1,2", "--next-events", "--futures", "2", "--horizon", "5"], ["evaluate", "out"]]:
            result = self.start(self.on_ranks(2, *command))
            self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(run.curves(2, source="prediction.h5")["median"].shape, (30,))
        table = run.next_events
        self.assertEqual(set(table["client"].tolist()), {1, 2})
        self.assertTrue((table["q50"] > table["observed_until"]).all())
        self.assertEqual(table["sequence"].dtype.kind, "i")
        in_days = (table["expected_date"] - np.datetime64("2019-03-01")) / np.timedelta64(1, "D")
        np.testing.assert_allclose(in_days, table["expected"], atol=1.01 / 86400)
        self.assertTrue((in_days <= table["expected"]).all())
        self.assertTrue((run.futures["time"] > table["observed_until"].min()).all())
        self.assertEqual(run.futures_summary["futures"].tolist(), [2] * len(table["client"]))
        self.assertEqual(len(run.evaluation["scores"]["models"][0]["per_client"]), 3)
        result = self.start([sys.executable, SOURCE / "scripts/plot.py", "out", "--dpi", "40", "--prediction"])
        self.assertEqual(result.returncode, 0, result.stderr)
        for name in ["prediction", "next_events"]:
            self.assertTrue((self.folder / f"out/{name}.png").read_bytes().startswith(b"\x89PNG"))

    def test_event_files_are_read_by_h5py_and_what_it_writes_is_read_by_the_program(self):
        """h5py passes over the seal; its own files have none."""
        for command in [["import", "train.csv", "--out", "sealed.h5"], ["info", "sealed.h5"]]:
            sealed = self.start([FEDPP, *command]).stdout
        with h5py.File(self.folder / "sealed.h5") as file, h5py.File(self.folder / "plain.h5", "w") as copy:
            self.assertEqual(file["time"].size, 12 * 24)
            copy.attrs.update(file.attrs)
            for name in file:
                file.copy(name, copy)
        plain = self.start([FEDPP, "info", "plain.h5"]).stdout
        self.assertEqual(sealed.splitlines()[2:], plain.splitlines()[2:])
        self.assertIn("checksum        none", plain)

    def test_the_page_needs_nothing_from_outside(self):
        self.train()
        self.report("out")
        page = (self.folder / "out/report.html").read_text()
        for title in ["Scores", "Convergence", "Intensities", "Calibration", "Where the time went", "What left the ranks", "Configuration"]:
            self.assertIn(f"<h2>{title}</h2>", page)
        self.assertEqual(re.findall(r'(?:src|href)="(?!data:|#)[^"]*"|@import|url\((?!#)', page), [])
        self.assertNotIn("<script", page)
        text = json.loads((self.folder / "out/result.json").read_text())["scores"]["verdict"]["text"]
        self.assertIn(f"<p>{html.escape(text)}</p>", page)
        self.report("out", "--out", "again.html")
        self.assertTrue((self.folder / "again.html").exists())

    def test_nothing_in_the_current_folder_is_run(self):
        self.train()
        for name in ["h5py.py", "matplotlib.py", "runpy.py", "json.py", "fedpp/report.py", "fedpp/__init__.py"]:
            self.write(name, "raise SystemExit('run: ' + __file__)")
        self.write("matplotlibrc", "backend: module://from_others")
        self.assertIn("Report: out/report.html", self.report("out"))
        found = self.start([FEDPP, "report", "out"], env={"PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"})  # looks for a Python
        self.assertEqual(found.returncode, 0, found.stdout + found.stderr)

    def test_a_page_replaces_pages_alone(self):
        self.train()
        self.write("data.csv", "precious")
        self.write("elsewhere/page.html", "precious")
        (self.folder / "link.html").symlink_to("data.csv")
        (self.folder / "folder.html").mkdir()
        os.mkfifo(self.folder / "pipe.html")
        before = self.contents()
        self.assertLessEqual({"out/" + name for name in ["config.toml", "result.json", "result.h5", "status.jsonl", "train.log", "checkpoint-000003.h5"]}, set(before))
        for name in [*before, "link.html", "folder.html", "pipe.html", "new", "nowhere/page.html", "/dev/null"]:
            told = self.report("out", "--out", name, code=2)
            self.assertTrue(told.startswith(f"fedpp report: {name}: "), told)
            self.assertRegex(told, "must end in .html|name another page with --out")
        self.assertEqual(self.contents(), before)
        self.write("elsewhere/page.html", "")  # made to be filled
        self.report("out", "--out", "elsewhere/page.html")
        self.report("out", "--out", "elsewhere/page.html")
        self.report("out", "--out", "new.HTM")
        self.assertEqual(set(self.contents()) - set(before), {"new.HTM"})
        for name in ["elsewhere/page.html", "new.HTM"]:
            self.assertTrue((self.folder / name).read_text().endswith("</html>\n"))
            self.assertEqual((self.folder / name).stat().st_mode & 0o777, (self.folder / "data.csv").stat().st_mode & 0o777)
        (self.folder / "out/report.html").symlink_to("../data.csv")
        self.assertIn("out/report.html: cannot be written (it is a symbolic link", self.report("out", code=2))
        self.assertEqual((self.folder / "data.csv").read_text(), "precious")

    def contents(self):
        """{name: bytes} of every file below; links are none."""
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in self.folder.rglob("*") if path.is_file() and not path.is_symlink()}

    def test_what_another_program_writes_beside_is_left_alone(self):
        for number in range(2):
            self.write(f"page.html.{os.getpid() + number}.partial", "of another host")
        before = self.contents()
        fedpp.files.write(self.folder / "page.html", b"whole", {".html"}, "name another page")
        self.assertEqual(self.contents(), {**before, "page.html": b"whole"})

    def test_a_full_disk_leaves_no_half_page(self):
        self.train()
        report = f"PYTHONPATH={SOURCE}/python {sys.executable} -m fedpp.report out"
        for old in (None, "<title>fedpp run out</title> of yesterday"):
            if old:
                self.write("out/report.html", old)
            before = self.contents()
            result = self.start(["sh", "-c", f"ulimit -f 8; exec env {report}"])
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn("out/report.html: cannot be written (File too large): name another page with --out", result.stderr)
            self.assertEqual(self.contents(), before)

    def test_the_page_shows_forecasts_once_there_are_some(self):
        self.train()
        self.report("out")
        page = (self.folder / "out/report.html").read_text()
        absent = html.unescape(re.search("Not shown: (.*?)</p>", page).group(1))
        self.assertIn("errors of the next event's time (evaluation.next_event = true writes them", absent)
        self.assertRegex(absent, "next events .*'fedpp predict --next-events' writes it")
        self.train("--resume", "--set", "evaluation.next_event=true")
        result = self.start(self.on_ranks(2, "predict", "out", "--next-events"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.report("out")
        page = (self.folder / "out/report.html").read_text()
        self.assertIn("<h2>Next events</h2>", page)
        test = json.loads((self.folder / "out/result.json").read_text())["next_event"]["test"]["predictors"][0]
        self.assertRegex(page, f"<tr><td>{re.escape(test['name'])}</td>.*<td class=n>{test['rmse']:.6g}</td><td class=n>{test['mae']:.6g}</td></tr>")
        self.assertNotIn("next event", re.search("Not shown: (.*?)</p>", page).group(1))

    def test_the_page_says_on_how_many_clients_ours_is_above(self):
        """As the table on the terminal does."""
        result = self.start(self.on_ranks(2, "train", "run.toml", "--out", "out"))
        told = re.findall(r"^  (\S.*?)  .*(\d of 3)", result.stdout, re.MULTILINE)
        self.assertGreater(len(told), 1, result.stdout)
        self.report("out")
        page = html.unescape((self.folder / "out/report.html").read_text())
        self.assertIn("<th class=n>clients ours is above</th>", page)
        for model, clients in told:
            self.assertRegex(page, f"<tr><td>{re.escape(model)}</td>.*<td class=n>{clients}</td></tr>")

    def test_event_times_leave_the_clients_only_where_asked(self):
        self.train()
        self.predict()
        run = fedpp.Run(self.folder / "out")
        for name in ["result.h5", "prediction.h5"]:
            self.assertEqual(self.event_arrays(name), [], name)
        self.report("out")
        page = (self.folder / "out/report.html").read_text()
        self.assertIn("Event times are not written", page)
        self.assertNotIn("jump at each event", page)
        self.train("--resume", "--set", "evaluation.curve_events=true")
        self.predict()
        for name in ["result.h5", "prediction.h5"]:
            self.assertEqual(len(self.event_arrays(name)), 5 * 3, name)
        curves = run.curves(0)
        events = [curves[f"{split}_events"] for split in ("train", "validation", "test")]
        self.assertEqual([len(times) for times in events], [13, 5, 5])  # of 24, the first of which is conditioned on
        for name, before, after in [("train_ends", *events[:2]), ("validation_ends", *events[1:])]:
            np.testing.assert_allclose(curves[name], [(before[-1] + after[0]) / 2])  # data.split_at: halfway
        self.report("out")
        page = (self.folder / "out/report.html").read_text()
        self.assertIn("this page holds data of clients", page)
        self.assertNotIn("Event times are not written", page)

    def test_histograms_end_where_training_does(self):
        self.write("run.toml", (self.folder / "run.toml").read_text().replace("[data]", '[data]\nrealisation = "pooled"') + "curve_events = true\n")
        self.train()
        curves = fedpp.Run(self.folder / "out").curves(0)
        known, edges, end = np.isfinite(curves["histogram_rate"]), curves["histogram_edges"], curves["train_ends"].max()
        self.assertTrue(known[edges[1:] <= end].all() and not known[edges[:-1] > end].any() and known.any() and not known.all())

    def test_a_page_in_the_place_of_a_closed_one_is_closed(self):
        write = lambda: fedpp.files.write(self.folder / "page.html", b"whole", {".html"}, "name another page")
        mode = lambda: (self.folder / "page.html").stat().st_mode & 0o777
        before = os.umask(0o027)
        self.addCleanup(os.umask, before)
        write()
        self.assertEqual(mode(), 0o640)
        for kept, then in [(0o600, 0o600), (0o644, 0o640), (0o400, 0o600)]:
            (self.folder / "page.html").chmod(kept)
            write()
            self.assertEqual(mode(), then)

    def test_a_file_that_leads_to_other_files_is_refused(self):
        """Below a received file's names would otherwise stand what else the account can read."""
        (self.folder / "secret").write_bytes(b"a private key, 24 bytes.")
        with h5py.File(self.folder / "other.h5", "w") as file:
            file["values"] = np.arange(3.0)
        layout = h5py.VirtualLayout(3, float)
        layout[:] = h5py.VirtualSource(self.folder / "other.h5", "values", 3)
        cases = {
            "external": lambda group: group.__setitem__("leak", h5py.ExternalLink(self.folder / "other.h5", "/values")),
            "soft": lambda group: group.__setitem__("leak", h5py.SoftLink("/own")),
            "stored": lambda group: group.create_dataset("leak", (3,), float, external=[(self.folder / "secret", 0, 24)]),
            "virtual": lambda group: group.create_virtual_dataset("leak", layout),
        }
        for name, leak in cases.items():
            path = self.folder / f"{name}.h5"
            with h5py.File(path, "w") as file:
                file["own"] = np.arange(3.0)
                leak(file.create_group("group"))
            with self.subTest(name), self.assertRaisesRegex(fedpp.UserError, "/group/leak leads to another place or file"):
                open_arrays(path, "write it anew")
            with h5py.File(path, "a") as file:  # read again once it has changed
                del file["group/leak"]
            with open_arrays(path, "write it anew") as file:
                self.assertEqual(list(file["own"]), [0, 1, 2])

    def predict(self):
        result = self.start(self.on_ranks(2, "predict", "out"))
        self.assertEqual(result.returncode, 0, result.stderr)

    def event_arrays(self, name):
        found = []
        with h5py.File(self.folder / "out" / name) as file:
            file.visit(lambda path: found.append(path) if path.endswith(("_events", "_ends")) else None)
        return found

    def test_the_scores_that_count_in_an_attack_are_the_honest_clients(self):
        self.train("--set", "attack.kind=noise", "--set", "attack.share=0.4", "--set", "evaluation.next_event=true")
        result = fedpp.Run(self.folder / "out").result
        honest, calibration = result["honest"], result["calibration"]
        self.assertEqual(len(honest["hostile_clients"]), 1)
        self.report("out")
        page = (self.folder / "out/report.html").read_text()
        self.assertIn(f"of 3 clients this one is hostile: {honest['hostile_clients'][0]}.", page)
        self.assertIn(f"<tr class=ours><td>fedpp</td><td class=n>{honest['headline']:.4f}</td>", page)
        self.assertRegex(page, "<td>homogeneous</td>.*<td class=n>[0-2] of 2</td></tr>")
        from_others = json.loads((self.folder / "out/result.json").read_text())
        from_others["config"]["data"]["clients"] = "<script>alert(1)</script>"
        self.write("received/result.json", json.dumps(from_others))
        self.report("received")
        self.assertNotIn("<script", (self.folder / "received/report.html").read_text())
        self.assertEqual(calibration["increments"], sum(c["increments"] for c in calibration["clients"] if c["client"] not in honest["hostile_clients"]))
        self.assertLessEqual(result["next_event"]["test"]["events"], sum(c["events"] for c in honest["models"][0]["per_client"]))

    def test_the_page_says_who_trained(self):
        lead = lambda: re.search('class="lead">(.*?);', (self.folder / "out/report.html").read_text()).group(1)
        self.train()
        self.report("out")
        self.assertIn("A federation of clients has trained", lead())
        result = json.loads((self.folder / "out/result.json").read_text())
        result["config"]["federation"]["mode"] = "local"
        self.write("out/result.json", json.dumps(result))
        self.report("out")
        self.assertIn("each by itself", lead())
        self.write("out/result.json", json.dumps({**result, "prior_from": "other.h5"}))
        self.report("out")
        self.assertIn("New clients have been fitted", lead())
        self.assertIn("none: fitted under theta of other.h5", (self.folder / "out/report.html").read_text())

    def test_a_run_without_results_yet(self):
        self.train()
        (self.folder / "out/result.json").unlink()
        with open(self.folder / "out/status.jsonl", "a") as file:
            file.write('{"event": "rou')
        self.report("out")
        page = (self.folder / "out/report.html").read_text()
        self.assertIn("no results yet", page)
        self.assertIn("<h2>Convergence</h2>", page)
        self.assertNotIn("<h2>Scores</h2>", page)
        self.assertFalse(fedpp.Run(self.folder / "out").finished)

    def test_names_are_utf_8_in_any_locale(self):
        self.train()
        result = json.loads((self.folder / "out/result.json").read_bytes())
        result["names"] = {"clients": ["Süd", "Nord", "West"]}
        (self.folder / "out/result.json").write_bytes(json.dumps(result, ensure_ascii=False).encode())
        (self.folder / "out").rename(self.folder / "größe")
        locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
        self.report("größe", **locale)
        page = (self.folder / "größe/report.html").read_bytes().decode()
        self.assertIn("<h1>Run größe</h1>", page)
        self.assertIn("client 0 Süd", page)
        plotted = self.start([sys.executable, SOURCE / "scripts/plot.py", "größe", "--dpi", "40"], env=locale)
        self.assertEqual(plotted.returncode, 0, plotted.stderr)
        for command in (["-m", "fedpp.report", "größe"], [SOURCE / "scripts/plot.py", "größe", "--dpi", "40"]):
            ascii_alone = self.start([sys.executable, *command], env={"PYTHONIOENCODING": "ascii", "PYTHONPATH": SOURCE / "python"})
            self.assertEqual((ascii_alone.returncode, ascii_alone.stderr), (0, ""))
            self.assertIn(r"gr\xf6\xdfe/", ascii_alone.stdout)

    def test_checks_and_examples_take_no_locale(self):
        locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONPATH": SOURCE / "validation"}
        shown = self.start([sys.executable, "-c", "import running; print(running.mean_sd([1, 2]))"], env=locale)
        self.assertEqual((shown.stdout, shown.stderr), ("1.500\\xb10.707\n", ""))
        (self.folder / "trips.csv").write_bytes("pickup,pickup_zone,pickup_borough\n2019-03-01 08:00:00,Müllplatz,Queens\n".encode())
        prepared = self.start([sys.executable, SOURCE / "examples/nyc-taxi/prepare.py", "trips.csv"], env=locale)
        self.assertEqual((prepared.returncode, prepared.stderr), (0, ""))
        self.assertIn("| 18 | Queens | 1 |", prepared.stdout)

    def test_the_module_has_the_program_s_version(self):
        self.assertRegex(self.start([FEDPP, "--version"]).stdout, rf"^fedpp {re.escape(fedpp.__version__)}\b")

    def test_refusals(self):
        (self.folder / "empty").mkdir()
        self.assertIn("is no folder", self.report("nowhere", code=2))
        self.assertIn("holds neither result.json nor status.jsonl", self.report("empty", code=2))
        self.assertIn("nopython", self.report("empty", code=2, FEDPP_PYTHON="nopython"))
        self.write("half/result.json", '{"rounds": [')
        self.assertRegex(self.report("half", code=2), "half/result.json, line 1: not valid JSON .*'fedpp train --resume'")

    def refused(self, read, *words):
        """One line that names the file and the remedy."""
        with self.assertRaises(fedpp.UserError) as refusal:
            read()
        self.assertNotIn("\n", str(refusal.exception))
        for word in words:
            self.assertIn(word, str(refusal.exception))

    def test_what_a_run_lacks_and_what_is_damaged_is_named_with_the_remedy(self):
        self.write("out/status.jsonl", '{"event": "round"}\n{"event": "round", "round": 1}\n')
        run = fedpp.Run(self.folder / "out")
        self.assertEqual(run.rounds["round"].tolist(), [1])
        for read, what in [(run.scores, "scores"), (lambda: run.theta, "theta")]:
            self.refused(read, "out/result.json is not there", f"no {what} yet", "--resume")
        deep = b"[" * 100000 + b"]" * 100000
        for content, fault in [(b'{"rounds": [', "line 1: not valid JSON"), (b'{"rounds": ' + deep + b"}", "nested without end"), (b"[]", "holds no JSON object"), (b"\xff", "cannot be read")]:
            (self.folder / "out/result.json").write_bytes(content)
            self.refused(lambda: fedpp.Run(self.folder / "out"), "out/result.json", fault, "write it anew with 'fedpp train --resume'")
            told = [self.report("out", code=2), self.start([sys.executable, SOURCE / "scripts/plot.py", "out"]).stderr]
            for text in told:
                self.assertRegex(text, f"out/result.json.*{fault}.*--resume")
                self.assertEqual(text.count("\n"), 1, text)
        self.write("out/result.json", json.dumps({"rounds": [], "scores": [{"protocol": "chronological", "models": []}, {"protocol": "future", "models": []}]}))
        run = fedpp.Run(self.folder / "out")
        self.refused(run.scores, "chronological, future", "name one")
        self.assertEqual(run.scores(run.result["scores"][0]), {})
        self.refused(lambda: run.theta, "out/result.json: holds no theta", "--resume")
        for name, read, command in [("evaluation.json", lambda: run.evaluation, "fedpp evaluate"), ("next_events.csv", lambda: run.next_events, "fedpp predict --next-events"),
                                    ("result.h5", lambda: run.curves(0), "fedpp train --resume"), ("prediction.h5", lambda: run.curves(0, "prediction.h5"), "fedpp predict"),
                                    ("checkpoint-000001.h5", lambda: fedpp.Checkpoint(run.checkpoints()[0]), "fedpp checkpoint verify")]:
            for content in ["", "client,q50\nx,y\n"]:
                self.write("out/" + name, content)
                self.refused(read, f"out/{name}", f"'{command}'")
        checkpoint = self.folder / "out/checkpoint-000001.h5"
        checkpoint.unlink()
        os.mkfifo(checkpoint)
        self.refused(lambda: fedpp.Checkpoint(checkpoint), "out/checkpoint-000001.h5", "is a pipe", "'fedpp checkpoint verify")
        checkpoint.unlink()
        (self.folder / "out/result.h5").unlink()
        self.assertRegex(self.report("out", code=2), "^fedpp report: out/next_events.csv: not a table .*'fedpp predict --next-events'")

    def test_installed(self):
        prefix = self.folder / "prefix"
        build = pathlib.Path(os.environ["FEDPP_BUILD"])
        done = subprocess.run(["cmake", "--install", build, "--prefix", prefix], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ["bin/fedpp", "share/fedpp/python/fedpp/report.py", "share/fedpp/python/fedpp/figures/curves.py", "share/fedpp/jobs/run.sbatch",
                     "share/fedpp/jobs/environment/spack.sh", "share/fedpp/examples/nyc-taxi/train.toml", "share/fedpp/examples/fedpp-paper/train.toml",
                     "share/doc/fedpp/CITATION.cff", "share/doc/fedpp/io/README.md", "share/doc/fedpp/docs/figures/model.svg"]:
            self.assertTrue((prefix / name).is_file(), name)
        self.assertTrue(os.access(prefix / "share/fedpp/jobs/sweep.sh", os.X_OK))
        self.train()
        result = self.start([prefix / "bin/fedpp", "report", "out"], env={"FEDPP_PYTHON": sys.executable})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("Report: out/report.html", result.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
