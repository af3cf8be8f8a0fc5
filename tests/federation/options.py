"""Runs under options that change who holds what, who takes part and who is left out."""
import csv
import random
import unittest

import h5py
import numpy as np

from runs import PER_SEQUENCE, SameBits, data_set, settings
from program import FEDPP


class Settings(SameBits):
    def test_one_file_a_client_equals_the_common_file(self):
        self.write("run.toml", settings(data__partition="homogeneous", data__clients=3, federation__participants=2))
        rows = [data_set(5, seed=client).split("\n", 1) for client in range(3)]
        for client, (header, text) in enumerate(rows):
            self.write(f"site{client}.csv", header + "\n" + text)
        # A common file of which every client holds everything (not dealt) is one client's own file thrice.
        self.write("train.csv", rows[1][0] + "\n" + rows[1][1])
        for client in range(3):
            self.write(f"copy{client}.csv", rows[1][0] + "\n" + rows[1][1])
        self.train(2, "common", "--set", "data.deal=false")
        self.train(2, "own", "--set", "data.train=[]", "--set", "data.client_files=copy{client}.csv")
        self.assert_same("common", "own", but=["shared"])  # that files of their own hold the same events nobody knows
        self.assertTrue(self.result("common")["scores"]["shared"])
        # Different files: every client has its own events, whoever owns it.
        self.train(1, "one", "--set", "data.train=[]", "--set", "data.client_files=site{client}.csv")
        self.train(3, "three", "--set", "data.train=[]", "--set", "data.client_files=site{client}.csv")
        self.assert_same("one", "three")
        self.assertNotEqual(self.result("one")["theta"], self.result("own")["theta"])

    def test_one_file_a_client_with_test_files_and_windows(self):
        for client in range(3):
            self.write(f"site{client}.csv", data_set(6, seed=client))
            self.write(f"test{client}.csv", data_set(3, seed=10 + client))
            for part in ["site", "test"]:
                self.write(f"{part}{client}-windows.csv", "sequence,start,end\n" + "".join(f"{s},0,50\n" for s in range(6 if part == "site" else 3)))
        self.write("run.toml", settings(data__train=[], data__client_files="site{client}.csv", data__test=["test{client}.csv"],
                                        data__windows=["site{client}-windows.csv", "test{client}-windows.csv"],
                                        data__protocol="population", data__realisation="pooled", data__clients=3,
                                        federation__participants=2))
        self.train(1, "one")
        self.train(2, "two")
        self.assert_same("one", "two")

    def test_local_mode_exchanges_nothing(self):
        self.deck(federation__mode="local", federation__participants=0, **PER_SEQUENCE)
        self.train(2, "all")
        start = self.result("all")["theta"]
        self.train(2, "again", "--set", "federation.rounds=1")
        self.assertEqual(start, self.result("again")["theta"])  # theta stays the prior that everybody started from
        self.assertEqual(self.result("all")["scores"]["models"][0]["name"], "local only")

    def test_a_runs_own_configuration_can_be_given_again(self):
        self.deck(aggregation__divergence="mmd", aggregation__mmd_bandwidth=0.5, **PER_SEQUENCE)
        changes = ["--set", "aggregation.divergence=kl", "--set", "federation.rounds=1"]  # takes the bandwidth its effect
        self.train(2, "out", *changes)
        again = self.start([FEDPP, "train", "out/config.toml", "--validate-only"])
        self.assertEqual(again.returncode, 0, again.stdout + again.stderr)
        shown = self.start([FEDPP, "config", "run.toml", *changes[:2]])
        (self.folder / "shown.toml").write_text(shown.stdout)
        again = self.start([FEDPP, "train", "shown.toml", "--validate-only"])
        self.assertEqual(again.returncode, 0, again.stdout + again.stderr)

    def test_a_cut_by_time_keeps_sequences_without_events(self):
        self.write("train.csv", data_set(12) + "50,3,0\n50,30,1\n")
        self.write("windows.csv", "sequence,start,end\n" + "".join(f"{s},0,60\n" for s in [*range(12), 50, 99]))
        self.write("run.toml", settings(data__windows=["windows.csv"], data__partition="homogeneous", data__clients=3, federation__participants=3,
                                        model__encoder="decay", data__realisation="per-sequence"))
        self.assertIn("\n1 sequence with fewer than five training events is left out\n", self.train(1, "events", "--set", "data.max_sequences=13").stdout)
        for ranks, out in [(1, "one"), (2, "two")]:
            self.assertIn(" 14 sequences, ", self.train(ranks, out, "--set", "data.split_at=time").stdout)
        self.assert_same("one", "two")
        for command in [["predict", "two", "--next-events"], ["predict", "two"]]:
            done = self.start(self.on_ranks(2, *command))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = (self.folder / "two" / "next_events.csv").read_text().splitlines()
        self.assertEqual(len(rows), 15)
        self.assertRegex("\n".join(rows), r"\n\d,0,99,-inf,60,")

    def test_windows_tables(self):
        self.write("train.csv", data_set(24))
        rows = "".join(f"{s},-10,{20 + s % 3}\n{s},25,60\n" for s in range(24)) + "99,-10,60\n"
        self.write("windows.csv", "sequence,start,end\n" + rows)
        self.write("run.toml", settings(data__windows=["windows.csv"]))
        outside = sum(20 + int(s) % 3 < float(time) < 25 for s, time, _ in
                      (row.split(",") for row in (self.folder / "train.csv").read_text().splitlines()[1:]))
        imported = self.start([FEDPP, "import", "train.csv", "--windows", "windows.csv", "--out", "train.h5"]).stdout
        self.assertIn(f"; {outside} of them outside the windows", imported)
        told = self.train(2, "all_types", "--set", "data.partition=homogeneous").stdout
        self.assertIn(f"\n{outside} events outside the windows are left out\n", told)
        told = self.train(2, "types", "--set", "data.clients=1", "--set", "federation.participants=0").stdout
        self.assertIn("types of events that no client sees: 1, with ", told)
        self.train(2, "windows", "--set", "evaluation.curve_events=true")
        with h5py.File(self.folder / "windows" / "result.h5") as file:  # common to all sequences of a client, from their start at -10
            (start, end), = file["curves/client_000000/gaps"][()]
        self.assertIn(round(start, 9), [30, 31, 32])
        self.assertAlmostEqual(end, 35)
        self.train(2, "none", "--set", "data.windows=[]")
        self.assertNotEqual(self.result("windows")["theta"], self.result("none")["theta"])
        # All of observed time on both sides of the events changes the rate; a window that is the whole span does not,
        # but for the first event, which is conditioned on only where no window says when observation began.
        first = self.result("windows")["scores"]["models"][0]
        self.assertTrue(np.isfinite(first["headline"]))

    def test_variances_below_the_sums_resolution_are_the_users_to_mend(self):
        self.deck(model__prior_sd=0.01, aggregation__fraction_bits=8)
        told = self.train(2, "out", code=2).stderr
        self.assertIn("choose more aggregation.fraction_bits", told)
        self.assertNotIn("MPI_ABORT", told)

    def test_validation_windows_without_events_rank_rounds_by_their_integral(self):
        """Patience once ended such a training after its first rounds, whatever they gave."""
        self.deck(data__windows=["windows.csv"], data__split_at="time", data__partition="homogeneous", data__clients=3, federation__participants=0,
                  federation__rounds=3, federation__patience=2, federation__validate_every=1)
        rng = random.Random(4)
        events = sorted(round(rng.uniform(0, 60), 3) for _ in range(30)) + sorted(round(rng.uniform(80, 100), 3) for _ in range(10))
        self.write("train.csv", "sequence,time,type\n" + "".join(f"{s},{t},0\n" for s in range(6) for t in events))
        self.write("windows.csv", "sequence,start,end\n" + "".join(f"{s},0,100\n" for s in range(6)))
        self.train(2, "out")
        result = self.result("out")
        self.assertEqual([r["validation"] for r in result["rounds"]], [None] * len(result["rounds"]))
        self.assertGreater(result["best_round"], 0)

    def test_a_round_without_any_validation_score_is_not_the_best(self):
        self.deck(model__prior_sd=1e3, data__clients=2, federation__participants=0, federation__rounds=2, **PER_SEQUENCE)
        told = self.train(2, "out", code=2).stdout
        self.assertIn("2 clients without a validation score", told)
        self.assertEqual(self.result("out")["best_round"], 0)

    def test_the_schedule_makes_the_steps_of_later_rounds_smaller(self):
        self.deck(federation__participants=0, federation__rounds=2, federation__validate_every=0, **PER_SEQUENCE)
        theta = {}
        for schedule in ["constant", "cosine", "inverse-sqrt"]:
            self.train(1, schedule, "--set", f"training.schedule={schedule}")
            theta[schedule] = np.array(self.result(schedule)["theta"]["mean"])
        self.train(1, "first", "--set", "federation.rounds=1")
        first = np.array(self.result("first")["theta"]["mean"])  # under each schedule the first round's factor is 1
        moved = {schedule: np.abs(mean - first).mean() for schedule, mean in theta.items()}
        self.assertGreater(moved["constant"], 1.2 * moved["inverse-sqrt"])  # factors 1, 0.71 and 0.5 in the second round
        self.assertGreater(moved["inverse-sqrt"], 1.2 * moved["cosine"])

    def test_the_bandwidth_of_mmd_is_the_prior_terms_too(self):
        """The barycentre of one upload is that upload whatever the bandwidth: what differs is where the client ends."""
        self.deck(data__clients=1, data__types_per_client=4, aggregation__divergence="mmd", federation__participants=0,
                  federation__rounds=1, training__prior_weight=100.0, federation__validate_every=0, **PER_SEQUENCE)
        theta = {}
        for bandwidth in [0.1, 10.0]:
            self.train(1, f"d{bandwidth}", "--set", f"aggregation.mmd_bandwidth={bandwidth}")
            theta[bandwidth] = self.result(f"d{bandwidth}")["theta"]
        for part in ["mean", "sd"]:
            self.assertGreater(np.abs(np.array(theta[0.1][part]) - theta[10.0][part]).max(), 1e-3)

    def test_straggling_period(self):
        self.deck(federation__straggling_period=2, **PER_SEQUENCE)
        self.train(2, "out")
        groups = [r["participants"] for r in self.result("out")["rounds"]]
        self.assertEqual(groups[0], groups[1])
        self.assertEqual(groups[2], groups[3])
        self.assertNotEqual(groups[0], groups[2])

    def test_uploads_that_are_not_finite_are_left_out_and_the_run_goes_on(self):
        for mode in ["federated", "local"]:
            with self.subTest(mode):
                # One Adam step of this size leaves nothing finite.
                self.deck(training__learning_rate=1e308, training__epochs=1, federation__mode=mode, training__beta1=0.0,
                          training__sd_map="exp", federation__rounds=2, **PER_SEQUENCE)
                told = self.train(2, mode, code=2).stdout
                self.assertIn("no upload of any round was accepted", told)
                result = self.result(mode)
                self.assertEqual([len(r["left_out"]) for r in result["rounds"]], [4, 4])
                self.assertRegex(result["rounds"][0]["left_out"][0], r"^client \d+ left out of round 1: ")
                self.assertTrue(np.isfinite(result["scores"]["models"][0]["headline"]))

    def test_clients_that_fail_stay_as_they_were(self):
        """Before any round that they finished, and after some: wherever the mode starts them."""
        fails = {"training__learning_rate": 1e308, "training__beta1": 0.0, "training__sd_map": "exp", "training__epochs": 1}
        for changes in ({"federation__mode": mode} for mode in ("fedavg", "ditto", "fedala", "apple")):
            self.deck(**{"federation__rounds": 2, **changes, **fails, **PER_SEQUENCE})
            out = changes["federation__mode"]
            self.train(2, out, code=2)
            self.assertRegex(self.start([FEDPP, "checkpoint", "show", out]).stdout, "clients +6, 0 of them took part", out)
        for start in ("mix", "overwrite"):
            self.deck(federation__client_start=start, federation__participants=0, training__sd_map="exp", training__beta1=0.0,
                      training__epochs=1, **PER_SEQUENCE)
            self.train(2, start, "--set", "federation.rounds=2")
            states = self.states(start)
            self.train(1, start, "--resume", "--accept-changes", "--set", "training.learning_rate=1e308", "--set", "federation.rounds=4")
            self.assertEqual([len(r["left_out"]) for r in self.result(start)["rounds"]], [0, 0, 6, 6])
            self.assertEqual(self.states(start), states)

    def states(self, out):
        """What the newest checkpoint holds of each client."""
        states = {}
        with h5py.File(self.newest(out)) as file:
            for client, group in file["clients"].items():
                last = group["last"]
                states[client] = [{key: value[()].tobytes() for key, value in last.items()}, {key: str(value) for key, value in last.attrs.items()}]
        return states

    def test_windows_without_events_are_said_to_hold_none(self):
        self.deck(data__protocol="population", data__realisation="pooled", data__test=["test.csv"], data__windows=["train.w.csv", "test.w.csv"],
                  data__partition="homogeneous", data__clients=2, federation__participants=0, federation__rounds=1)
        for name, start in [("train", 0), ("test", 60)]:
            self.write(f"{name}.w.csv", "sequence,start,end\n" + "".join(f"{s},{start},{start + 51}\n" for s in range(24 if name == "train" else 12)))
        told = self.train(2, "out").stdout
        self.assertIn("No test window holds an event", told)
        evaluated = self.start(self.on_ranks(1, "evaluate", "out"))
        self.assertIn("No test window holds an event", evaluated.stdout)

    def test_uploads_beyond_the_sums_are_left_out_and_the_run_goes_on(self):
        for estimator in ["mean", "median"]:
            with self.subTest(estimator):
                self.deck(federation__participants=0, federation__rounds=2, attack__kind="scaled", attack__strength=1e200,
                          attack__share=0.34, aggregation__estimator=estimator, **PER_SEQUENCE)
                self.train(2, estimator)
                result = self.result(estimator)
                hostile = result["honest"]["hostile_clients"]
                self.assertEqual(len(hostile), 2)
                for entry in result["rounds"]:
                    self.assertEqual([int(text.split()[1]) for text in sorted(entry["left_out"])], hostile)
                self.assertIn("to a sum, which holds up to", result["rounds"][0]["left_out"][0])
                self.assertIn("(a hostile client of [attack])", result["rounds"][0]["left_out"][0])
                self.assertNotIn("fraction_bits", result["rounds"][0]["left_out"][0])
                log = (self.folder / estimator / "train.log").read_text()
                self.assertIn("[attack] scaled: 2 of 6 clients are hostile; scores are of the others", log)
                self.assertIn("All clients, hostile ones among them: headline", log)
                status = self.start([FEDPP, "status", estimator]).stdout
                self.assertIn(f"fedpp {result['honest']['headline']:.4f}", status)
                self.assertIn("(without the 2 hostile clients of [attack])", status)
                self.assertTrue(np.isfinite(result["honest"]["headline"]))

    def test_starts_are_optimised_under_the_published_codes_score(self):
        """Which reads moments that a prediction for starts does not have: builds with assertions end where it is asked."""
        self.write("train.csv", data_set(24, single_type=True))
        self.write("test.csv", data_set(12, seed=9, single_type=True))
        self.write("run.toml", settings(data__protocol="published-code", data__realisation="pooled", data__clients=4, data__types_per_client=1,
                                        data__test=["test.csv"], data__validation=["test.csv"], data__deal=False, federation__participants=0,
                                        federation__client_start="optimised", federation__rounds=2))
        self.train(2, "out")
        lambdas = self.result("out")["rounds"][1]["lambda"]
        self.assertEqual(len(lambdas), 4)
        self.assertTrue(all(0.6 <= value <= 1 for value in lambdas), lambdas)

    def test_clients_without_a_prediction_end_no_run(self):
        """After a hostile client's upload those that take part for the first time start where no number is, and have no own state."""
        # One validation, at the end: a round before would be kept. Sums with room for weights so far out that no rounding brings them back.
        self.deck(federation__participants=2, federation__rounds=3, federation__validate_every=3,
                  attack__kind="scaled", attack__strength=1e7, attack__share=0.4, aggregation__fraction_bits=8,
                  evaluation__next_event=True, evaluation__trivial_models=True, **PER_SEQUENCE)
        log = self.train(2, "out").stdout
        result = self.result("out")
        unscored = result["unscored_clients"]
        self.assertTrue(0 < len(unscored) < 6, unscored)
        self.assertIn(f"no prediction from their weights is a number: client{'s' * (len(unscored) > 1)} {', '.join(map(str, unscored))}.", log)
        self.assertRegex(log, r"round \d: \d clients? without a validation score")
        for model in result["scores"]["models"]:
            self.assertTrue(np.isfinite(model["headline"]), model["name"])
            self.assertEqual([c["client"] for c in model["per_client"] if c["headline"] is None], unscored)
        with h5py.File(self.folder / "out/result.h5") as file:
            self.assertFalse({f"client_{c:06d}" for c in unscored} & set(file["curves"]))
        said = self.start(self.on_ranks(2, "predict", "out", "--next-events"))
        self.assertEqual(said.returncode, 0, said.stderr)
        scored = 6 - len(unscored)
        self.assertIn(f"Next events of {scored} client{'s' * (scored > 1)} written", said.stdout)
        self.assertIn(f"Not of client{'s' * (len(unscored) > 1)} {', '.join(map(str, unscored))}, whose predictions fail", said.stdout)
        with open(self.folder / "out/next_events.csv", newline="") as file:
            self.assertEqual({int(row["client"]) for row in csv.DictReader(file)}, set(range(6)) - set(unscored))
        named = self.start(self.on_ranks(2, "predict", "out", "--clients", unscored[0]))
        self.assertEqual(named.returncode, 2, named.stdout)
        self.assertIn(f"leave client {unscored[0]} out of --clients", named.stderr)
        many = self.start(self.on_ranks(1, "predict", "out", "--futures", 10**9, "--horizon", 1))
        self.assertEqual(many.returncode, 2, many.stdout)
        self.assertIn(f"--futures {10**9}: of each of the", many.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
