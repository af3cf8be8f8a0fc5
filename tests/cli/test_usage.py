"""What the program says of itself, and of a command line that it cannot use."""
import unittest

from commands import EVENTS, NO_START, Case


class Help(Case):
    def test_help_names_every_command_with_examples(self):
        text = self.succeeds("--help", env=NO_START)
        for command in ["train", "evaluate", "predict", "adapt", "compare", "import", "info", "simulate", "probe", "config"]:
            self.assertIn(f"\n  {command} ", text)
            own = self.succeeds(command, "--help", env=NO_START)
            self.assertIn("Example", own)
            self.assertIn(f"fedpp {command}", own)
            layout = own.partition("\nOptions:\n")[2].partition("\n\n")[0]  # command lines to copy stay whole
            self.assertLessEqual(max(map(len, layout.splitlines())), 100)
            self.assertNotRegex(layout, r"TEXT|REQUIRED|Excludes:|Needs:|\.\.\. \.\.\.|=VALUE \.")

    def test_help_says_how_an_option_is_given(self):
        train = self.succeeds("train", "--help", env=NO_START)
        self.assertIn("\n  --set SECTION.KEY=VALUE\n                        Override one key", train)
        self.assertIn("\n  --checkpoint FILE     Go on from this checkpoint instead (only with --resume)\n", train)
        self.assertIn("\n  --state best|last     The round with the best validation score, or the last one (default: best)\n", self.succeeds("predict", "--help"))
        self.assertIn("\n  FILE...               CSV with a header", self.succeeds("import", "--help"))
        self.assertIn("\n  --rate X              Mean rate (default: 1)\n", self.succeeds("simulate", "poisson", "--help"))

    def test_version_names_revision_and_libraries(self):
        text = self.succeeds("--version", env=NO_START)
        for word in ["fedpp 0.", "git ", "Kokkos ", "HDF5 "]:
            self.assertIn(word, text)


class Usage(Case):
    def test_no_command(self):
        self.assertIn("no command given", self.refuses())

    def test_misspelt_command_gets_a_suggestion(self):
        self.assertIn("unknown command 'trian': did you mean 'train'?", self.refuses("trian", "run.toml"))

    def test_misspelt_option_gets_a_suggestion(self):
        self.assertIn("unknown option '--rezume': did you mean '--resume'?", self.refuses("train", "run.toml", "--rezume"))
        self.assertIn("unknown option '--rte': did you mean '--rate'?", self.refuses("simulate", "poisson", "--rte=2", "--out", "s.csv"))
        self.assertIn("--qqqqqq (see fedpp train --help)", self.refuses("train", "run.toml", "--qqqqqq"))

    def test_two_keys_after_one_set_are_told_apart(self):
        self.assertIn("'model.width=8' belongs to no option: each key has a --set of its own, here --set model.width=8",
                      self.refuses("train", "run.toml", "--set", "federation.seed=1", "model.width=8"))

    def test_unknown_command_lists_all(self):
        self.assertIn("there are train, evaluate", self.refuses("xyzzyx"))

    def test_unknown_option(self):
        self.assertIn("--bogus (see fedpp train --help)", self.refuses("train", "run.toml", "--bogus"))

    def test_missing_argument(self):
        self.assertIn("CONFIG is required", self.refuses("train"))
        self.assertIn("--out is required", self.refuses("probe", "case.h5"))

    def test_empty_file_names(self):
        for command in [["train", "run.toml"], ["evaluate", "out"], ["predict", "out"], ["import", "a.csv"],
                        ["simulate", "hawkes"], ["adapt", "out", "--continue"]]:
            self.assertIn("--out: ", self.refuses(*command, "--out", "", env=NO_START))
            self.assertEqual(list(self.folder.iterdir()), [])
        self.assertIn("--windows: ", self.refuses("import", "a.csv", "--out", "a.h5", "--windows", ""))

    def test_futures_need_one_end(self):
        self.assertIn("either --until or --horizon", self.refuses("predict", "out", "--futures", "3", env=NO_START))
        self.assertIn("either --until or --horizon",
                      self.refuses("predict", "out", "--futures", "3", "--until", "1", "--horizon", "2", env=NO_START))
        self.assertIn("give it as well", self.refuses("predict", "out", "--horizon", "2", env=NO_START))
        self.assertIn("give it as well", self.refuses("predict", "out", "--seed", "2", env=NO_START))
        for end, told in [("tomorrow", "is neither a time"), ("2021-02-29", "nor a date that exists"), ("inf", "is neither"), ("1e999", "is neither"),
                          ("2021-02-28T12:00Z", "without Z or a distance"), ("", "is neither")]:
            self.assertIn(told, self.refuses("predict", "out", "--futures", "3", "--until", end, env=NO_START))
        self.assertIn("--horizon -1", self.refuses("predict", "out", "--futures", "3", "--horizon", "-1", env=NO_START))
        self.assertIn("--futures 0: must be at least 1", self.refuses("predict", "out", "--futures", "0", env=NO_START))
        self.assertIn("--futures 0: must", self.refuses("predict", "out", "--futures", "0", "--horizon", "2", env=NO_START))
        self.assertIn("--futures -3", self.refuses("predict", "out", "--futures", "-3", "--until", "1", env=NO_START))

    def test_whole_numbers_are_decimal(self):
        self.assertIn("--futures 10: give either", self.refuses("predict", "out", "--futures", "010", env=NO_START))
        self.assertIn("--futures: 0x10: must be a whole number", self.refuses("predict", "out", "--futures", "0x10", env=NO_START))
        self.assertIn("--rounds -8:", self.refuses("adapt", "out", "--out", "new", "--continue", "--rounds", "-08"))

    def test_checkpoint_needs_resume(self):
        self.assertIn("--resume", self.refuses("train", "run.toml", "--checkpoint", "x.h5"))

    def test_options_that_would_be_passed_over(self):
        for one, other in [("--validate-only", "--estimate"), ("--validate-only", "--resume"), ("--estimate", "--resume")]:
            self.assertIn("excludes", self.refuses("train", "run.toml", one, other, env=NO_START))
        self.write("a.csv", EVENTS)
        self.write("run.toml", '[data]\ntrain = ["a.csv"]\n')
        self.succeeds("train", "run.toml", "--auto-resume", "--validate-only", env=NO_START)  # as job scripts give it


class Config(Case):
    def test_defaults_read_back_unchanged(self):
        """But for what they leave to other keys."""
        defaults = self.succeeds("config", env=NO_START)
        self.write("run.toml", defaults.replace("train = []", 'train = ["/data/a.csv"]'))
        again = self.succeeds("config", "run.toml", env=NO_START)
        settled = defaults
        for key, word in [("realisation", "pooled"), ("clock", "elapsed"), ("split_at", "event"), ("encoder", "decay"), ("mean", "linear"), ("divergence", "kl")]:
            settled = settled.replace(f'\n{key} = "auto"', f'\n{key} = "{word}"')
        self.assertEqual(again.replace('train = ["/data/a.csv"]', "train = []"), settled)

    def test_shows_overrides(self):
        self.write("run.toml", '[data]\ntrain = ["a.csv"]\n')
        text = self.succeeds("config", "run.toml", "--set", "federation.rounds=7", "--set", "model.encoder=rbf")
        self.assertIn("\nrounds = 7\n", text)
        self.assertIn('\nencoder = "rbf"\n', text)
        self.assertIn(f'train = ["{self.folder.resolve()}/a.csv"]', text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
