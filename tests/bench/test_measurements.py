"""What fedpp_bench writes: every line with its counters and no number that JSON lacks, of one rank and of two; the roofline that is drawn from it."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BENCH, MPIEXEC = os.environ["FEDPP_BENCH"], os.environ["FEDPP_MPIEXEC"]
ROOFLINE = pathlib.Path(__file__).parents[2] / "bench" / "roofline.py"


def no_number(text):
    raise ValueError(f"{text} in JSON")


class Measurements(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.out = pathlib.Path(scratch.name) / "result.json"

    def measure(self, names, *launch):
        said = subprocess.run([*launch, BENCH, f"--benchmark_filter={names}", "--benchmark_min_time=0.01", "--benchmark_repetitions=2",
                               f"--benchmark_out={self.out}", "--benchmark_out_format=json"], capture_output=True, text=True)
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
        result = json.loads(self.out.read_text(encoding="utf-8"), parse_constant=no_number)
        for key in ["device", "git", "kokkos", "threads", "ranks", "compiler", "dgemm_GFLOP/s", "sgemm_GFLOP/s", "copy_GB/s", "command"]:
            self.assertIn(key, result["context"])
        return result

    def test_lines(self):
        result = self.measure("^cholesky/TeamDense/M:16|^step/(augment|local_epoch)/small_M32_S8/|^structural_entropy/K:250/")
        runs = {b["name"].split("/manual_time")[0]: b for b in result["benchmarks"] if b["run_type"] == "iteration"}
        self.assertEqual(len(runs), 7)
        for name, run in runs.items():
            self.assertGreater(run["roofline"], 0, name)
            self.assertGreater(run["resident_MB"], run["arrays_MB"], name)
            self.assertLess(run["resident_MB"], 150, name)  # the copy's 256 MB before all measurements are not theirs
            self.assertEqual("dgemm" in run, "augment" not in name and "entropy" not in name, name)
            self.assertEqual("busy" in run, "entropy" not in name, name)
            self.assertTrue(0.5 < run.get("busy", 1) < 1.1, (name, run.get("busy")))
        subprocess.run([sys.executable, ROOFLINE, self.out], check=True, capture_output=True)
        self.assertGreater(self.out.with_suffix(".png").stat().st_size, 10000)

    def test_rounds_on_two_ranks(self):
        run, = self.measure("^round/d/iter", MPIEXEC, "-n", "2")["benchmarks"]
        self.assertTrue(1.5 < run["placement_allows"] <= 2, run)
        self.assertAlmostEqual(run["real_time"], 1e3 * (run["update_s"] + run["aggregate_s"]), delta=0.5 * run["real_time"])
        self.assertTrue(0.5 < run["busy"] < 1.1, run)


if __name__ == "__main__":
    unittest.main(verbosity=2)
