"""fedpp compare."""
import json
import math
import unittest

from commands import NO_START, Case


class Compare(Case):
    """Of results written here; of real runs in tests/federation/comparison.py."""

    EVENTS = [10, 30, 20, 0]

    def result(self, out, sums, events=None, seconds=(0.5, 1.5), **changes):
        """`sums`: nats of each client; `seconds`: of each round, None as an evaluation has them; `changes`: settings, as section__key."""
        events = events or self.EVENTS
        clients = [{"client": c, "events": n, "log_likelihood": x, "headline": x / n if n and x is not None else None, "plug_in": None}
                   for c, (x, n) in enumerate(zip(sums, events))]
        config = {"data": {"split_at": "halfway", "clients": 4}, "model": {"encoder": "decay"}, "output": {"directory": out}}
        for name, value in changes.items():
            section, key = name.split("__")
            config.setdefault(section, {})[key] = value
        json_of = {"version": "0", "config": config, "test_data": "00ff", "state": "best",
                   "scores": {"protocol": "chronological", "unit": "hour", "models": [{"name": "fedpp", "per_client": clients}]},
                   "calibration": {"ks": 0.04321}}
        if seconds is not None:
            json_of.update(best_round=1, rounds=[{"seconds": second} for second in seconds])
        self.change(out, json_of)
        return json_of

    def change(self, out, json_of):
        self.write(f"{out}/result.json", json.dumps(json_of))

    def row(self, text, name):
        """The cells of the first row of that name."""
        return next(line for line in text.splitlines() if line.startswith(f"  {name}  ")).split()

    def test_differences_from_the_first_run_in_the_units_of_clients(self):
        first, second, third = [5, -3, 8, -0.5], [6, 0, 10, -0.49], [5.5, -9, 8, -0.5]
        self.result("a", first)
        self.result("b", second)
        self.result("c", third, seconds=None)
        text = self.succeeds("compare", "a", "b", "c", env=NO_START)
        self.assertIn("protocol chronological, unit of time: hour (60 events, 4 clients)", text)
        self.assertEqual(self.row(text, "a"), ["a", "0.1583", "0.0432", "1", "2", "2.0"])
        self.assertEqual(self.row(text, "c")[7:], ["0.0432", "-", "-", "-"])
        for name, sums in [("b", second), ("c", third)]:
            differences = [x - y for x, y in zip(sums, first)]
            d = sum(differences) / sum(self.EVENTS)
            without = [(sum(differences) - x) / (sum(self.EVENTS) - n) for x, n in zip(differences, self.EVENTS)]
            error = math.sqrt(3 / 4 * sum((w - d) ** 2 for w in without))  # the jackknife's
            row = self.row(text, name)
            self.assertEqual(row[1:7], [f"{sum(sums) / 60:.4f}", f"{d:+.4f}", f"{error:.4f}", str(sum(x > 0 for x in differences)),
                                        "of", "4"], text)
            bound = 12.706 * error  # Student's quantile of one degree of freedom, as 60^2 / (10^2 + 30^2 + 20^2) are 2.6 clients
            self.assertIn(f"{d:+.4f} per test event; chance alone gives up to {bound:.4f} either way in 95 % of cases (4 clients, which count as 2.6", text)
        self.assertIn("  b is above a: ", text)
        self.assertIn("  c ties with a: ", text)

    def test_configurations_over_seeds(self):
        scores = {1: (9, 5), 2: (7, 2), 4: (8, 6.5)}
        for seed, (kl, w2) in scores.items():
            self.result(f"kl{seed}", [kl, 1, 2, 0], federation__seed=seed)
            self.result(f"w2{seed}", [w2, 1, 2, 0], federation__seed=seed, aggregation__divergence="w2")
        text = self.succeeds("compare", "kl1", "kl2", "kl4", "--against", "w24", "w21", "w22", env=NO_START)
        differences = [(a - b) / 60 for a, b in scores.values()]
        mean = sum(differences) / 3
        error = math.sqrt(sum((d - mean) ** 2 for d in differences) / 2 / 3)
        for seed, (kl, w2) in scores.items():
            self.assertEqual(self.row(text, str(seed)), [str(seed), f"{(kl + 3) / 60:.4f}", f"{(w2 + 3) / 60:.4f}", f"{(kl - w2) / 60:+.4f}"])
        bound = 4.303 * error  # Student's, two degrees of freedom
        self.assertIn(f"kl1 and 2 more {'is above' if mean > bound else 'ties with'} w21 and 2 more: {mean:+.4f} per test event; chance alone gives up to {bound:.4f} "
                      "either way in 95 % of cases (mean over 3 seeds).", text)
        self.assertEqual(self.row(text, "aggregation.divergence"), ["aggregation.divergence", "-", '"w2"'])
        self.assertNotIn("federation.seed  ", text)

    def test_clients_left_out_of_a_seed_are_named(self):
        for seed in (1, 2):
            self.result(f"a{seed}", [5, 3, 8, 1], federation__seed=seed)
            hurt = self.result(f"b{seed}", [6, None if seed == 2 else 3, 8, 1], federation__seed=seed)
            hurt["honest"] = {"hostile_clients": [1] if seed == 2 else []}
            self.change(f"b{seed}", hurt)
        text = self.succeeds("compare", "b1", "b2", "--against", "a1", "a2")
        self.assertIn("Left out of both runs of a seed, as hostile or without a score in one of them: client 1.", text)
        self.assertEqual(self.row(text, "1")[3], f"{1 / 60:+.4f}")
        self.assertEqual(self.row(text, "2")[3], f"{1 / 30:+.4f}")

    def test_what_cannot_be_paired_by_seeds(self):
        for name, seed, more in [("a1", 1, {}), ("a2", 2, {}), ("a3", 3, {}), ("b1", 1, {}), ("b3", 3, {}), ("c2", 2, {"model__width": 8}), ("again", 1, {})]:
            self.result(name, [1, 2, 3, 0], federation__seed=seed, **more)
        self.result("none", [1, 2, 3, 0])
        other = self.result("other2", [1, 2, 3, 0], federation__seed=2)
        other["test_data"] = "00fe"
        self.change("other2", other)
        refused = lambda *words: self.refuses("compare", *words, env=NO_START)
        self.assertIn("a2 has federation.seed = 2, which no run of the other side has", refused("a1", "a2", "--against", "b1", "b3"))
        self.assertIn("one seed says nothing of others", refused("a1", "--against", "b1"))
        self.assertIn("a1 and c2 differ in model.width", refused("a1", "c2", "a3", "--against", "b1", "b3"))
        for name, seed in [("d1", 1), ("d2", 2)]:
            self.result(name, [2, 2, 3, 0], federation__seed=seed, backend__workspace_mb=float(seed))
        self.assertIn("d1 and 1 more is above a1 and 1 more", self.succeeds("compare", "d1", "d2", "--against", "a1", "a2", env=NO_START))
        self.assertIn("a1 and again have the same federation.seed, 1", refused("a1", "again", "--against", "b1", "b3"))
        self.assertIn("none: no federation.seed", refused("none", "none", "--against", "b1", "b3"))
        self.assertIn("a2 and other2 are not scored on the same test data", refused("a1", "a2", "--against", "b1", "other2"))

    def test_settings_that_differ(self):
        self.result("a", [1, 2, 3, 0], federation__mode="local", data__files=["x", "y"])
        self.result("b", [1, 2, 3, 0], model__width=8, federation__mode="fedavg", data__files=["x", "y"])
        text = self.succeeds("compare", "a", "b", env=NO_START)
        self.assertEqual(self.row(text, "federation.mode"), ["federation.mode", '"local"', '"fedavg"'])
        self.assertEqual(self.row(text, "model.width"), ["model.width", "-", "8"])
        for same in ["model.encoder", "data.files", "output.directory"]:
            self.assertNotIn(same, text)
        self.assertIn("All settings are the same.", self.succeeds("compare", "a", "a"))

    def test_clients_that_are_hostile_or_unscored_anywhere_count_nowhere(self):
        self.result("a", [5, -3, 8, 1])
        attacked = self.result("b", [6, None, 8, 1])
        attacked["honest"] = {"hostile_clients": [1]}
        self.change("b", attacked)
        failed = self.result("c", [6, -3, 0, 1], events=[10, 30, 0, 0])
        failed["unscored_clients"] = [2]
        self.change("c", failed)
        text = self.succeeds("compare", "a", "b", "c")
        self.assertIn("(10 events, 2 clients)", text)
        self.assertIn("clients 1, 2.", text)
        self.assertEqual(self.row(text, "b")[1:3], ["0.7000", "+0.1000"])

    def test_scores_of_other_events_are_refused(self):
        self.result("a", [1, 2, 3, 0])
        other = self.result("b", [1, 2, 3, 0], data__split_at="event")
        other["test_data"] = "00fe"
        self.change("b", other)
        text = self.refuses("compare", "a", "b", env=NO_START)
        self.assertIn("a and b are not scored on the same test data", text)
        self.assertIn("as many test events, but not the same ones, or in other windows", text)
        self.assertIn('data.split_at = "halfway" in a, "event" in b', text)
        self.result("b", [1, 2, 3, 0], events=[10, 29, 20, 0])
        self.assertIn("client 1 has 30 and 29 test events", self.refuses("compare", "a", "b"))
        self.result("b", [1, 2, 3], events=[10, 30, 20])
        self.assertIn("4 and 3 clients", self.refuses("compare", "a", "b"))
        other = self.result("b", [1, 2, 3, 0])
        other["scores"]["protocol"] = "population"
        self.change("b", other)
        self.assertIn("protocol chronological and protocol population", self.refuses("compare", "a", "b"))

    def test_what_is_no_result(self):
        self.result("a", [1, 2, 3, 0])
        self.assertIn("compare needs two runs or more", self.refuses("compare", "a"))
        self.assertIn("gone: cannot be read", self.refuses("compare", "a", "gone"))
        (self.folder / "empty").mkdir()
        self.assertIn("empty/result.json: cannot be read", self.refuses("compare", "a", "empty"))
        self.write("half.json", '{"scores": ')
        self.assertIn("half.json: is no result of", self.refuses("compare", "a", "half.json"))
        self.write("half.json", '{"scores": ' + "[" * 200000 + "]" * 200000 + "}")
        self.assertIn("half.json: is no result of", self.refuses("compare", "a", "half.json"))
        old = self.result("b", [1, 2, 3, 0])
        del old["test_data"]
        self.change("b", old)
        self.assertIn("run 'fedpp evaluate' on its folder", self.refuses("compare", "a", "b"))
        for name, value in [("config", None), ("test_data", 7), ("calibration", {})]:
            broken = self.result("b", [1, 2, 3, 0])
            broken[name] = value
            self.change("b", broken)
            self.assertIn("b/result.json: is no whole result", self.refuses("compare", "a", "b"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
