"""Configurations that fedpp train takes and refuses, without a run."""
import os
import unittest

from commands import EVENTS, NO_START, Case


class TrainInput(Case):
    def setUp(self):
        super().setUp()
        self.write("deck/a.csv", EVENTS)

    def validate(self, text, *arguments):
        self.write("deck/run.toml", text)
        return self.refuses("train", "deck/run.toml", "--validate-only", *arguments, env=NO_START)

    def test_validate_only_accepts_without_starting_anything(self):
        self.write("deck/run.toml", '[data]\ntrain = ["a.csv"]\n')
        self.assertIn("deck/run.toml: valid; the data files are there, but were not read: 'fedpp info deck/run.toml' reads them",
                      self.succeeds("train", "deck/run.toml", "--validate-only", "--out", "out", env=NO_START))
        self.assertFalse((self.folder / "out").exists())

    def test_validate_only_notes_an_encoder_that_chronological_asks_too_much_of(self):
        self.write("deck/run.toml", '[data]\ntrain = ["a.csv"]\n')
        self.assertNotIn("note:", self.succeeds("train", "deck/run.toml", "--validate-only", env=NO_START))  # nothing of the defaults
        told = self.succeeds("train", "deck/run.toml", "--validate-only", "--set", "model.encoder=deep-kernel", env=NO_START)
        self.assertIn('note: "deep-kernel" sees time alone', told)

    def test_data_in_the_place_of_a_configuration(self):
        said = self.refuses("train", "deck/a.csv", "--validate-only", env=NO_START)
        self.assertIn("deck/a.csv:1:", said)
        self.assertIn("a configuration is wanted here, as 'fedpp config' prints one; it names the data (data.train)", said)
        self.assertNotIn("a configuration is wanted", self.validate("[data\n"))

    def test_validate_only_looks_for_every_clients_files(self):
        text = self.validate('[data]\nclient_files = "absent{client}.csv"\nclients = 2\n')
        self.assertIn("absent0.csv\": No such file or directory (missing for 2 of data.clients = 2)", text)
        text = self.validate('[data]\nclient_files = "absent{client}.csv"\nvalidation = ["a.csv"]\n')
        self.assertIn("data.validation", text)
        self.assertIn("put {client} into each name", text)

    def test_set_takes_one_argument_so_that_the_file_may_follow(self):
        self.write("deck/run.toml", '[data]\ntrain = ["a.csv"]\n')
        self.succeeds("train", "--set", "federation.rounds=3", "--set", "data.leave_out_types=[1]", "deck/run.toml",
                      "--validate-only")

    def test_set_data_files_start_at_the_current_folder(self):
        self.write("deck/run.toml", "[federation]\nrounds = 1\n")
        self.succeeds("train", "deck/run.toml", "--validate-only", "--set", "data.train=deck/a.csv")

    def test_missing_configuration(self):
        self.assertIn("none.toml: cannot read this configuration file", self.refuses("train", "none.toml"))

    def test_unknown_key(self):
        text = self.validate('[data]\ntrain = ["a.csv"]\nclint = 3\n')
        self.assertIn("deck/run.toml:3:1: unknown key data.clint: did you mean data.clients?", text)

    def test_value_out_of_range(self):
        text = self.validate('[data]\ntrain = ["a.csv"]\n', "--set", "data.local_fraction=2")
        self.assertIn("data.local_fraction = 2.0: must be in (0, 1]", text)

    def test_missing_data_file(self):
        text = self.validate('[data]\ntrain = ["b.csv"]\n')
        self.assertIn("deck/run.toml:2:1: data.train: cannot open", text)
        self.assertIn("deck/b.csv", text)

    def test_pipes_are_refused_and_not_waited_for(self):
        pipe = "is a pipe: data are read several times, name a file"
        for name in ["pipe.csv", "pipe0.jsonl", "pipe.h5"]:
            os.mkfifo(self.folder / "deck" / name)
        for text in ['train = ["pipe.csv"]', 'train = ["pipe.h5"]', 'train = ["a.csv"]\nwindows = ["pipe.csv"]',
                     'client_files = "pipe{client}.jsonl"\nclients = 1']:
            self.assertIn(pipe, self.validate(f"[data]\n{text}\n"))
        for name in ["pipe.csv", "pipe.h5"]:
            self.assertIn(pipe, self.refuses("info", f"deck/{name}", env=NO_START))
            self.assertIn(pipe, self.refuses("import", f"deck/{name}", "--out", "b.h5", env=NO_START))
        self.assertIn(pipe, self.refuses("info", "deck/run.toml", env=NO_START))  # one file a client

    def test_why_a_data_file_cannot_be_opened(self):
        (self.folder / "deck/loop.csv").symlink_to("loop.csv")
        self.assertIn('loop.csv": Too many levels of symbolic links', self.validate('[data]\ntrain = ["loop.csv"]\n'))
        self.assertIn('b.csv": No such file or directory: check the path', self.validate('[data]\ntrain = ["b.csv"]\n'))

    def test_not_toml(self):
        self.assertIn("deck/run.toml:2:", self.validate("[data]\ntrain = [a.csv]\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
