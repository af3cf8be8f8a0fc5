"""What a user learns of a run's cost from outside: --estimate before it, --profile after it.

Needs the environment of tests/federation/CMakeLists.txt: FEDPP_EXECUTABLE, FEDPP_MPIEXEC.
"""
import os
import random
import re
import subprocess
import tempfile
import unittest

from runs import Run, outcome, settings
from program import FEDPP


class Profile(Run):
    """The table of phases on one and two ranks; the run itself is the same."""

    def table(self, ranks):
        self.deck(federation__rounds=2, training__epochs=100)  # that what is inside the epochs has lines on any machine
        self.train(ranks, f"plain{ranks}")
        text = self.train(ranks, f"profiled{ranks}", "--profile").stdout
        self.assertEqual(outcome(self.result(f"plain{ranks}")), outcome(self.result(f"profiled{ranks}")))
        lines = text[text.index("seconds a rank") :].splitlines()
        self.assertEqual(lines[0].split(), ["seconds", "a", "rank", "min", "mean", "max", "imbalance", "calls"])
        rows = {}
        for line in lines[1:]:
            if len(line) > 52 and line[:52].strip():
                rows.setdefault(line[:52].rstrip(), list(map(float, line[52:].split())))
        return rows

    def check(self, ranks):
        rows = self.table(ranks)
        for phase in ("load", "local update", "wait", "aggregate", "evaluate"):
            self.assertIn(phase, rows)
        for inside in ("  local_update", "    local_epoch"):
            self.assertIn(inside, rows)
        self.assertTrue(any("::" in name for name in rows), rows.keys())  # kernels
        for name, (least, mean, most, imbalance, calls) in rows.items():
            self.assertLessEqual(least, mean + 1e-3, name)
            self.assertLessEqual(mean, most + 1e-3, name)
            self.assertGreaterEqual(imbalance, 0.99, name)
            self.assertLessEqual(imbalance, ranks + 0.01, name)
            self.assertGreaterEqual(calls, 1, name)
        for phase in ("local update", "wait"):
            self.assertEqual(rows[phase][4], 2, phase)  # rounds
        self.assertLessEqual(rows["    local_epoch"][2], rows["local update"][2] + 1e-3)

    def test_one_rank(self):
        self.check(1)

    def test_two_ranks(self):
        self.check(2)


class Estimate(Run):
    def estimate(self, ranks):
        """(clients, arrays MB, process MB, seconds a round) of every rank."""
        result = self.start(self.on_ranks(ranks, "train", "run.toml", "--estimate", "--out", "nothing"))
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertFalse((self.folder / "nothing").exists(), "an estimate writes nothing")
        self.assertIn("Estimated:", result.stdout)
        lines = result.stdout[result.stdout.index("rank  clients") :].splitlines()[1 : ranks + 1]
        return [tuple(float(x) for x in line.split()[1:]) for line in lines]

    def peak_of_run(self):
        """MB that a real run of one rank needed at most: of resident memory, and of the emulated device's, 0 in other builds."""
        of_device = self.folder / "device_peak"
        code = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, capture_output=True); "
                "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
        command = ["/usr/bin/python3", "-c", code, FEDPP, "train", "run.toml", "--out", tempfile.mkdtemp(dir=self.folder)]
        done = subprocess.run(command, cwd=self.folder, env={**os.environ, "EMULATED_DEVICE_PEAK": str(of_device)},
                              capture_output=True, text=True, timeout=400)
        self.assertEqual(done.returncode, 0, done.stderr)
        return 1024e-6 * float(done.stdout), 1e-6 * float(of_device.read_text()) if of_device.exists() else 0

    def test_memory_is_a_bound(self):
        for changes in ({}, {"model__inducing": 60, "model__width": 32, "training__samples": 8, "backend__workspace_mb": 60.0},
                        {"model__encoder": "lstm", "data__realisation": "pooled", "training__samples": 4},
                        {"model__encoder": "lstm", "model__width": 96, "data__realisation": "pooled"},  # states are most of it
                        {"model__width": 300, "aggregation__scope": "structural-entropy", "aggregation__probe_points": 2000},
                        {"model__encoder": "lstm", "model__width": 96, "data__realisation": "pooled", "federation__mode": "apple"},
                        {"evaluation__curve_points": 2000, "evaluation__curve_clients": 1, "evaluation__samples": 32},
                        {"evaluation__next_event": True, "evaluation__curve_clients": 0, "backend__workspace_mb": 30.0}):
            with self.subTest(**changes):
                self.deck(**{"federation__rounds": 2, "federation__participants": 0, **changes})
                [(clients, arrays, process, _)] = self.estimate(1)
                self.assertEqual(clients, 6)
                self.assertGreater(arrays, 0)
                peak, of_device = self.peak_of_run()
                if of_device:  # what plays the device is in the process, too: only arrays can be told
                    self_test = 8.4  # at the start, gpu::examine_device()
                    self.assertGreaterEqual(max(arrays, self_test), of_device)
                    self.assertLessEqual(arrays, 2 * of_device)
                else:
                    self.assertGreaterEqual(process, peak)
                    self.assertLessEqual(process, 2 * peak)

    def test_says_what_follows_the_rounds(self):
        passes = ["scores", "trivial models", "next events", "curves"]
        for changes, asked in (({"evaluation__next_event": True, "evaluation__trivial_models": True}, passes),
                               ({"evaluation__trivial_models": False, "evaluation__curve_clients": 0}, passes[:1])):
            self.deck(federation__rounds=2, **changes)
            said = self.start(self.on_ranks(2, "train", "run.toml", "--estimate")).stdout
            line = next(line for line in said.splitlines() if line.startswith("Estimated:"))
            for name in passes:
                found = re.search(rf"{name} ([0-9.e-]+) s", line[line.index("); then ") :])
                self.assertEqual(found is not None, name in asked, line)
                self.assertTrue(found is None or float(found.group(1)) > 0, line)

    def test_more_memory_than_there_is_is_said_and_not_taken(self):
        with open("/proc/meminfo") as file:
            available = next(1024 * int(line.split()[1]) for line in file if line.startswith("MemAvailable"))
        if available > 2e11:
            self.skipTest("this machine has memory for it")
        self.deck(model__inducing=1000, evaluation__samples=10000)
        result = self.start(self.on_ranks(1, "train", "run.toml", "--estimate"))
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("Not measured, since the ranks' memory is more than is free", result.stdout)
        self.assertNotIn("Estimated:", result.stdout)

    def test_says_what_other_numbers_of_ranks_would_take(self):
        """How many times faster is counted, not measured: whoever asks gets the same."""
        self.deck(data__clients=6, federation__participants=5)
        answers = []
        for ranks in (1, 7):
            said = self.start(self.on_ranks(ranks, "train", "run.toml", "--estimate")).stdout
            rows = [line.split() for line in said[said.index("times faster") :].splitlines()[1:]]
            self.assertEqual([int(row[0]) for row in rows], [1, 2, 4], said)
            seconds, faster = [float(row[1]) for row in rows], [float(row[2]) for row in rows]
            self.assertEqual(faster[0], 1)
            for k in (1, 2):
                self.assertAlmostEqual(faster[k], seconds[0] / seconds[k], delta=0.06 * faster[k])
                self.assertTrue(faster[k - 1] < faster[k] <= 2**k, said)
            self.assertEqual("7 ranks, but 5 participants a round: at most 5 ranks work at a time" in said, ranks == 7, said)
            answers.append(faster)
        self.assertEqual(*answers)

    def test_clients_are_placed_by_what_they_cost(self):
        """One client's 6,000 events fall on few times and cost little: by events it would have a rank for itself."""
        rng = random.Random(3)
        text = "sequence,time,type\n"
        for sequence in range(5):
            count, steps = (6000, 100) if sequence == 0 else (1200, 10**6)
            times = sorted(rng.randrange(steps) * 100.0 / steps for _ in range(count))
            text += "".join(f"{sequence},{t:.6f},{sequence}\n" for t in times)
        self.write("train.csv", text)
        self.write("test.csv", text)
        changes = {"data__protocol": "published-code", "data__realisation": "pooled", "data__clients": 5, "data__types_per_client": 1,
                   "data__test": ["test.csv"], "data__validation": ["test.csv"], "data__deal": False, "federation__participants": 0,
                   "federation__rounds": 1}
        self.write("run.toml", settings(**changes))
        self.assertEqual(sorted(rank[0] for rank in self.estimate(2)), [2, 3])
        self.train(1, "one")
        self.train(2, "two")
        self.assertEqual(outcome(self.result("one")), outcome(self.result("two")))


if __name__ == "__main__":
    unittest.main()
