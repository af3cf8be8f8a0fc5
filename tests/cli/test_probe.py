"""fedpp probe against an independent reference, and what it says about malformed cases."""
import os
import pathlib
import subprocess
import tempfile
import unittest

import h5py
import numpy as np

import probe_reference as reference

FEDPP = os.environ["FEDPP_EXECUTABLE"]
TOLERANCE = 1e-7  # max |x - ref| / max |ref| over a dataset


def client_step(rng, n=17, m=9, q=40, s=3, d=5, window=100.0, ties=True):
    a = rng.normal(size=(m, m + 3))
    events = rng.uniform(0, window, n)
    if ties and n > 3:
        events[3] = events[0]
    return {
        "what": "client-step", "T": window, "jitter": 1e-6, "nu": rng.normal(), "m": rng.uniform(0.2, 3), "events": events,
        "z": np.linspace(0, window, m) if m > 1 else np.array([window / 2]), "quad_t": np.sort(rng.uniform(0, window, q)),
        "quad_w": rng.uniform(0.1, 4, q), "w": np.hstack([rng.normal(size=(s, 2 * d)), 0.3 * rng.normal(size=(s, 2))]),
        "q_mean": rng.normal(size=m), "q_cov": a @ a.T / (m + 3) + 0.05 * np.eye(m),
    }


def aggregate(rng, clients=7, parameters=11):
    return {"what": "aggregate", "r": 3 * rng.normal(size=(clients, parameters)), "delta": rng.uniform(0.01, 1, (clients, parameters)),
            "weight": rng.uniform(0.1, 2, clients), "bandwidth": 0.7}


def predict(rng, n=50):
    return {"what": "predict", "mean": 4 * rng.normal(size=n), "var": 10 ** rng.uniform(-4, 1.3, n), "m": 2.5}


def similarity(rng, clients=9):
    a = rng.uniform(-0.3, 1, (clients, clients))
    return {"what": "structural-entropy", "similarity": a + a.T}


class Probe(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.rng = np.random.default_rng(20)

    def probe(self, cases, code=0):
        """Writes the cases, runs the program, returns its answers and what it said."""
        with h5py.File(self.folder / "case.h5", "w") as file:
            for name, case in cases.items():
                if not isinstance(case, dict):
                    file[name] = case
                    continue
                group = file.create_group(name)
                for key, value in case.items():
                    if isinstance(value, np.ndarray):
                        group[key] = value
                    else:
                        group.attrs[key] = value
        result = subprocess.run([FEDPP, "probe", "case.h5", "--out", "result.h5"], cwd=self.folder, capture_output=True, text=True,
                                timeout=60)
        self.assertEqual(result.returncode, code, result.stderr)
        answers = {}
        if (self.folder / "result.h5").exists():
            with h5py.File(self.folder / "result.h5") as file:
                answers = {name: {key: group[key][()] for key in group} for name, group in file.items()}
        return answers, result.stderr

    def assert_close(self, answer, expected, what):
        self.assertLessEqual(expected.keys(), answer.keys(), what)
        for key, value in expected.items():
            value = np.asarray(value)
            self.assertEqual(answer[key].shape, value.shape, f"{what}/{key}")
            if value.size == 0:
                continue
            error = np.max(np.abs(answer[key] - value)) / max(np.max(np.abs(value)), 1e-300)
            self.assertLess(error, TOLERANCE, f"{what}/{key}")

    def test_client_steps_of_any_size_in_one_batch(self):
        rng = self.rng
        cases = {"usual": client_step(rng), "no events": client_step(rng, n=0), "one inducing point": client_step(rng, m=1),
                 "one of each": client_step(rng, n=1, m=1, q=1, s=1, d=1), "one sample": client_step(rng, s=1, n=33, m=20),
                 "short window": client_step(rng, window=0.5), "wide": client_step(rng, d=32, m=50, n=70, q=100, s=2)}
        answers, _ = self.probe(cases)
        self.assertEqual(answers.keys(), cases.keys())
        for name, case in cases.items():
            self.assert_close(answers[name], reference.client_step(case), name)

    def test_a_case_alone_gives_the_same_bits_as_in_a_batch(self):
        cases = {str(k): client_step(self.rng, n=5 + 7 * k, m=4 + 3 * k) for k in range(4)}
        together, _ = self.probe(cases)
        alone, _ = self.probe({"2": cases["2"]})
        for key, value in alone["2"].items():
            self.assertEqual(value.tobytes(), together["2"][key].tobytes(), key)

    def test_barycentres(self):
        case = aggregate(self.rng)
        cases = {"usual": case, "one client": aggregate(self.rng, clients=1), "large": {**case, "r": case["r"] * 1e5}}
        answers, _ = self.probe(cases)
        for name, one in cases.items():
            self.assert_close(answers[name], reference.aggregate(one), name)
        # mmd: no point nearby is better, and the gradient vanishes.
        weight = case["weight"] / case["weight"].sum()
        mean, log_sd = answers["usual"]["mmd_mean"], np.log(answers["usual"]["mmd_sd"])

        def objective(dm, ds):
            return reference.mmd_objective(mean + dm, log_sd + ds, case["r"], case["delta"], weight, case["bandwidth"])

        best, h = objective(0, 0), 1e-4
        for dm, ds in [(h, 0), (-h, 0), (0, h), (0, -h), (h, h), (h, -h)]:
            self.assertTrue(np.all(objective(dm, ds) >= best - 1e-12))
        self.assertLess(np.max(np.abs(objective(h, 0) - objective(-h, 0)) / (2 * h)), 1e-6)
        self.assertLess(np.max(np.abs(objective(0, h) - objective(0, -h)) / (2 * h)), 1e-6)
        # One client's barycentre is that client.
        only = cases["one client"]
        for rule in ["kl", "w2", "fedavg", "mmd"]:
            np.testing.assert_allclose(answers["one client"][rule + "_mean"], only["r"][0], rtol=1e-7)
            np.testing.assert_allclose(answers["one client"][rule + "_sd"], only["delta"][0], rtol=1e-6)

    def test_expectations(self):
        cases = {"usual": predict(self.rng), "none": predict(self.rng, n=0),
                 "no variance": {"what": "predict", "mean": np.array([-30.0, 0.0, 30.0]), "var": np.zeros(3), "m": 1.0}}
        answers, _ = self.probe(cases)
        for name, case in cases.items():
            self.assert_close(answers[name], reference.predict(case), name)

    def test_communities(self):
        cases = {str(n): similarity(self.rng, n) for n in (1, 2, 6, 13)}
        cases["no edges"] = {"what": "structural-entropy", "similarity": -np.ones((4, 4))}
        cases["none"] = {"what": "structural-entropy", "similarity": np.ones((0, 0))}
        answers, _ = self.probe(cases)
        for name, case in cases.items():
            expected = reference.communities(case)
            self.assertEqual(answers[name]["partition"].dtype, np.int64)
            np.testing.assert_array_equal(answers[name]["partition"], expected["partition"], name)
            self.assertAlmostEqual(float(answers[name]["entropy"]), expected["entropy"], delta=1e-12)
            np.testing.assert_allclose(answers[name]["weight"], expected["weight"].reshape(answers[name]["weight"].shape), atol=1e-14)

    def test_malformed_cases_are_named_and_the_others_answered(self):
        rng = self.rng
        good = client_step(rng)

        def without(key):
            return {k: v for k, v in good.items() if k != key}

        nan = good["events"].copy()
        nan[2] = np.nan
        indefinite = good["q_cov"] - 3 * np.eye(len(good["z"]))
        twice = good["z"].copy()
        twice[1] = twice[0]
        bad = {
            "missing dataset": (without("quad_w"), "quad_w"), "missing attribute": (without("nu"), "nu"),
            "no what": (without("what"), "what"), "unknown what": ({**good, "what": "dance"}, "dance"),
            "wrong rank": ({**good, "w": good["w"][0]}, "w"), "wrong length": ({**good, "quad_w": good["quad_w"][1:]}, "quad_w"),
            "wrong width": ({**good, "w": good["w"][:, :-1]}, "w"), "nan": ({**good, "events": nan}, "events"),
            "infinite attribute": ({**good, "nu": np.inf}, "nu"), "not positive definite": ({**good, "q_cov": indefinite}, "q_cov"),
            "singular K": ({**good, "z": twice, "jitter": 0.0}, "K(z,z)"), "negative m": ({**good, "m": -1.0}, "m"),
            "text": ({**good, "z": np.array([b"a"])}, "z"), "not a group": (np.zeros(3), ""),
            "zero weights": ({**aggregate(rng), "weight": np.zeros(7)}, "weight"),
            "negative sd": ({**aggregate(rng), "delta": -aggregate(rng)["delta"]}, "delta"),
            "upload beyond the sums": ({**aggregate(rng), "r": np.full((7, 11), 1e300)}, "r"),
            "weights beyond the sums": ({**aggregate(rng), "weight": np.full(7, 1e300)}, "sum"),
            "shapes differ": ({**aggregate(rng), "delta": np.ones((6, 11))}, "delta"),
            "not square": ({"what": "structural-entropy", "similarity": np.ones((2, 3))}, "similarity"),
            "not symmetric": ({"what": "structural-entropy", "similarity": np.triu(np.ones((3, 3)))}, "similarity"),
            "negative variance": ({**predict(rng, 3), "var": np.array([1.0, -1.0, 1.0])}, "var"),
        }
        cases = {"good": good, "also good": predict(rng), "good as well": aggregate(rng), **{k: v[0] for k, v in bad.items()}}
        answers, said = self.probe(cases, code=2)
        self.assertEqual(set(answers), {"good", "also good", "good as well"}, said)
        self.assert_close(answers["good"], reference.client_step(good), "good")
        lines = said.splitlines()
        for name, (_, dataset) in bad.items():
            about = [line for line in lines if f": {name}: " in line]
            self.assertEqual(len(about), 1, f"{name}: {said}")
            self.assertIn(dataset, about[0].split(f": {name}: ")[1])
        self.assertEqual(len(lines), len(bad), said)

    def test_files(self):
        for content in [None, b"not HDF5"]:
            if content is not None:
                (self.folder / "case.h5").write_bytes(content)
            result = subprocess.run([FEDPP, "probe", "case.h5", "--out", "result.h5"], cwd=self.folder, capture_output=True, text=True,
                                timeout=60)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn("case.h5", result.stderr)
        answers, _ = self.probe({})
        self.assertEqual(answers, {})
        before = (self.folder / "case.h5").read_bytes()
        for target, reason in [("./case.h5", "is read here"), ("result.csv", "must end in .h5")]:
            result = subprocess.run([FEDPP, "probe", "case.h5", "--out", target], cwd=self.folder, capture_output=True, text=True, timeout=60)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(f"{target}: ", result.stderr)
            self.assertIn(reason, result.stderr)
        self.assertEqual((self.folder / "case.h5").read_bytes(), before)


if __name__ == "__main__":
    unittest.main(verbosity=2)
