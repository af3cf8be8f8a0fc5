"""bench/compare on small result files."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

COMPARE = pathlib.Path(__file__).parents[2] / "bench" / "compare"


def run(name, time, unit="ms", aggregate=None):
    entry = {"name": name, "run_name": name, "real_time": time, "time_unit": unit, "run_type": "iteration"}
    if aggregate:
        entry.update(name=f"{name}_{aggregate}", aggregate_name=aggregate, run_type="aggregate")
    return entry


class Compare(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, runs, rate=60.0, git="abc"):
        path = self.folder / name
        path.write_text(json.dumps({"context": {"git": git, "dgemm_GFLOP/s": str(rate)}, "benchmarks": runs}))
        return path

    def compare(self, *arguments):
        done = subprocess.run([sys.executable, COMPARE, *map(str, arguments)], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def line(self, text, name):
        return next(line for line in text.splitlines() if line.startswith(name)).split()[1:]

    def test_ratio_across_units(self):
        a = self.write("a.json", [run("x", 2.0, "ms")])
        b = self.write("b.json", [run("x", 500.0, "us")], git="def")
        code, text = self.compare(a, b)
        self.assertEqual(code, 0, text)
        self.assertEqual(self.line(text, "x "), ["2", "ms", "500", "us", "4.00x"])
        self.assertIn("abc  ->  def", text)

    def test_median_of_repetitions(self):
        a = self.write("a.json", [run("x", t) for t in (9.0, 1.0, 2.0)])
        b = self.write("b.json", [run("x", 50.0), run("x", 1.0, aggregate="median"), run("x", 7.0, aggregate="mean")])
        self.assertEqual(self.line(self.compare(a, b)[1], "x "), ["2", "ms", "1", "ms", "2.00x"])

    def test_repeated_once_is_the_same_benchmark(self):
        a = self.write("a.json", [run("round/a/iterations:1/manual_time", 2.0)])
        b = self.write("b.json", [run("round/a/iterations:1/repeats:1/manual_time", 1.0)])
        self.assertEqual(self.line(self.compare(a, b)[1], "round/a")[-1], "2.00x")

    def test_rates_of_unlike_machines_cancel(self):
        a = self.write("a.json", [run("x", 2.0)], rate=30)
        b = self.write("b.json", [run("x", 1.0)], rate=60)
        code, text = self.compare(a, b)
        self.assertIn("DGEMM rates differ", text)
        self.assertEqual(self.line(text, "x ")[-1], "1.00x")

    def test_limit(self):
        a = self.write("a.json", [run("x", 1.0), run("y", 1.0)])
        b = self.write("b.json", [run("x", 1.3), run("y", 1.05)])
        code, text = self.compare(a, b, "--limit", "10")
        self.assertEqual(code, 1)
        self.assertIn("slower by more than 10 %: x", text)
        self.assertEqual(self.compare(a, b, "--limit", "10", "--filter", "y")[0], 0)

    def test_what_only_one_has(self):
        a = self.write("a.json", [run("x", 1.0), run("gone", 1.0)])
        b = self.write("b.json", [run("x", 1.0), run("new", 1.0)])
        text = self.compare(a, b)[1]
        self.assertIn("only before: gone", text)
        self.assertIn("only after: new", text)
        self.assertEqual(self.compare(a, self.write("c.json", [run("z", 1.0)]))[0], 1)

    def test_no_result_file(self):
        broken = self.folder / "broken.json"
        broken.write_text("{")
        code, text = self.compare(broken, broken)
        self.assertEqual(code, 1)
        self.assertIn("broken.json is no result of fedpp_bench", text)


if __name__ == "__main__":
    unittest.main()
