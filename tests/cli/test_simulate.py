"""fedpp simulate."""
import unittest

from commands import NO_START, Case


class Simulate(Case):
    def test_every_model_writes_what_training_reads(self):
        for model in ["paper-cox", "cox", "poisson", "hawkes", "neural-hawkes"]:
            self.succeeds("simulate", model, "--out", "s.csv", "--seed", "4", env=NO_START)
            self.assertIn("sequences", self.succeeds("info", "s.csv"))
            self.succeeds("import", "s.csv", "--windows", "s.windows.csv", "--out", "again.h5")
            self.succeeds("simulate", model, "--out", "s.h5", "--seed", "4")
            self.assertEqual(self.succeeds("info", "s.h5").splitlines()[1:], self.succeeds("info", "again.h5").splitlines()[1:])

    def test_seed_decides(self):
        def draw(seed):
            self.succeeds("simulate", "hawkes", "--out", "s.csv", "--seed", seed)
            return (self.folder / "s.csv").read_text()
        self.assertEqual(draw("1"), draw("1"))
        self.assertNotEqual(draw("1"), draw("2"))

    def test_whole_numbers_are_decimal(self):
        def draw(*arguments):
            self.succeeds("simulate", "hawkes", "--out", "s.csv", *arguments)
            return (self.folder / "s.csv").read_text()
        self.assertEqual(draw("--seed", "010"), draw("--seed", "10"))
        self.assertEqual(draw("--sequences", "010"), draw("--sequences", "10"))
        self.assertEqual(draw("--sequences", "08"), draw("--sequences", "8"))
        for number in ("0x10", "1.5", "", str(2**63)):
            self.assertIn(f"--sequences: {number}: must be a whole number", self.refuses("simulate", "hawkes", "--sequences", number, "--out", "t.csv"))

    def test_truth_is_written_for_cox_processes(self):
        self.succeeds("simulate", "paper-cox", "--out", "s.csv")
        header, *rows = (self.folder / "s.truth.csv").read_text().splitlines()
        self.assertEqual(header, "draw,time,f,intensity")
        self.assertEqual({row.split(",")[0] for row in rows}, {"0", "1"})

    def test_refusals(self):
        self.assertIn("--alpha 1.5: must be in [0, 1)", self.refuses("simulate", "hawkes", "--alpha", "1.5", "--out", "s.csv"))
        for model, option, value in [("poisson", "--rate", "inf"), ("poisson", "--rate", "nan"), ("poisson", "--window", "inf"),
                                     ("poisson", "--period", "inf"), ("hawkes", "--mu", "inf"), ("hawkes", "--beta", "inf"), ("cox", "--upper", "inf"),
                                     ("cox", "--window", "-1")]:
            self.assertIn(f"{option} {value}: must be above 0 and finite", self.refuses("simulate", model, option, value, "--out", "s.csv"))
        for words in [["poisson", "--rate", "1e15"], ["hawkes", "--mu", "1e15"], ["hawkes", "--alpha", "0.9999999999"], ["cox", "--upper", "1e15"],
                      ["hawkes", "--window", "0.1", "--sequences", "2000000000"], ["neural-hawkes", "--shortest", "1", "--longest", "2000000000"]]:
            self.assertIn("1e+08 are the limit", self.refuses("simulate", *words, "--out", "s.csv"))
        for seed in ("-1", str(2**63), "1e3"):
            self.assertIn(f"{seed}: must be a whole number from 0 to {2**63 - 1}", self.refuses("simulate", "hawkes", "--seed", seed, "--out", "s.csv"))
        self.assertIn("no finite bound", self.refuses("simulate", "cox", "--window", "1e-308", "--out", "s.csv"))
        self.assertIn("--types 10001", self.refuses("simulate", "neural-hawkes", "--types", "10001", "--out", "s.csv"))
        self.assertIn("--hidden 1001", self.refuses("simulate", "neural-hawkes", "--hidden", "1001", "--out", "s.csv"))
        self.assertFalse((self.folder / "s.csv").exists())
        self.assertIn("must end in .csv or .h5", self.refuses("simulate", "hawkes", "--out", "s.txt"))
        self.assertIn("nowhere", self.refuses("simulate", "hawkes", "--out", "nowhere/s.csv"))
        self.refuses("simulate")
        self.assertEqual([], list(self.folder.glob("s.*")))
        self.assertIn("--inducing 1000000: must be from 1 to 2000",
                      self.refuses("simulate", "cox", "--inducing", "1000000", "--out", "s.csv"))
        self.assertIn("--inducing 50: must be at least 101: ", self.refuses("simulate", "cox", "--lengthscale", "1", "--out", "s.csv"))
        self.assertIn("--inducing 2000: points further apart than --lengthscale do not draw the function, and 2000 are the limit: take a --lengthscale of "
                      "at least 0.02504", self.refuses("simulate", "cox", "--window", "50", "--inducing", "2000", "--lengthscale", "1e-300", "--out", "s.csv"))
        self.assertIn("unknown process 'hawks': did you mean 'hawkes'?", self.refuses("simulate", "hawks", "--out", "s.csv"))
        self.assertIn("there are paper-cox, cox, poisson, hawkes, neural-hawkes", self.refuses("simulate", "bogus"))

    def test_files_are_checked_before_anything_is_drawn(self):
        long = ["neural-hawkes", "--hidden", "500", "--shortest", "900", "--longest", "900", "--sequences", "100000"]  # days
        for out in ["s.txt", "nowhere/s.csv"]:
            self.assertIn(out, self.refuses("simulate", *long, "--out", out))
        (self.folder / "s.windows.csv").mkdir()
        self.assertIn("s.windows.csv: is a folder", self.refuses("simulate", *long, "--out", "s.csv"))
        (self.folder / "t.truth.csv").mkdir()
        for out in ["t.csv", "t.h5"]:
            self.assertIn("t.truth.csv: is a folder", self.refuses("simulate", "paper-cox", "--out", out))
        self.assertEqual({path.name for path in self.folder.iterdir() if path.is_file()}, set())

    def test_suffixes_are_read_in_any_case(self):
        for out in ["s.CSV", "s.H5"]:
            self.succeeds("simulate", "hawkes", "--out", out)
            self.assertIn("sequences", self.succeeds("info", out))


if __name__ == "__main__":
    unittest.main(verbosity=2)
