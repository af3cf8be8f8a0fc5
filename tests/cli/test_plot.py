"""scripts/plot.py from outside: figures, and one line with exit code 2 for what cannot be read or written."""
import json
import os
import pathlib
import sys
import unittest

import h5py
import matplotlib
import numpy as np
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import program

sys.path.insert(0, str(pathlib.Path(os.environ["FEDPP_SOURCE"]) / "python"))
from fedpp import captions, figures
from fedpp.figures.style import STYLE

matplotlib.use("Agg")
SCRIPT = pathlib.Path(os.environ["FEDPP_SOURCE"]) / "scripts" / "plot.py"
ROUNDS = [{"round": r + 1, "elbo": -100.0 * (r % 2 + 1), "elbo_gain": -1 / (r + 1), "validation": 0.1 * r} for r in range(5)]


class Plot(program.Case):
    def setUp(self):
        super().setUp()
        self.write("out/result.json", json.dumps({"rounds": ROUNDS, "best_round": 5}))
        with h5py.File(self.folder / "out/result.h5", "w") as file:
            group = file.create_group("curves/client_000000")
            for k, name in enumerate(["time", "lower", "median", "mean", "upper"]):
                group[name] = [float(k), k + 1.0, k + 2.0]
            group["train_events"], group["test_events"] = [0.5], [1.5]

    def plot(self):
        return self.start([sys.executable, SCRIPT, "out", "--dpi", "40"])

    def refused(self, *words):
        result = self.plot()
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def test_figures(self):
        result = self.plot()
        self.assertEqual(result.returncode, 0, result.stderr)
        for name in ["convergence", "intensities"]:
            self.assertTrue((self.folder / f"out/{name}.png").read_bytes().startswith(b"\x89PNG"))
        self.assertIn("scores.png skipped", result.stdout)
        self.assertIn("communities.png skipped", result.stdout)

    def test_figures_are_drawn_where_nobody_reads_on(self):
        result = self.start(["sh", "-c", f"{sys.executable} {SCRIPT} out --dpi 40 | true"])
        self.assertEqual(result.stderr, "")
        for name in ["convergence", "intensities"]:
            self.assertTrue((self.folder / f"out/{name}.png").is_file(), name)

    def test_a_date_that_does_not_exist(self):
        data = {"time_origin": "2019-02-30", "time_unit": "day"}
        self.write("out/result.json", json.dumps({"rounds": ROUNDS, "best_round": 5, "config": {"data": data}}))
        with h5py.File(self.folder / "out/result.h5", "a") as file:
            file["curves/client_000000"].attrs["clock"] = "calendar"
        result = self.plot()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("intensities.png skipped: data.time_origin = 2019-02-30", result.stdout)
        self.assertIn("convergence.png", result.stdout)

    def test_what_is_not_finite_is_not_drawn(self):
        with h5py.File(self.folder / "out/result.h5", "a") as file:
            for client, bad in [(0, "upper"), (1, "time"), (2, "histogram_edges")]:
                group = file.require_group(f"curves/client_{client:06d}")
                for name in ["time", "lower", "median", "mean", "upper", "histogram_edges"]:
                    if name in group:
                        del group[name]
                    group[name] = [float("inf"), float("nan"), float("inf")] if name == bad else [0.0, 1.0, 2.0]
                group.require_dataset("histogram_rate", (2,), float)[:] = [1.0, float("inf")]
        result = self.plot()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((self.folder / "out/intensities.png").read_bytes().startswith(b"\x89PNG"))

    def test_communities(self):
        rounds = [{**r, "communities": [0, 0, 1, -1 if r["round"] < 3 else 1]} for r in ROUNDS]
        self.write("out/result.json", json.dumps({"rounds": rounds, "best_round": 5}))
        self.assertEqual(self.plot().returncode, 0)
        self.assertTrue((self.folder / "out/communities.png").read_bytes().startswith(b"\x89PNG"))

    def test_communities_and_gains(self):
        rounds = [{**r, "communities": [0, 1, -1, 0], "lambda": [None, 0.6 + 0.1 * k]} for k, r in enumerate(ROUNDS)]
        rows = [{"client": c, "headline": -1.0 + 0.1 * c, "plug_in": -1.0, "events": 5.0} for c in range(4)]
        scores = {"protocol": "chronological", "unit": "s", "events": 20, "models": [
            {"name": "fedpp", "headline": -0.9, "plug_in": -0.9, "per_client": rows}]}
        self.write("out/result.json", json.dumps({"rounds": rounds, "best_round": 5, "scores": scores, "test_data": "a1"}))
        self.write("before/result.json", json.dumps({"rounds": ROUNDS, "scores": scores, "test_data": "a1"}))
        with h5py.File(self.folder / "out/result.h5", "a") as file:
            file["graph/clients"], file["graph/community"] = [0, 1, 3], [0, 1, 0]
            file["graph/weights"] = [[0.0, 0.2, 0.9], [0.2, 0.0, 0.1], [0.9, 0.1, 0.0]]
        result = self.start([sys.executable, SCRIPT, "out", "--dpi", "40", "--before", "before"])
        self.assertEqual(result.returncode, 0, result.stderr)
        for name in ["communities", "graph", "starts", "gains"]:
            self.assertTrue((self.folder / f"out/{name}.png").read_bytes().startswith(b"\x89PNG"), result.stdout)
        self.write("before/result.json", "{")
        result = self.start([sys.executable, SCRIPT, "out", "--before", "before"])
        self.assertEqual(result.returncode, 2)
        self.assertIn("--before before", result.stderr)

    def test_similarities_have_the_same_colours_in_every_run(self):
        with h5py.File(self.folder / "out/result.h5", "a") as file:
            file["graph/clients"], file["graph/community"] = [0, 1, 3], [0, 1, 0]
            file["graph/weights"] = [[0.0, 0.98, 0.999], [0.98, 0.0, 0.96], [0.999, 0.96, 0.0]]
            figure = self.drawn(figures.graph({}, file))
            self.assertEqual(figure.axes[0].images[0].get_clim(), (0, 1))
            self.assertIn("within communities 0.999, between them 0.970", figure.texts[0].get_text())
            self.assertIn("need not mean anything", captions.caption("graph", {}, file))
            file["graph/weights"][...] = [[0.0, 0.2, 0.9], [0.2, 0.0, 0.1], [0.9, 0.1, 0.0]]
            self.assertNotIn("need not mean anything", captions.caption("graph", {}, file))

    def test_a_histogram_beyond_the_panel_is_marked_and_one_that_is_not_there_not_listed(self):
        labels = lambda figure: [text.get_text() for legend in figure.findobj(matplotlib.legend.Legend) for text in legend.get_texts()]
        with h5py.File(self.folder / "out/result.h5", "a") as file:
            group = file["curves/client_000000"]
            self.assertEqual(labels(self.drawn(figures.intensities({}, file))), ["median", "mean", "5 to 95 %"])
            self.assertNotIn("histogram", captions.caption("intensities", {}, file))
            group["histogram_edges"] = np.linspace(0, 2, 51)
            group["histogram_rate"] = [9.0] + 49 * [1.0]
            figure = self.drawn(figures.intensities({}, file))
            self.assertEqual(labels(figure)[-2:], ["histogram", figures.ABOVE])
            group["train_ends"], group["validation_ends"], group["gaps"] = [1.0], [1.5], [[0.2, 0.4]]
            file.attrs["scored_round"] = 10_000
            header = self.drawn(figures.intensities({"rounds": [{"round": 10_000}]}, file)).subfigs[0]  # as many keys as there can be
            self.assertFalse(header.texts[0].get_window_extent().overlaps(header.legends[0].get_window_extent()))
            marks = [line for line in figure.axes[0].lines if line.get_label() == figures.ABOVE]
            np.testing.assert_allclose(marks[0].get_xdata(), [0.02])
            self.assertIn("histogram", captions.caption("intensities", {}, file))

    def test_a_sequence_shown_alone_is_named(self):
        with h5py.File(self.folder / "out/result.h5", "a") as file:
            file["curves/client_000000"].attrs.update({"sequence": 17, "types": "0 2"})
            title = self.drawn(figures.intensities({}, file)).axes[0].get_title(loc="left")
            self.assertEqual(title, "client 0  ·  its sequence 17 alone  ·  types 0, 2")
            file["curves/client_000000"].attrs["sequence_name"] = "ward 5"
            names = {"names": {"clients": ["north"], "types": ["arrival", "transfer", "leave"]}}
            self.assertIn("its sequence ward 5 alone  ·  types arrival, leave", self.drawn(figures.intensities(names, file)).axes[0].get_title(loc="left"))
            file["curves/client_000000"].attrs["types"] = "0 1 2"
            self.assertIn("  ·  all types", self.drawn(figures.intensities(names, file)).axes[0].get_title(loc="left"))

    @staticmethod
    def title(axis):
        """Where it lies."""
        text = axis.get_title(loc="left")
        return axis.findobj(lambda artist: isinstance(artist, matplotlib.text.Text) and artist.get_text() == text)[0].get_window_extent()

    def test_long_names_keep_titles_in_the_picture(self):
        name = "a name of the data that is long {}".format
        result = {**self.calibrated(0.06), "names": {"clients": [name(k) for k in range(4)], "types": [name(k) for k in range(9)]}}
        with h5py.File(self.folder / "out/result.h5", "a") as file:
            for client in range(4):
                if client:
                    file.copy("curves/client_000000", f"curves/client_{client:06d}")
                file[f"curves/client_{client:06d}"].attrs.update({"sequence_name": name(5), "types": "0 1 2 3 4 5 6 7"})
            panels = self.drawn(figures.intensities(result, file))
            for axis in panels.axes[::2]:
                self.assertLessEqual(self.title(axis).x1, axis.get_window_extent().x1)
            calibration = self.drawn(figures.calibration(result, file))
        self.assertLessEqual(self.title(calibration.axes[2]).x1, calibration.bbox.x1)
        table = {key: np.array([1.0, 2.0]) for key in ("observed_until", "q05", "q25", "q50", "q75", "q95")}
        table.update(client=np.array([0, 1]), sequence_name=np.array([name(0), name(1)]), sequence=np.array([0, 1]))
        forecasts = self.drawn(figures.next_events(result, table))
        self.assertFalse(forecasts.texts[0].get_window_extent().overlaps(forecasts.axes[0].get_legend().get_window_extent()))
        labels = [label.get_text() for label in forecasts.axes[0].get_yticklabels()]
        self.assertEqual(labels, ["0 a name of t…at is long 0 / a name of t…at is long 0", "1 a name of t…at is long 1 / a name of t…at is long 1"])

    def test_clients_are_called_as_in_the_data(self):
        names = {"names": {"clients": ["north", "$x$ " + 40 * "long "], "types": ["a"]}}
        with h5py.File(self.folder / "out/result.h5") as file:
            title = self.drawn(figures.intensities(names, file)).axes[0].get_title(loc="left")
        self.assertTrue(title.startswith("client 0 north"), title)
        with h5py.File(self.folder / "out/result.h5", "a") as file:
            file["curves/client_000000"].attrs["types"] = "0 3"
            title = self.drawn(figures.intensities(names, file)).axes[0].get_title(loc="left")
            file["graph/clients"], file["graph/community"], file["graph/weights"] = [0, 2], [0, 1], np.eye(2)
            figure = self.drawn(figures.graph(names, file))
        axis, title_box = figure.axes[0], figure.texts[0].get_window_extent()
        self.assertTrue(0 <= title_box.x0 and title_box.x1 <= figure.bbox.x1, "beside long names there is room for the title")
        self.assertIn("types a, 3", title)
        rounds = [{**r, "communities": [0, 1, 1]} for r in ROUNDS]
        for named in [*axis.xaxis.get_ticklabels()[:1], *self.drawn(figures.communities({**names, "rounds": rounds}, None)).axes[0].get_yticklabels()[:1]]:
            self.assertEqual(named.get_text(), "0 north")
        labels = [label.get_text() for label in self.drawn(figures.scores(self.scored(**names), None)).axes[0].get_yticklabels()]
        self.assertEqual(labels, ["3", "2", r"1 \$x\$ long lo…ng long long", "0 north"])
        table = {name: np.array([1.0, 2.0]) for name in ("observed_until", "q05", "q25", "q50", "q75", "q95")}
        table.update(client=np.array([0, 1]), sequence=np.array([5, 6]), sequence_name=np.array(["p7", "p9"]))
        figure = self.drawn(figures.next_events(names, table))
        self.assertEqual(figure.axes[0].get_yticklabels()[0].get_text(), "0 north / p7")

    def test_rows_of_next_events_are_of_one_height_and_ticks_are_plain_numbers(self):
        heights = []
        for count in [1, 3, 60]:
            table = {f"q{q:02d}": 10.0 + np.exp(0.02 * q + np.zeros(count)) - 1 + 1e-3 * q for q in (5, 25, 50, 75, 95)}
            table.update(observed_until=np.full(count, 10.0), client=np.arange(count), sequence=np.arange(count))
            axis = self.drawn(figures.next_events({}, table)).axes[0]
            heights.append(axis.transData.transform((1, 1))[1] - axis.transData.transform((1, 0))[1])
            self.assertEqual(axis.get_xscale(), "log")
            self.assertLessEqual({"0.1", "1"}, {label.get_text() for label in axis.get_xticklabels()})
        self.assertLess(max(heights), 1.1 * min(heights), heights)

    def test_dates_are_told_with_their_month_and_do_not_overlap(self):
        result = {"config": {"data": {"time_origin": "2019-12-27", "time_unit": "day"}}}
        with h5py.File(self.folder / "out/result.h5", "a") as file:
            group = file["curves/client_000000"]
            group.attrs["clock"] = "calendar"
            for days, shown, end in [(0.5, "06:00", "27 Dec 2019"), (3, "28 Dec", "30 Dec 2019"), (9, "31 Dec", "2020"), (40, "15 Jan", "2020"), (500, "2020", "")]:
                group["time"][...] = np.linspace(0, days, len(group["time"]))
                axis = self.drawn(figures.intensities(result, file)).axes[-1].xaxis
                labels = [label for label in axis.get_ticklabels() if label.get_text()]
                self.assertIn(shown, [label.get_text() for label in labels], days)
                self.assertEqual(axis.get_offset_text().get_text(), end)
                boxes = sorted((label.get_window_extent() for label in labels), key=lambda box: box.x0)
                self.assertFalse(any(a.overlaps(b) for a, b in zip(boxes, boxes[1:])), days)

    def font(self, name, characters):
        """A font file with squares for these characters."""
        builder = FontBuilder(1000, isTTF=True)
        glyphs = [".notdef", *(f"uni{ord(c):04X}" for c in characters)]
        pen = TTGlyphPen(None)
        for k, point in enumerate([(0, 0), (0, 800), (800, 800), (800, 0)]):
            (pen.lineTo if k else pen.moveTo)(point)
        pen.closePath()
        square = pen.glyph()
        builder.setupGlyphOrder(glyphs)
        builder.setupCharacterMap({ord(c): glyph for c, glyph in zip(characters, glyphs[1:])})
        builder.setupGlyf({glyph: square for glyph in glyphs})
        builder.setupHorizontalMetrics({glyph: (1000, 0) for glyph in glyphs})
        builder.setupHorizontalHeader(ascent=800, descent=-200)
        builder.setupNameTable({"familyName": name, "styleName": "Regular"})
        builder.setupOS2()
        builder.setupPost()
        path = self.folder / "data/fonts/installed.ttf"
        path.parent.mkdir(parents=True, exist_ok=True)
        builder.save(path)

    def test_names_in_other_scripts_take_a_font_that_has_them_or_say_so_once(self):
        self.write("out/result.json", json.dumps(self.scored(names={"clients": ["北京 \U0010fffd $x$", "Süd", "北", "京"]})))  # U+10FFFD is in no font
        code = ("import json; from fedpp import figures; from fedpp.figures import fonts; fonts.FAMILIES = ('Only Here',)\nfor k in range(2):\n"
                "    figure = figures.scores(json.load(open('out/result.json')), None); figure.savefig('scores.svg')\n"
                "print(ascii([label.get_text() for label in figure.axes[0].get_yticklabels()]))")
        environment = {"MPLCONFIGDIR": self.folder / "settings", "XDG_DATA_HOME": self.folder / "data", "PYTHONPATH": pathlib.Path(figures.__file__).parents[2]}
        without = self.start([sys.executable, "-c", code], env=environment)
        self.assertEqual(without.stdout, ascii(["3 �", "2 �", "1 Süd", r"0 �� � \$x\$"]) + "\n", without.stderr)
        self.assertRegex(without.stderr, r"^(Matplotlib .*\n)?fedpp: .*fonts-noto-cjk.*\n$")
        self.font("Only Here", "北京")  # after Matplotlib has written its list of fonts
        installed = self.start([sys.executable, "-c", code], env=environment)
        self.assertEqual(installed.stdout, ascii(["3 京", "2 北", "1 Süd", r"0 北京 � \$x\$"]) + "\n", installed.stderr)
        self.assertEqual(installed.stderr, "")
        self.assertTrue('-5317"' in (self.folder / "scores.svg").read_text(), "no glyph of U+5317")

    def scored(self, **more):
        """A result of four clients, two of which a simulated attack made hostile."""
        rows = lambda scores: [{"client": c, "headline": x, "plug_in": x, "events": 5.0} for c, x in enumerate(scores)]
        models = [{"name": "fedpp", "headline": -4.0, "plug_in": -4.0, "per_client": rows([-1, -2, -6, -7])},
                  {"name": "homogeneous", "headline": -3.0, "plug_in": -3.0, "per_client": rows([-1.5, -2.5, -4, -4])}]
        return {"scores": {"protocol": "chronological", "unit": "s", "events": 20, "models": models}, "test_data": "a1", **more}

    def test_hostile_clients_are_marked_and_not_counted(self):
        figure = self.drawn(figures.scores(self.scored(), None))
        self.assertIn("2 of 4 clients", figure.axes[0].get_title(loc="left"))
        figure = self.drawn(figures.scores(self.scored(honest={"hostile_clients": [2, 3]}), None))
        self.assertIn("2 of 2 honest clients", figure.axes[0].get_title(loc="left"))
        legend = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
        self.assertEqual(legend, ["fedpp  (-1.500)", "homogeneous  (-2.000)", "hostile client, not counted"])

    def test_gains_of_hostile_clients_are_marked_and_not_counted(self):
        new = self.scored(honest={"hostile_clients": [3]})
        for row in new["scores"]["models"][0]["per_client"][1:]:
            row["headline"] += 1
        for runs in [(new, self.scored(honest={"hostile_clients": [0]})), (new, self.scored())]:
            axis = self.drawn(figures.gains(*runs, "before")).axes[0]
            honest = 2 if "honest" in runs[1] else 3
            self.assertEqual(axis.get_title(loc="left"), f"2 of {honest} honest clients gain on “before”")
            self.assertEqual([text.get_text() for text in axis.get_legend().get_texts()], ["hostile client, not counted"])
            self.assertEqual(len(axis.patches) - sum(map(len, axis.containers)), 4 - honest)  # what is no bar is shade

    def test_curves_say_of_which_state_they_are(self):
        with h5py.File(self.folder / "out/result.h5", "a") as file:
            for state, words in [({}, "Posterior intensity"), ({"scored_round": 3}, "Posterior intensity after round 3 of 5")]:
                file.attrs.update(state)
                self.assertEqual(self.drawn(figures.intensities({"rounds": ROUNDS}, file)).subfigs[0].texts[0].get_text(), words)

    def test_rivals_of_a_single_client_stay_in_sight(self):
        row = lambda x: [{"client": 0, "headline": x, "plug_in": x, "events": 5.0}]
        models = [{"name": name, "headline": x, "per_client": row(x)} for name, x in [("fedpp", -1.39), ("Hawkes", -1.38), ("homogeneous", -1.66)]]
        axis = self.drawn(figures.scores({"scores": {"protocol": "chronological", "models": models}}, None)).axes[0]
        self.assertNotIn("not shown", axis.get_xlabel())
        models[2].update(per_client=row(-9))
        axis = self.drawn(figures.scores({"scores": {"protocol": "chronological", "models": models}}, None)).axes[0]
        self.assertIn("1 point further left not shown", axis.get_xlabel())

    def test_a_client_without_test_events_counts_as_in_the_table_of_the_terminal(self):
        run = self.scored(honest={"hostile_clients": [3]})
        for model, nats in zip(run["scores"]["models"], [-0.1, -0.2]):
            for row in model["per_client"]:
                row["log_likelihood"] = row["headline"] * row["events"]
            model["per_client"] += [{"client": 4, "headline": None, "plug_in": None, "events": 0.0, "log_likelihood": nats},
                                    {"client": 5, "headline": None, "plug_in": None, "events": 0.0, "log_likelihood": None}]
        axis = self.drawn(figures.scores(run, None)).axes[0]
        self.assertIn("above every trivial model on 3 of 4 honest clients", axis.get_title(loc="left"))
        self.assertIn("\n1 client without a score per event not shown", axis.get_xlabel())
        self.assertIn(f"fedpp  ({-45.1 / 15:.3f})", [text.get_text() for text in axis.get_legend().get_texts()])

    def test_a_rival_at_our_score_stays_in_sight(self):
        ours = self.drawn(figures.scores(self.scored(), None)).axes[0].lines[-1]
        self.assertEqual((ours.get_marker(), ours.get_markerfacecolor()), ("o", "none"))

    def drawn(self, figure):
        figure.canvas.draw()
        self.addCleanup(figures.close, figure)
        return figure

    def test_ticks_only_where_the_run_has_events(self):
        with h5py.File(self.folder / "out/result.h5", "a") as file:
            self.assertEqual(len(self.drawn(figures.intensities({}, file)).axes), 2)
            for name in ["train_events", "test_events"]:
                del file[f"curves/client_000000/{name}"]
            alone = self.drawn(figures.intensities({}, file)).axes
            self.assertEqual(len(alone), 1)
            self.assertIn("time", alone[0].get_xlabel())
            told = {encoder: captions.caption("intensities", {"config": {"model": {"encoder": encoder}}}, file) for encoder in ["decay", "rbf"]}
        self.assertIn("jump at each event", told["decay"])
        self.assertNotIn("jump at each event", told["rbf"])

    def test_gaps_in_the_observation_are_hatched(self):
        with h5py.File(self.folder / "out/result.h5", "a") as file:
            group = file["curves/client_000000"]
            self.assertNotIn("Hatched", captions.caption("intensities", {}, file))
            group["gaps"] = [[0.25, 0.5], [1.0, 1.25]]
            data = {"time_origin": "2019-03-01", "time_unit": "day"}
            for clock, start in [("elapsed", 0), ("calendar", matplotlib.dates.date2num(np.datetime64("2019-03-01")))]:
                group.attrs["clock"] = clock
                for axis in self.drawn(figures.intensities({"config": {"data": data}}, file)).axes:
                    hatched = [axis.transData.inverted().transform(patch.get_window_extent())[:, 0] - start for patch in axis.patches if patch.get_hatch()]
                    np.testing.assert_allclose(hatched, [[0.25, 0.5], [1.0, 1.25]], atol=1e-6)
            self.assertIn("Hatched", captions.caption("intensities", {}, file))

    def test_where_the_windows_meet_is_marked(self):
        with h5py.File(self.folder / "out/result.h5", "a") as file:
            group = file["curves/client_000000"]
            self.assertEqual(self.drawn(figures.intensities({}, file)).findobj(matplotlib.collections.QuadMesh), [])
            group["time"][...] = [0.0, 1.0, 2.0]
            group["validation_events"], group["train_ends"], group["validation_ends"] = [1.1, 1.2], [1.0], [1.25]
            curve, strip = self.drawn(figures.intensities({}, file)).axes
            self.assertEqual([label.get_text() for label in strip.get_yticklabels()], ["test (1)", "validation (2)", "train (1)"])
            self.assertEqual(self.shading(curve), ([0, 1, 1.25, 2], [0, 0.5, 1]))
            self.assertEqual(self.shading(strip), self.shading(curve))
            self.assertEqual([line.get_xdata()[0] for line in curve.lines[-2:]], [1.0, 1.25])
            self.assertIn("Shaded", captions.caption("intensities", {}, file))
            del group["train_ends"], group["validation_ends"]  # two sequences laid over each other
            group["train_ends"], group["validation_ends"] = [0.5, 1.0], [1.0, 1.5]
            self.assertEqual(self.shading(self.drawn(figures.intensities({}, file)).axes[0]), ([0, 0.5, 1, 1.5, 2], [0, 0.25, 0.75, 1]))
            data = {"time_origin": "2019-03-01", "time_unit": "day"}
            group.attrs["clock"] = "calendar"
            strip = self.drawn(figures.intensities({"config": {"data": data}}, file)).axes[1]
            self.assertEqual(strip.get_xlabel(), "date")  # of no time zone that anybody named
            np.testing.assert_allclose(self.shading(strip)[0], matplotlib.dates.date2num(np.datetime64("2019-03-01")) + np.array([0, 0.5, 1, 1.5, 2]))

    @staticmethod
    def shading(axis):
        """Edges and darkness behind a panel."""
        mesh = axis.findobj(matplotlib.collections.QuadMesh)[0]
        return mesh.get_coordinates()[0, :, 0].tolist(), mesh.get_array().ravel().tolist()

    def calibrated(self, ks, **more):
        """A result with a KS distance of 400 increments, and result.h5 with their quantiles."""
        with h5py.File(self.folder / "out/result.h5", "a") as file:
            if "calibration" not in file:
                file["calibration/observed"], file["calibration/expected"] = [0.2, 1.0, 3.0], [0.25, 1.1, 2.9]
        return {"calibration": {"ks": ks, "increments": 400, "clients": [{"client": 0, "ks": 0.3, "increments": 16}, {"client": 1, "ks": 0.2, "increments": 100},
                                                                         {"client": 2, "ks": None, "increments": 0}], **more}}

    def test_a_ks_distance_is_compared_with_chance(self):
        for ks, word, words in [(0.06, "within", "no more than chance would give"), (0.08, "beyond", "more than chance explains")]:
            result = self.calibrated(ks)
            with h5py.File(self.folder / "out/result.h5") as file:
                figure = self.drawn(figures.calibration(result, file))
                caption = captions.caption("calibration", result, file)
            _, probabilities, clients = figure.axes
            self.assertIn(f"KS distance {ks:.3f}, {word} chance", probabilities.get_title(loc="left"))
            self.assertIn("± 0.067", probabilities.get_legend().get_texts()[0].get_text())
            band = probabilities.collections[0].get_paths()[0].vertices
            self.assertAlmostEqual(band[np.isclose(band[:, 0], 0.5), 1].max(), 0.5 + 1.358 / (20 + 0.12 + 0.11 / 20))
            self.assertIn(words, caption)
            self.assertIn("Clients beyond their own bands: 1 of 2", caption)
            self.assertNotIn("hostile", caption)
            self.assertEqual([round(bar.get_width(), 4) for bar in clients.patches], [0.134, 0.3274])
            self.assertEqual("1 of 2 clients beyond chance\n(expected: 0.1)", clients.get_title(loc="left"))

    def test_quantiles_are_drawn_where_increments_are_and_those_beyond_are_counted(self):
        result = {**self.calibrated(0.06), "honest": {"hostile_clients": [1]}}
        with h5py.File(self.folder / "out/result.h5", "a") as file:
            del file["calibration/observed"], file["calibration/expected"]  # as older versions wrote them
            file["calibration/observed"], file["calibration/expected"] = [0.1, 0.2, 0.3, 1.0, 3.0], [0.25, 0.25, 0.25, 1.1, 1.1]
            quantiles = self.drawn(figures.calibration(result, file)).axes[0]
            self.assertEqual([axis.tolist() for axis in quantiles.lines[-1].get_data()], [[0.25, 1.1], [0.1, 1.0]])
            self.assertEqual(len(quantiles.texts), 0)
            file["calibration"].attrs["beyond"] = 2
            self.assertEqual(self.drawn(figures.calibration(result, file)).axes[0].texts[0].get_text(), "2 increments further up not shown")
            self.assertIn("Hostile ones are among them", captions.caption("calibration", result, file))

    def test_the_limit_of_few_increments_is_below_one(self):
        from fedpp.scores import ks_limit
        self.assertEqual(ks_limit(1), 0.975)  # exact: the largest of F and 1 - F
        self.assertAlmostEqual(ks_limit(2), 0.842, delta=0.001)  # tables of the exact distribution
        self.assertTrue(np.isnan(ks_limit(0)))

    def test_calibration_of_an_older_run_has_no_bands_of_clients(self):
        result = self.calibrated(0.06, clients=[{"client": 0, "ks": 0.3}, {"client": 1, "ks": 0.2}])
        with h5py.File(self.folder / "out/result.h5") as file:
            self.assertEqual(self.drawn(figures.calibration(result, file)).axes[2].get_title(loc="left"), "By client")
            self.assertNotIn("beyond their own bands", captions.caption("calibration", result, file))

    def test_gains_are_of_runs_that_compare(self):
        def other(change):
            run = self.scored()
            change(run)
            return run
        for change, words in [(lambda run: run.update(test_data="b2"), "test_data a1 and in out b2.*'fedpp compare'"), (lambda run: run.pop("test_data"), "out's result.json does not say"),
                              (lambda run: run["scores"].update(protocol="heldout"), "protocol chronological and in out heldout"),
                              (lambda run: [model["per_client"].pop() for model in run["scores"]["models"]], "number of clients 4 and in out 3")]:
            with self.assertRaisesRegex(figures.Missing, words):
                figures.gains(self.scored(), other(change), "out")

    def test_gains_name_the_other_run_and_hide_no_bar(self):
        rounds = [{**ROUNDS[0], "communities": [0, 0, 1, 1]}]
        for gain in [(-9, -9, -8, -8), (8, 8, 9, 9)]:
            new, old = self.scored(rounds=rounds, names={"clients": ["north"]}), self.scored()
            for row, g in zip(new["scores"]["models"][0]["per_client"], gain):
                row["headline"] += g
            axis = self.drawn(figures.gains(new, old, "of_$5$")).axes[0]
            self.assertIn(r"gain on “of_\$5\$”", axis.get_title(loc="left"))
            self.assertIn("0 north", [label.get_text() for label in axis.get_yticklabels()])
            legend = axis.get_legend().get_window_extent()
            self.assertFalse(any(bar.get_window_extent().overlaps(legend) for bar in axis.patches))

    def test_figures_leave_a_notebook_as_it_was(self):
        code = ("import matplotlib; matplotlib.use('svg'); before = dict(matplotlib.rcParams); import fedpp.figures; after = dict(matplotlib.rcParams)\n"
                f"fedpp.figures.convergence({{'rounds': {ROUNDS}}}, None)\nprint([[k for k in before if before[k] != now[k]] for now in (after, matplotlib.rcParams)])\n"
                "print(matplotlib.get_backend())")
        result = self.start([sys.executable, "-c", code], env={"PYTHONPATH": pathlib.Path(figures.__file__).parents[2]})
        self.assertEqual((result.stdout, result.stderr), ("[[], []]\nsvg\n", ""))

    def test_figures_have_their_style_in_any_notebook(self):
        table = {name: np.array([1.0, 2.0]) for name in ("observed_until", "q05", "q25", "q50", "q75", "q95", "client", "sequence")}
        result = {"rounds": [{**r, "communities": [0, 1, 0, 1], "lambda": [0.7], "bytes_rank_0": 9} for r in ROUNDS], "phases": {"load": 1.0}, **self.scored(),
                  **self.calibrated(0.06)}
        drawings = {**figures.ALL, "gains": lambda result, _: figures.gains(result, result, "out"), "next_events": lambda result, _: figures.next_events(result, table)}
        other = {key: not value if isinstance(value, bool) else 2.5 * value if isinstance(value, (int, float)) else "red" for key, value in STYLE.items()}
        with h5py.File(self.folder / "out/result.h5", "a") as file:
            file["graph/clients"], file["graph/community"], file["graph/weights"] = [0, 1], [0, 1], np.eye(2)
            for name, draw in drawings.items():
                pictures = []
                for settings in ({}, other):
                    with matplotlib.rc_context(settings):
                        figure = draw(result, file)
                        figure.canvas.draw()
                    pictures.append(np.array(figure.canvas.buffer_rgba()))
                    self.assertEqual({tick.gridline.get_color() for tick in figure.axes[0].xaxis.get_major_ticks()}, {STYLE["grid.color"]}, name)
                    figures.close(figure)
                np.testing.assert_array_equal(*pictures, name)

    def test_a_single_round_is_labelled_as_a_whole_number(self):
        result = {"rounds": [{**ROUNDS[0], "communities": [0, 1], "lambda": [0.7], "bytes_rank_0": 9}], "best_round": 1}
        for draw in (figures.convergence, figures.communities, figures.communication, figures.starts):
            axis = self.drawn(draw(result, None)).axes[-1]
            self.assertEqual([tick for tick in axis.get_xticks() if axis.get_xlim()[0] <= tick <= axis.get_xlim()[1]], [1], draw.__name__)

    def test_the_legend_hides_no_round(self):
        figure = self.drawn(figures.convergence({"rounds": ROUNDS, "best_round": 5}, None))
        legend = figure.axes[-1].get_legend().get_window_extent()
        self.assertFalse(any(axis.get_window_extent().padded(-1).overlaps(legend) for axis in figure.axes))

    def test_communities_of_few_clients_are_labelled_beside_them(self):
        figure = self.drawn(figures.communities({"rounds": [{**r, "communities": [0, 0, 1]} for r in ROUNDS]}, None))
        for axis in figure.axes:
            label, beside = axis.yaxis.label.get_window_extent(), axis.get_window_extent()
            self.assertTrue(beside.y0 <= label.y0 and label.y1 <= beside.y1, axis.get_ylabel())
        self.assertTrue(all(tick == int(tick) for tick in figure.axes[1].get_yticks()))

    def test_the_largest_round_is_drawn_below_the_edge(self):
        figure = self.drawn(figures.communication({"rounds": [{**r, "bytes_rank_0": 11773 + r["round"]} for r in ROUNDS]}, None))
        axis = figure.axes[0]
        self.assertLess(axis.transData.transform((5, 11.778))[1], axis.get_window_extent().y1 - 3)

    def test_what_only_the_last_start_counted_is_labelled_so(self):
        figure = self.drawn(figures.phases({"phases": {"load": 1.0}}, None))
        self.assertIn("this start of the run", figure.axes[0].get_xlabel())
        figure = self.drawn(figures.communication({"rounds": ROUNDS, "communication": [{"kind": "metrics", "bytes": 9}]}, None))
        self.assertIn("this start of the run", figure.axes[1].get_xlabel())
        self.assertIn("a start's first one with what came before it", figure.axes[0].get_xlabel())

    def test_damaged_arrays(self):
        whole = (self.folder / "out/result.h5").read_bytes()
        for content in [whole[: len(whole) // 2], b"no HDF5", b""]:
            (self.folder / "out/result.h5").write_bytes(content)
            self.refused("out/result.h5: not readable", "--resume")
        with h5py.File(self.folder / "out/result.h5", "w") as file:
            file["curves"] = [1.0, 2.0]
        self.refused("out/result.h5: not readable")

    def test_damaged_result(self):
        self.write("out/result.json", '{"rounds": [')
        self.refused("out/result.json, line 1", "--resume")
        self.write("out/result.json", '{"rounds": 3}')
        self.refused("out/result.json: not what 'fedpp train' writes")

    def test_unwritable_figure(self):
        (self.folder / "out/convergence.png").mkdir()
        self.refused("out/convergence.png: cannot be written", "writable")

    def test_figures_replace_figures_alone_and_whole(self):
        self.write("out/convergence.png", "old")
        result = self.start(["sh", "-c", f"ulimit -f 8; exec {sys.executable} {SCRIPT} out"])
        self.assertEqual(result.returncode, 2, result.stdout)
        self.assertIn("out/convergence.png: cannot be written (File too large): copy", result.stderr)
        self.assertEqual((self.folder / "out/convergence.png").read_text(), "old")
        self.assertEqual(list(self.folder.rglob("*.partial")), [])
        (self.folder / "out/convergence.png").unlink()
        (self.folder / "out/convergence.png").symlink_to("../data.csv")
        self.write("data.csv", "precious")
        self.refused("out/convergence.png: cannot be written (it is a symbolic link")
        self.assertEqual((self.folder / "data.csv").read_text(), "precious")

    def test_missing_run(self):
        (self.folder / "out/result.json").unlink()
        self.refused("out/result.json does not exist", "'fedpp report out'")


if __name__ == "__main__":
    unittest.main(verbosity=2)
