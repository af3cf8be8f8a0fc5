"""Mistakes on two ranks."""
import unittest

from commands import NO_START, Case
from program import FEDPP


class Parallel(Case):
    def on_two_ranks(self, *arguments):
        return self.start(self.on_ranks(2, *arguments))

    def test_a_mistake_in_the_configuration_is_told_once_and_ends_all_ranks(self):
        self.write("run.toml", '[data]\ntrain = ["gone.csv"]\n')
        result = self.on_two_ranks("train", "run.toml")
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(result.stderr.count("cannot open"), 1, result.stderr)

    def test_a_mistake_in_the_command_line_is_told_once(self):
        for words in [[], ["trian"], ["train"], ["train", "run.toml", "--checkpoint", "x"], ["predict", "out", "--futures", "3"]]:
            result = self.on_two_ranks(*words)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertEqual(result.stderr.count("fedpp: error: "), 1, result.stderr)

    def test_a_folder_without_a_run(self):
        result = self.on_two_ranks("evaluate", "nowhere")
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(result.stderr.count("nowhere: no config.toml"), 1, result.stderr)

    def test_the_trap_for_starting_mpi_works(self):
        result = self.start([FEDPP, "evaluate", "nowhere"], NO_START)
        self.assertNotIn(result.returncode, [0, 2])


if __name__ == "__main__":
    unittest.main(verbosity=2)
