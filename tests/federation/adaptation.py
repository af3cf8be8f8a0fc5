"""fedpp adapt from outside: new clients under a trained prior, and a run's own clients after data were appended.

Needs the environment of tests/federation/CMakeLists.txt.
"""
import json
import unittest

import h5py
import numpy as np

from runs import PER_SEQUENCE, POOLED, SameBits, data_set, settings
from program import FEDPP

NEW = ["--set", "data.train=new.csv", "--set", "data.clients=2"]
HISTORY = {"model__encoder": "lstm", "model__layers": 1, "model__type_embedding": 2, "data__partition": "homogeneous"}


def inputs_of(path):
    with h5py.File(path) as file:
        return {name: float(value) for name, value in file["inputs"].attrs.items()}


def theta_of(path):
    """theta of the best round, of a run that was validated."""
    with h5py.File(path) as file:
        return file["best_theta_mean"][()].tolist(), file["best_theta_sd"][()].tolist()


def moved(text, time):
    """Event rows with other times."""
    header, *rows = text.splitlines()
    cells = [row.split(",") for row in rows]
    return "\n".join([header] + [f"{s},{time(float(t)):.4f},{k}" for s, t, k in cells]) + "\n"


class Adapting(SameBits):
    def start_on(self, ranks, *arguments):
        return self.start(self.on_ranks(ranks, *arguments))

    def adapt(self, ranks, out, *arguments, source="out", code=0):
        result = self.start_on(ranks, "adapt", source, "--out", out, *arguments)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def refused(self, *words, arguments=(), source="out", ranks=2):
        result = self.adapt(ranks, "refused", *arguments, source=source, code=2)
        for word in words:
            self.assertIn(word, result.stderr)
        self.assertEqual(result.stderr.count("fedpp: error"), 1, result.stderr)
        self.assertFalse((self.folder / "refused").exists())

    def log(self, out):
        return (self.folder / out / "train.log").read_text()

    def headline(self, out):
        return self.result(out)["scores"]["models"][0]["headline"]


class NewClients(Adapting):
    def trained(self, **changes):
        self.deck(**changes)
        self.write("new.csv", data_set(8, seed=77, span=80.0))  # longer than the training's 50
        self.train(2, "out")

    def check(self):
        """Adapts on one and two ranks; theta and the inputs' scale are the trained run's to the last bit."""
        for ranks in [1, 2]:
            self.adapt(ranks, f"ranks{ranks}", *NEW, "--rounds", "3")
        self.assert_same("ranks1", "ranks2")
        adapted = self.result("ranks1")
        mean, sd = theta_of(self.newest("out"))
        self.assertEqual(adapted["theta"], {"mean": mean, "sd": sd})
        self.assertEqual(theta_of(self.newest("ranks1")), (mean, sd))
        self.assertEqual(inputs_of(self.newest("ranks1")), inputs_of(self.newest("out")))
        self.assertEqual(adapted["scores"]["models"][0]["name"], "adapted")
        self.assertTrue(np.isfinite(self.headline("ranks1")))
        self.assertEqual([sorted(r["participants"]) for r in adapted["rounds"]], [[0, 1]] * 3)
        self.assertNotEqual(adapted["rounds"][0]["elbo"], adapted["rounds"][-1]["elbo"])
        self.assertIn("extrapolates", self.log("ranks1"))
        self.assertRegex(self.log("ranks1"), r"prior term: (kl|mmd), barycentre: none \(local only\)")
        # What is left behind is a run like any other.
        self.assertEqual(self.start_on(2, "evaluate", "ranks1").returncode, 0)
        again = json.loads((self.folder / "ranks1" / "evaluation.json").read_text())
        self.assertEqual(again["scores"], adapted["scores"])
        self.assertEqual(self.start_on(1, "predict", "ranks1").returncode, 0)
        self.adapt(1, "parts", *NEW, "--rounds", "2")
        result = self.start_on(2, "train", "parts/config.toml", "--out", "parts", "--resume", "--set", "federation.rounds=3")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assert_same("ranks1", "parts")

    def test_per_sequence(self):
        self.trained(aggregation__divergence="mmd", federation__rounds=5, **PER_SEQUENCE)
        self.check()

    def test_from_communities_under_the_common_prior(self):
        self.trained(aggregation__scope="structural-entropy", federation__client_start="optimised", training__alignment=1, **PER_SEQUENCE)
        self.check()

    def test_pooled_on_the_calendar_clock(self):
        self.trained(model__periods=[7.0], data__time_unit="hour", data__time_origin="2019-03-01", **POOLED)
        NEW.extend(["--set", "data.test=test.csv"])
        self.addCleanup(lambda: NEW.__delitem__(slice(-2, None)))
        self.write("new.csv", data_set(12, seed=77, span=80.0, single_type=True))
        self.check()
        self.refused('data.time_origin = "2019-03-02"', 'were trained with "2019-03-01"', arguments=[*NEW, "--set", "data.time_origin=2019-03-02"])

        self.assertNotIn("WARNING", self.log("ranks1"))  # they overlap
        self.write("later.csv", moved(data_set(12, seed=77, single_type=True), lambda t: 1000 + t))
        self.adapt(1, "later", "--set", "data.train=later.csv", "--set", "data.test=later.csv", "--set", "data.clients=2", "--rounds", "1")
        self.assertRegex(self.log("later"), r"reach from 2\d(\.\d)? to 2\d(\.\d)? of the window .* WARNING: the data \(100\d\.\d* to 10[45]\d\.?\d* hour\) have no time in common "
                         r"with that window \(\d\.\d* to [45]\d\.?\d*\): are their times in another unit, or from another origin\? 'fedpp import TABLE --like")

    def test_data_in_another_unit(self):
        self.trained(federation__rounds=2, **PER_SEQUENCE)
        self.write("new.csv", moved(data_set(8, seed=77), lambda t: 60 * t))
        self.adapt(1, "minutes", *NEW, "--rounds", "1")
        self.assertRegex(self.log("minutes"), r"WARNING: the data \(0 to [23]\d{3}\.?\d* file unit\) are much longer than that window \(0 to [45]\d\.?\d*\)")

    def test_data_in_another_unit_with_another_origin_of_time(self):
        """Times since a sequence's start have none."""
        drop = dict(data__drop=True, data__drop_before=-1000.0)
        self.trained(federation__rounds=2, **drop, **PER_SEQUENCE)
        self.write("new.csv", moved(data_set(8, seed=77), lambda t: 60 * t))
        self.adapt(1, "minutes", *NEW, "--rounds", "1")
        self.assertRegex(self.log("minutes"), r"WARNING: the data \(0 to [23]\d{3}\.?\d* file unit\) are much longer than that window \(0 to [45]\d\.?\d*\)")

    def test_history_keeps_the_gaps_scale_and_the_types(self):
        self.trained(**HISTORY)
        self.write("new.csv", data_set(8, types=(0, 1), seed=77, span=80.0))  # fewer types than embedded
        self.check()
        self.assertRegex(self.log("out"), r"\n.*1\d % of the gaps between neighbours of a sequence are zero")
        self.assertEqual(inputs_of(self.newest("ranks1"))["types"], 4)
        self.assertNotEqual(inputs_of(self.newest("out"))["gap_mean"], 0)
        self.write("new.csv", data_set(8, types=(0, 1, 2, 3, 4), seed=77))
        self.refused("event type 4", "data.leave_out_types", arguments=NEW)

    def test_a_runs_own_data_score_as_in_the_run(self):
        self.deck(federation__rounds=8, federation__participants=0, **PER_SEQUENCE)
        self.train(2, "out")
        self.adapt(2, "again", "--set", "data.train=train.csv", "--rounds", "8")
        run, again = self.result("out")["scores"], self.result("again")["scores"]
        self.assertEqual(run["events"], again["events"])
        self.assertEqual(inputs_of(self.newest("again")), inputs_of(self.newest("out")))
        self.assertAlmostEqual(self.headline("out"), self.headline("again"), delta=0.05)
        self.assertNotIn("extrapolates", self.log("again"))
        self.assertNotIn("of the gaps", self.log("out"))  # an encoder of time alone merges ties

    def test_from_a_checkpoint_and_its_last_round(self):
        self.trained(federation__rounds=3, **PER_SEQUENCE)
        checkpoint = self.checkpoints("out")[-1]
        self.adapt(1, "last", *NEW, "--rounds", "1", "--state", "last", source=f"out/{checkpoint}")
        self.assertEqual(self.result("last")["theta"], self.result("out")["theta"])
        self.assertEqual(self.result("last")["prior_from"], f"out/{checkpoint}")
        self.assertIn(checkpoint, self.log("last"))

    def test_keys_that_only_the_federation_needed_are_left_out(self):
        self.trained(attack__kind="noise", attack__share=0.4, aggregation__estimator="trimmed-mean", aggregation__trim=0.3, **PER_SEQUENCE)
        self.adapt(2, "new", *NEW, "--rounds", "1")
        config = self.result("new")["config"]
        self.assertEqual((config["attack"]["share"], config["aggregation"]["estimator"], config["aggregation"]["trim"]), (0.2, "mean", 0.2))
        self.assertEqual(self.start([FEDPP, "train", "new/config.toml", "--validate-only"]).returncode, 0)

    def test_refused(self):
        self.deck(**PER_SEQUENCE, federation__mode="local", federation__rounds=1)
        self.write("new.csv", data_set(8, seed=77, span=80.0))
        self.train(2, "local")
        self.refused("is the initial distribution, since nothing was shared", arguments=NEW, source="local")
        self.trained(**PER_SEQUENCE, data__time_unit="hour")
        self.refused('data.time_unit = "day"', 'were trained with "hour"', "--like", arguments=[*NEW, "--set", "data.time_unit=day"])
        self.refused("--set data.train=", "no training data", "--continue")  # the old clients' files are not the new ones'
        self.refused("model.width = 6", "checkpoint: 5", arguments=[*NEW, "--set", "model.width=6"])
        self.refused('model.mean = "linear"', 'checkpoint: "constant"', arguments=[*NEW, "--set", "model.mean=linear"])
        self.refused("model.encoder", "checkpoint: \"deep-kernel\"", arguments=[*NEW, "--set", "model.encoder=rbf"])
        self.refused("federation.mode", arguments=[*NEW, "--set", "federation.mode=federated"])
        self.refused("--rounds 0: must be in [1, 10000000]", arguments=[*NEW, "--rounds", "0"])
        self.refused("data.clock", arguments=[*NEW, "--set", "data.clock=calendar"])
        told = self.adapt(2, "out", *NEW, code=2).stderr
        self.assertIn("choose another folder with --out", told)
        self.assertNotIn("--resume", told)
        self.write("empty/config.toml", (self.folder / "out" / "config.toml").read_text())
        self.refused("holds no checkpoint", source="empty", arguments=NEW)
        newest = self.newest("out")
        newest.write_bytes(newest.read_bytes()[:-1])
        self.refused(newest.name, arguments=NEW)


class Continue(Adapting):
    def trained(self, **changes):
        self.deck(**{"federation__rounds": 4, **PER_SEQUENCE, **changes})
        self.train(2, "out")

    def test_unchanged_data_go_on(self):
        self.trained(federation__participants=0)
        for ranks in [1, 2]:
            self.adapt(ranks, f"ranks{ranks}", "--continue", "--rounds", "2", "--state", "last")
        self.assert_same("ranks1", "ranks2")
        before, after = self.result("out"), self.result("ranks1")
        self.assertEqual([r["round"] for r in after["rounds"]], [1, 2, 3, 4, 5, 6])
        self.assertEqual(before["rounds"], after["rounds"][:4])
        self.assertNotEqual(before["theta"], after["theta"])
        # Adam goes on where it was, and the first round is no worse than the last one was by more than its noise.
        with h5py.File(self.newest("out")) as old, h5py.File(self.newest("ranks1")) as new:
            steps = [file["clients/000002/last"].attrs["steps"] for file in (old, new)]
            self.assertEqual(steps[1] * 4, steps[0] * 6)
        first = abs(before["rounds"][3]["validation"] - after["rounds"][4]["validation"])
        self.assertLess(first, 0.05)
        whole = self.start_on(1, "train", "run.toml", "--out", "whole", "--set", "federation.rounds=6")
        self.assertEqual(whole.returncode, 0)
        self.assertAlmostEqual(self.headline("whole"), self.headline("ranks1"), delta=0.02)

    def test_communities_go_on(self):
        self.trained(aggregation__scope="structural-entropy", federation__client_start="mix", federation__validate_every=0)
        for ranks in [1, 2]:
            self.adapt(ranks, f"ranks{ranks}", "--continue", "--rounds", "2", "--state", "last")
        self.assert_same("ranks1", "ranks2")
        before, after = self.result("out")["rounds"], self.result("ranks1")["rounds"]
        # Those who are not sampled now are still in the graph, with their uploads of before.
        known = {c for r in before for c in r["participants"]}
        self.assertTrue(known - set(after[4]["participants"]), "everybody takes part: the test tests nothing")
        self.assertTrue(all(after[4]["communities"][c] >= 0 for c in known))

    def test_a_best_round_of_before_goes_on_with_its_own_uploads(self):
        """Those of the rounds after it belong to posteriors that are no more."""
        self.trained(aggregation__scope="structural-entropy", training__learning_rate=1.0, federation__rounds=40, federation__patience=1)
        self.assertLess(self.result("out")["best_round"], len(self.result("out")["rounds"]), "the last round is the best: the test tests nothing")
        self.adapt(2, "more", "--continue", "--rounds", "1")
        mine = set(self.result("more")["rounds"][-1]["participants"])
        with h5py.File(self.newest("out")) as old, h5py.File(self.newest("more")) as new:
            rested = [c for c in old["clients"] if int(c) not in mine and "best" in old["clients"][c] and "upload_mean" in old["clients"][c]]
            self.assertTrue(rested)
            for c in rested:
                then, now = old["clients"][c], new["clients"][c]
                np.testing.assert_array_equal(now["upload_mean"][()], then["best/weights_mean"][()])
                np.testing.assert_array_equal(now["last/weights_mean"][()], then["best/weights_mean"][()])
            self.assertTrue(any((old["clients"][c]["upload_mean"][()] != old["clients"][c]["best/weights_mean"][()]).any() for c in rested))

    def test_sequences_that_grew(self):
        self.trained()
        lines = (self.folder / "train.csv").read_text().splitlines()
        grown = [lines[0]]
        for k, line in enumerate(lines[1:], 1):
            grown.append(line)
            sequence = line.split(",")[0]
            if k + 1 == len(lines) or lines[k + 1].split(",")[0] != sequence:
                grown += [f"{sequence},{50 + 3 * j + 0.25 * int(sequence):.2f},{j % 4}" for j in range(8)]
        self.write("train.csv", "\n".join(grown) + "\n")
        self.adapt(2, "grown", "--continue", "--rounds", "3")
        self.assertIn("extrapolates", self.log("grown"))
        self.assertEqual(inputs_of(self.newest("grown")), inputs_of(self.newest("out")))
        self.assertEqual(len(self.result("grown")["rounds"]), 7)
        self.assertGreater(self.result("grown")["best_round"], 4)  # chosen among the new rounds
        self.assertTrue(np.isfinite(self.headline("grown")))
        self.assertEqual(self.start_on(1, "evaluate", "grown").returncode, 0)
        again = json.loads((self.folder / "grown" / "evaluation.json").read_text())
        self.assertEqual(again["scores"], self.result("grown")["scores"])

    def test_further_sequences_in_a_clients_own_file(self):
        for client in range(3):
            self.write(f"site{client}.csv", data_set(4, seed=client))
        own = {"data__train": [], "data__client_files": "site{client}.csv", "data__clients": 3, "federation__participants": 2}
        self.deck(**own, **PER_SEQUENCE)
        self.train(2, "out")
        for client in range(3):
            more = data_set(6, seed=client + 10).split("\n", 1)[1]
            more = "".join(f"{100 + int(s)},{rest}\n" for s, rest in (l.split(",", 1) for l in more.splitlines()))
            with open(self.folder / f"site{client}.csv", "a") as file:
                file.write(more)
        self.adapt(2, "grown", "--continue", "--rounds", "2")
        with h5py.File(self.newest("grown")) as file:
            self.assertEqual(len(file["clients/000001/sequences"]), 10)

    def test_refused(self):
        self.trained()
        self.refused("data.clients = 5", "checkpoint: 6", "--continue",
                     arguments=["--continue", "--set", "data.clients=5", "--set", "federation.participants=3"])
        self.refused("model.layers", arguments=["--continue", "--set", "model.layers=3"])
        self.refused("training.sd_map", arguments=["--continue", "--set", "training.sd_map=exp"])
        self.refused("--rounds 9223372036854775807", "10000000", arguments=["--continue", "--rounds", 2**63 - 1])
        self.refused("--rounds 10000000", "the 4 that", arguments=["--continue", "--rounds", 10**7])
        self.write("more.csv", data_set(9, seed=8))
        self.refused("is not the one of", "data.client_files", ranks=1,
                     arguments=["--continue", "--set", "data.train=train.csv,more.csv"])


class NewClientGains(Adapting):
    """A new client with little data, of a kind that the federation knows: all clients share one rhythm."""

    @staticmethod
    def rhythm(sequences, seed, first=0):
        """Poisson by thinning, rate 0.25 + 2.25 (sin(2 pi t / 25) > 0.3) on [0, 100], sequences of one rhythm."""
        rng = np.random.default_rng(seed)
        text = "sequence,time,type\n"
        for s in range(sequences):
            t = np.sort(rng.uniform(0, 100, rng.poisson(250)))
            t = np.concatenate([[0.0], t[rng.uniform(0, 2.5, t.size) < 0.25 + 2.25 * (np.sin(2 * np.pi * t / 25) > 0.3)]])
            text += "".join(f"{first + s},{x:.4f},0\n" for x in t)
        return text

    def test_beats_training_alone(self):
        # The rhythm's period is given; what the federation has learned is how smooth the rate is along it.
        for seed in [1, 11]:
            with self.subTest(seed=seed):
                self.write("train.csv", self.rhythm(24, seed))
                self.write("new.csv", self.rhythm(1, seed + 1))
                self.write("run.toml", settings(data__clock="calendar", model__periods=[25.0], model__width=8,
                                                model__inducing=20, federation__rounds=15, data__clients=6,
                                                data__types_per_client=1, federation__participants=0, training__epochs=5))
                new = ["--set", "data.train=new.csv", "--set", "data.clients=1"]
                self.train(2, f"out{seed}")
                self.train(1, f"alone{seed}", *new, "--set", "federation.mode=local", "--set", "federation.participants=0",
                           "--set", "federation.rounds=4")
                self.adapt(1, f"adapted{seed}", *new, "--rounds", "4", source=f"out{seed}")
                alone, adapted = self.result(f"alone{seed}")["scores"], self.result(f"adapted{seed}")["scores"]
                self.assertEqual(alone["events"], adapted["events"])
                self.assertGreater(self.headline(f"adapted{seed}"), self.headline(f"alone{seed}") + 0.03)


if __name__ == "__main__":
    unittest.main()
