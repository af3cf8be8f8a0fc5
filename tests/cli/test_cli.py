"""The program from outside: what it prints, which files it leaves, its exit codes (0, 1, 2)."""
import csv
import datetime
import gzip
import json
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import program
from program import FEDPP

SOURCE = pathlib.Path(os.environ["FEDPP_SOURCE"])

# With these, starting MPI fails and starting Kokkos complains: commands for login nodes must do neither.
NO_START = {"OMPI_MCA_pml": "no_such_pml", "KOKKOS_PROFILE_LIBRARY": "no_such_tool", "KOKKOS_TOOLS_LIBS": "no_such_tool"}

EVENTS = "sequence,time,type\n" + "".join(f"{s},{t}.5,{t % 2}\n" for s in range(3) for t in range(12))


class Case(program.Case):
    def succeeds(self, *arguments, env=None):
        result = self.start([FEDPP, *arguments], env)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("no_such_tool", result.stdout + result.stderr)
        return result.stdout

    def refuses(self, *arguments, env=None, code=2):
        """Exit code 2 and a text for the user, which is returned."""
        result = self.start([FEDPP, *arguments], env)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.assertIn("fedpp: error: ", result.stderr)
        return result.stderr


class Help(Case):
    def test_help_names_every_command_with_examples(self):
        text = self.succeeds("--help", env=NO_START)
        for command in ["train", "evaluate", "predict", "adapt", "compare", "import", "info", "simulate", "probe", "config"]:
            self.assertIn(f"\n  {command} ", text)
            own = self.succeeds(command, "--help", env=NO_START)
            self.assertIn("Example", own)
            self.assertIn(f"fedpp {command}", own)

    def test_version_names_revision_and_libraries(self):
        text = self.succeeds("--version", env=NO_START)
        for word in ["fedpp 0.", "git ", "Kokkos ", "HDF5 "]:
            self.assertIn(word, text)


class Usage(Case):
    def test_no_command(self):
        self.assertIn("no command given", self.refuses())

    def test_misspelt_command_gets_a_suggestion(self):
        self.assertIn("unknown command 'trian': did you mean 'train'?", self.refuses("trian", "run.toml"))

    def test_unknown_command_lists_all(self):
        self.assertIn("there are train, evaluate", self.refuses("xyzzyx"))

    def test_unknown_option(self):
        self.assertIn("--bogus (see fedpp train --help)", self.refuses("train", "run.toml", "--bogus"))

    def test_missing_argument(self):
        self.assertIn("CONFIG is required", self.refuses("train"))
        self.assertIn("--out is required", self.refuses("probe", "case.h5"))

    def test_empty_file_names(self):
        for command in [["train", "run.toml"], ["evaluate", "out"], ["predict", "out"], ["import", "a.csv"],
                        ["simulate", "hawkes"]]:
            self.assertIn("--out: ", self.refuses(*command, "--out", "", env=NO_START))
            self.assertEqual(list(self.folder.iterdir()), [])
        self.assertIn("--windows: ", self.refuses("import", "a.csv", "--out", "a.h5", "--windows", ""))

    def test_futures_need_one_end(self):
        self.assertIn("either --until or --horizon", self.refuses("predict", "out", "--futures", "3", env=NO_START))
        self.assertIn("either --until or --horizon",
                      self.refuses("predict", "out", "--futures", "3", "--until", "1", "--horizon", "2", env=NO_START))
        self.assertIn("give it as well", self.refuses("predict", "out", "--horizon", "2", env=NO_START))
        self.assertIn("give it as well", self.refuses("predict", "out", "--seed", "2", env=NO_START))
        self.assertIn("--horizon -1", self.refuses("predict", "out", "--futures", "3", "--horizon", "-1", env=NO_START))
        self.assertIn("--futures 0: must be at least 1", self.refuses("predict", "out", "--futures", "0", env=NO_START))
        self.assertIn("--futures 0: must", self.refuses("predict", "out", "--futures", "0", "--horizon", "2", env=NO_START))
        self.assertIn("--futures -3", self.refuses("predict", "out", "--futures", "-3", "--until", "1", env=NO_START))

    def test_checkpoint_needs_resume(self):
        self.assertIn("--resume", self.refuses("train", "run.toml", "--checkpoint", "x.h5"))


class Config(Case):
    def test_defaults_read_back_unchanged(self):
        """But for what they leave to other keys."""
        defaults = self.succeeds("config", env=NO_START)
        self.write("run.toml", defaults.replace("train = []", 'train = ["/data/a.csv"]'))
        again = self.succeeds("config", "run.toml", env=NO_START)
        settled = defaults
        for key, word in [("realisation", "per-sequence"), ("clock", "elapsed"), ("split_at", "halfway"), ("divergence", "kl")]:
            settled = settled.replace(f'\n{key} = "auto"', f'\n{key} = "{word}"')
        self.assertEqual(again.replace('train = ["/data/a.csv"]', "train = []"), settled)

    def test_shows_overrides(self):
        self.write("run.toml", '[data]\ntrain = ["a.csv"]\n')
        text = self.succeeds("config", "run.toml", "--set", "federation.rounds=7", "--set", "model.encoder=rbf")
        self.assertIn("\nrounds = 7\n", text)
        self.assertIn('\nencoder = "rbf"\n', text)
        self.assertIn(f'train = ["{self.folder.resolve()}/a.csv"]', text)


class TrainInput(Case):
    def setUp(self):
        super().setUp()
        self.write("deck/a.csv", EVENTS)

    def validate(self, text, *arguments):
        self.write("deck/run.toml", text)
        return self.refuses("train", "deck/run.toml", "--validate-only", *arguments, env=NO_START)

    def test_validate_only_accepts_without_starting_anything(self):
        self.write("deck/run.toml", '[data]\ntrain = ["a.csv"]\n')
        self.assertIn("deck/run.toml: valid",
                      self.succeeds("train", "deck/run.toml", "--validate-only", "--out", "out", env=NO_START))
        self.assertFalse((self.folder / "out").exists())

    def test_validate_only_notes_an_encoder_that_chronological_asks_too_much_of(self):
        self.write("deck/run.toml", '[data]\ntrain = ["a.csv"]\n')
        told = self.succeeds("train", "deck/run.toml", "--validate-only", env=NO_START)
        self.assertIn('note: "deep-kernel" sees time alone', told)
        self.assertNotIn("note:", self.succeeds("train", "deck/run.toml", "--validate-only", "--set", "model.encoder=decay", env=NO_START))

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


class Import(Case):
    def test_csv_gzip_and_json_lines_give_the_same_file(self):
        self.write("a.csv", EVENTS)
        with gzip.open(self.folder / "a.csv.gz", "wt") as file:
            file.write(EVENTS)
        times = str([t + 0.5 for t in range(12)])
        self.write("a.jsonl", "".join(f'{{"time_since_start": {times}, "type_event": {[t % 2 for t in range(12)]}}}\n'
                                      for _ in range(3)))
        seen = set()
        for name in ["a.csv", "a.csv.gz", "a.jsonl"]:
            self.assertIn("3 sequences, 36 events", self.succeeds("import", name, "--out", "a.h5", env=NO_START))
            seen.add(self.succeeds("info", "a.h5", env=NO_START))
        self.assertEqual(len(seen), 1)

    def test_a_file_named_twice_and_what_training_keeps(self):
        self.write("a.csv", EVENTS)
        self.assertIn("./a.csv is the same file as a.csv", self.refuses("import", "a.csv", "./a.csv", "--out", "a.h5"))
        self.write("run/config.toml", "")
        for name in ["result.h5", "checkpoint-000010.h5"]:
            self.write(f"run/{name}", "weights")
            for command in [["import", "a.csv"], ["simulate", "poisson"]]:
                self.assertIn(f"run/{name}: 'fedpp train' wrote it", self.refuses(*command, "--out", f"run/{name}"))
            self.assertEqual((self.folder / "run" / name).read_text(), "weights")

    def test_windows_without_events_become_sequences(self):
        self.write("a.csv", EVENTS)
        self.write("w.csv", "sequence,start,end\n0,0,12\n1,0,12\n2,0,5.75\n2,6,12\n7,0,12\n")
        self.assertIn("4 sequences, 36 events", self.succeeds("import", "a.csv", "--windows", "w.csv", "--out", "a.h5"))

    def test_sequences_in_which_no_time_passes_are_told_with_file_and_line(self):
        self.write("still.csv", "sequence,time,type\n0,1,0\n0,2,0\n1,5,0\n1,5,1\n2,5,0\n3,6,0\n3,6,0\n")
        said = self.succeeds("import", "still.csv", "--out", "still.h5")
        self.assertIn("still.csv:4: no time passes in this sequence of several events, nor in 1 more", said)
        self.assertIn("in 2 sequences of several events, the first at line 4", self.succeeds("info", "still.csv"))
        self.assertIn("in 2 sequences of several events\n", self.succeeds("info", "still.h5"))
        self.write("w.csv", "sequence,start,end\n" + "".join(f"{s},0,9\n" for s in range(4)))
        self.assertNotIn("no time passes", self.succeeds("import", "still.csv", "--windows", "w.csv", "--out", "still.h5"))
        self.assertNotIn("no time passes", self.succeeds("import", "still.csv", "--cut-events", "1:9", "--out", "still.h5"), "--windows would not help there")

    def test_events_that_repeat_an_earlier_one_are_counted(self):
        self.write("twice.csv", "sequence,time,type\n0,1,0\n0,1,1\n0,2,1\n1,5,0\n1,5,1\n1,5,0\n1,5,0\n1,6,0\n2,6,0\n2,7,3\n2,7,3\n")
        said = self.succeeds("import", "twice.csv", "--out", "twice.h5")
        self.assertIn("3 sequences, 11 events", said)
        self.assertIn("twice.csv:5: events that repeat time and type of an earlier one of their sequence: 3, first in the one that begins here", said)
        for file in ["twice.csv", "twice.h5"]:
            self.assertIn("repeated        3 events with the time and type of an earlier one of their sequence", self.succeeds("info", file))
        self.assertIn("twice.csv:5: events that repeat", self.succeeds("import", "twice.csv", "--cut-events", "2:4", "--out", "pieces.h5"))
        self.write("once.csv", "sequence,time,type\n0,1,0\n0,1,1\n0,2,1\n1,2,1\n")
        self.assertNotIn("repeat", self.succeeds("import", "once.csv", "--out", "once.h5") + self.succeeds("info", "once.csv"))

    def test_bad_data_names_file_and_line_and_leaves_nothing(self):
        for rows, line in [("0,2,0\n0,1,0\n", 3), ("0,1,-1\n", 2), ("0,nan,0\n", 2), ("0,1,0\n1,1,0\n0,2,0\n", 4)]:
            self.write("bad.csv", "sequence,time,type\n" + rows)
            self.assertIn(f"bad.csv:{line}", self.refuses("import", "bad.csv", "--out", "bad.h5"))
            self.assertEqual([path.name for path in self.folder.iterdir()], ["bad.csv"])

    def test_cut_into_pieces(self):
        self.write("a.csv", EVENTS)  # three sequences of twelve
        text = self.succeeds("import", "a.csv", "--cut-events", "3:5", "--out", "a.h5", env=NO_START)
        self.assertIn("6 pieces of 3 sequences, 30 events; 3 pieces below 3 events dropped (6 events); 0 cuts", text)
        words = self.succeeds("info", "a.h5", env=NO_START).split()
        for pair in [("sequences", "6"), ("events", "30")]:
            self.assertIn(pair, list(zip(words, words[1:])))

    def test_bad_cuts(self):
        self.write("a.csv", EVENTS)
        for text in ["5", "5:", ":5", "5:3", "0:5", "-1:5", "3:5:7", "3.5:5", "x:5"]:
            self.assertIn(f"--cut-events {text}: give the fewest and the most", self.refuses("import", "a.csv", f"--cut-events={text}", "--out", "a.h5"))
        self.assertIn("none of the 3 sequences has 13 events", self.refuses("import", "a.csv", "--cut-events", "13:20", "--out", "a.h5"))
        self.assertIn("leave out one", self.refuses("import", "a.csv", "--cut-events", "3:5", "--windows", "w.csv", "--out", "a.h5"))
        self.assertEqual([path.name for path in self.folder.iterdir()], ["a.csv"])

    def test_a_sequence_in_two_files_names_both(self):
        self.write("a.csv", "sequence,time\n0,1\n1,1\n")
        self.write("b.csv", "sequence,time\n2,1\n1,1\n")
        self.assertIn("b.csv:3: sequence 1 is in a.csv, too", self.refuses("import", "a.csv", "b.csv", "--out", "x.h5"))
        self.assertFalse((self.folder / "x.h5").exists())

    def test_the_file_is_sealed_and_one_without_a_seal_is_said_to_be_unchecked(self):
        self.write("a.csv", EVENTS)
        self.succeeds("import", "a.csv", "--out", "a.h5")
        whole = (self.folder / "a.h5").read_bytes()
        (self.folder / "b.h5").write_bytes(whole[512:])
        a, b = (self.succeeds("info", name, env=NO_START).splitlines() for name in ("a.h5", "b.h5"))
        self.assertIn("as sealed", a[1])
        self.assertIn("none", b[1])
        self.assertEqual(a[2:], b[2:])
        (self.folder / "a.h5").write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        self.assertIn("a.h5: refused: altered: its checksum", self.refuses("info", "a.h5"))

    def test_names_and_separators_of_other_programs(self):
        self.write("a.csv", EVENTS)
        expected = self.succeeds("info", "a.csv").splitlines()[1:]
        self.write("b.CSV", EVENTS.replace("sequence,time,type", "Sequence,TIME,Type"))
        self.write("c.csv", EVENTS.replace(",", ";"))
        with gzip.open(self.folder / "d.CSV.GZ", "wt") as file:
            file.write(EVENTS.replace(",", "\t"))
        for name in ["b.CSV", "c.csv", "d.CSV.GZ"]:
            self.assertEqual(self.succeeds("info", name).splitlines()[1:], expected, name)

    def test_replaces_neither_its_input_nor_what_is_no_file(self):
        self.write("a.csv", EVENTS)
        self.succeeds("import", "a.csv", "--out", "a.h5")
        before = (self.folder / "a.h5").read_bytes()
        self.assertIn("a.h5: is read here", self.refuses("import", "a.h5", "--cut-events", "3:5", "--out", "./a.h5"))
        self.assertEqual((self.folder / "a.h5").read_bytes(), before)
        os.mkfifo(self.folder / "pipe.csv")
        self.assertIn("pipe.csv: is a device, pipe", self.refuses("simulate", "poisson", "--out", "pipe.csv"))
        self.assertTrue((self.folder / "pipe.csv").is_fifo())

    def test_two_that_write_one_file_are_each_whole_and_none_touches_the_others(self):
        self.write("a.csv", EVENTS)
        self.write("long.csv", "sequence,time\n" + "".join(f"{s},{t}\n" for s in range(300) for t in range(1000)))
        for name in ["a", "long"]:
            self.succeeds("import", f"{name}.csv", "--out", f"{name}.h5")
        short, long = ((self.folder / name).read_bytes() for name in ["a.h5", "long.h5"])
        for end, code, last in [(signal.SIGCONT, 0, long), (signal.SIGKILL, -signal.SIGKILL, short)]:
            other = subprocess.Popen([FEDPP, "import", "long.csv", "--out", "x.h5"], cwd=self.folder, stdout=subprocess.DEVNULL)
            self.addCleanup(other.kill)
            while not list(self.folder.glob("x.h5.*.partial")) and other.poll() is None:
                time.sleep(0.001)
            other.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, other.pid, os.WSTOPPED | os.WNOWAIT)
            held = list(self.folder.glob("x.h5.*.partial"))
            self.succeeds("import", "a.csv", "--out", "x.h5")
            self.assertEqual((self.folder / "x.h5").read_bytes(), short)
            self.assertEqual(list(self.folder.glob("x.h5.*.partial")), held)
            other.send_signal(end)
            self.assertEqual(other.wait(timeout=60), code)
            self.assertEqual((self.folder / "x.h5").read_bytes(), last)
        self.assertEqual(list(self.folder.glob("*.partial")), held)  # of the one that was killed, for a person to delete

    def test_missing_file(self):
        self.assertIn("none.csv", self.refuses("import", "none.csv", "--out", "a.h5"))


class ImportColumns(Case):
    """Tables with headers, words and dates of their own."""
    COLUMNS = ["--columns", "sequence=patient,time=when,type=ward,client=site", "--time-unit", "hour"]
    WARDS = ["surgery", "emergency", "intensive care"]
    START = datetime.datetime(2019, 3, 1, 6, 30)

    def rows(self, last=20):
        """(site, patient, when, ward) of three sites, not in the order of time."""
        return [(["west", "north, old", "east"][p % 3], f"p{p}", self.START + datetime.timedelta(hours=7 * t + 0.25 * p), self.WARDS[(t + p) % 3])
                for t in reversed(range(last)) for p in range(9)]

    def table(self, rows, name="visits.csv"):
        with open(self.folder / name, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["site", "note", "patient", "when", "ward"])
            writer.writerows([site, 'a "note",\nof two lines', patient, when.isoformat(sep=" "), ward] for site, patient, when, ward in rows)

    def imported(self, *more):
        self.table(self.rows())
        return self.succeeds("import", "visits.csv", *self.COLUMNS, "--out", "visits.h5", *more, env=NO_START)

    def test_the_file_holds_the_table(self):
        said = self.imported()
        self.assertIn("visits.h5: 3 clients, 9 sequences, 180 events\n", said)
        self.assertEqual(said[said.index("[data]"):], '[data]\ntrain = ["visits.h5"]\npartition = "file"\nclients = 3\ntime_unit = "hour"\n'
                         'time_origin = "2019-03-01"\n')
        info = self.succeeds("info", "visits.h5", env=NO_START)
        for line in ["clients         3", "client 1      3 sequences, 60 events  north, old", "type 0        60 events  emergency",
                     "times           6.5 to 141.5, unit hour since 2019-03-01"]:
            self.assertIn(line, info)

    def test_the_lines_that_it_prints_are_a_configuration_of_these_clients(self):
        said = self.imported()
        (self.folder / "run.toml").write_text(said[said.index("[data]"):] + "[federation]\nparticipants = 0\n")
        self.succeeds("train", "run.toml", "--validate-only", env=NO_START)
        lines = self.succeeds("info", "run.toml", env=NO_START).splitlines()
        self.assertEqual([line.split("  ")[-1] for line in lines[2:5]], ["east", "north, old", "west"])
        self.assertEqual([line.split()[1] for line in lines[2:5]], ["3/"] * 3)
        self.assertIn("3 clients that the data files name are passed over", self.succeeds("info", "run.toml", "--set", "data.partition=homogeneous"))
        self.assertIn("data.clients = 4: with data.partition = \"file\" clients are those of", self.refuses("info", "run.toml", "--set", "data.clients=4"))
        for key, value in [("deal", "false"), ("types_per_client", "2")]:
            self.assertIn(f"data.{key} = {value}: has no effect", self.refuses("info", "run.toml", "--set", f"data.{key}={value}"))

    def test_windows_have_the_headers_of_the_events(self):
        (self.folder / "w.csv").write_text("patient,start,end,site\n" + "".join(
            f'p{p},2019-03-01,2019-03-{7 if p else 2:02},{["west", chr(34) + "north, old" + chr(34), "east"][p % 3]}\n' for p in range(9)))
        self.assertIn("9 sequences, 180 events; 17 of them outside the windows", self.imported("--windows", "w.csv"))

    def test_pieces_keep_clients_names_and_unit(self):
        self.imported()
        self.succeeds("import", "visits.h5", "--cut-events", "4:8", "--out", "pieces.h5")
        info = self.succeeds("info", "pieces.h5")
        for line in ["client 1      9 sequences, 60 events  north, old", "emergency", "unit hour since 2019-03-01"]:
            self.assertIn(line, info)
        self.succeeds("import", "visits.csv", *self.COLUMNS, "--out", "other.h5")
        self.assertIn("visits.h5: has names of clients or types", self.refuses("import", "visits.h5", "other.h5", "--out", "both.h5"))

    def test_a_table_that_goes_with_another(self):
        self.imported()
        self.table([(site, patient, when + datetime.timedelta(days=40), "admission" if ward == "surgery" else ward) for site, patient, when, ward in self.rows()[::-1]])
        said = self.succeeds("import", *self.COLUMNS[:2], "visits.csv", "--like", "visits.h5", "--out", "later.h5")
        self.assertIn('time_unit = "hour"\ntime_origin = "2019-03-01"\n', said)
        info = self.succeeds("info", "later.h5")
        for line in ["times           966.5 to 1101.5, unit hour since 2019-03-01", "type 0        60 events  emergency", "type 3        60 events  admission"]:
            self.assertIn(line, info)
        self.assertNotIn("surgery", info)  # its number is kept
        self.assertIn("--like", self.refuses("import", "visits.csv", *self.COLUMNS, "--like", "visits.h5", "--out", "b.h5"))

    def test_bad_options_and_tables_leave_nothing(self):
        self.table(self.rows())
        for text in ["patient", "sequence=", "who=patient", "=patient"]:
            self.assertIn(f"--columns {text}: say which column", self.refuses("import", "visits.csv", "--columns", text, "--out", "a.h5"))
        self.assertIn("visits.csv:1: column 'day' is missing: the header is 'site,note,patient,when,ward'",
                      self.refuses("import", "visits.csv", "--columns", "sequence=patient,time=day", "--out", "a.h5"))
        self.assertIn("--time-unit with one of s, min, hour", self.refuses("import", "visits.csv", *self.COLUMNS[:2], "--out", "a.h5"))
        self.assertIn("--time-unit (now 'days') with one of", self.refuses("import", "visits.csv", *self.COLUMNS[:2], "--time-unit", "days", "--out", "a.h5"))
        for origin in ["2019-02-30", "2019", "2019-03-01T06:30:00.5"]:
            self.assertIn(f"--time-origin {origin}: is not a date", self.refuses("import", "visits.csv", *self.COLUMNS, "--time-origin", origin, "--out", "a.h5"))
        self.assertIn("import the table first", self.refuses("import", "visits.csv", *self.COLUMNS, "--cut-events", "3:5", "--out", "a.h5"))
        rows = self.rows()
        rows[5] = rows[5][:3] + ("",)
        self.table(rows)
        self.assertIn("visits.csv:12: column 'ward' is empty", self.refuses("import", "visits.csv", *self.COLUMNS, "--out", "a.h5"))
        self.assertEqual([path.name for path in self.folder.iterdir()], ["visits.csv"])


class Info(Case):
    def test_counts(self):
        self.write("a.csv", "sequence,time,type\n0,1,0\n0,1,2\n0,2,0\n5,0.5,2\n")
        words = self.succeeds("info", "a.csv", env=NO_START).split()
        for pair in [("sequences", "2"), ("events", "4"), ("types", "3")]:
            self.assertIn(pair, list(zip(words, words[1:])))

    def test_clients_of_a_configuration(self):
        self.write("a.csv", "sequence,time,type\n" + "".join(f"{s},{t},{t % 2}\n" for s in range(4) for t in range(30)))
        self.write("run.toml", '[data]\ntrain = ["a.csv"]\nclients = 2\ntypes_per_client = 1\n[federation]\nparticipants = 0\n')
        lines = self.succeeds("info", "run.toml", env=NO_START).splitlines()
        self.assertEqual([line.split()[0] for line in lines[2:4]], ["0", "1"])

    def test_unknown_format(self):
        self.write("a.xyz", EVENTS)
        self.assertIn("a.xyz", self.refuses("info", "a.xyz"))


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
        self.assertIn("-1: must be at least 0", self.refuses("simulate", "hawkes", "--seed", "-1", "--out", "s.csv"))
        self.assertFalse((self.folder / "s.csv").exists())
        self.assertIn("must end in .csv or .h5", self.refuses("simulate", "hawkes", "--out", "s.txt"))
        self.assertIn("nowhere", self.refuses("simulate", "hawkes", "--out", "nowhere/s.csv"))
        self.refuses("simulate")
        self.assertEqual([], list(self.folder.glob("s.*")))
        self.assertIn("--inducing 1000000: must be from 1 to 2000",
                      self.refuses("simulate", "cox", "--inducing", "1000000", "--out", "s.csv"))
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


class Compare(Case):
    """Of results written here; of real runs in tests/federation/compare.py."""

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
        first, second, third = [5, -3, 8, -0.5], [7, 0, 9, -0.25], [5.5, -9, 8, -0.5]
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
            residuals = [x - d * n for x, n in zip(differences, self.EVENTS)]
            error = math.sqrt(4 / 3 * sum(r * r for r in residuals)) / sum(self.EVENTS)
            row = self.row(text, name)
            self.assertEqual(row[1:7], [f"{sum(sums) / 60:.4f}", f"{d:+.4f}", f"{error:.4f}", str(sum(x > 0 for x in differences)),
                                        "of", "4"], text)
            self.assertIn(f"{d:+.4f}, {'beyond' if abs(d) > 2 * error else 'within'} two paired standard errors over 4 clients "
                          f"({2 * error:.4f})", text)
        self.assertIn("  b is above a: ", text)
        self.assertIn("  c ties with a: ", text)

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
        old = self.result("b", [1, 2, 3, 0])
        del old["test_data"]
        self.change("b", old)
        self.assertIn("run 'fedpp evaluate' on its folder", self.refuses("compare", "a", "b"))
        for name, value in [("config", None), ("test_data", 7), ("calibration", {})]:
            broken = self.result("b", [1, 2, 3, 0])
            broken[name] = value
            self.change("b", broken)
            self.assertIn("b/result.json: is no whole result", self.refuses("compare", "a", "b"))


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


class Documentation(Case):
    def test_configuration_reference_is_what_the_program_prints(self):
        text = (SOURCE / "docs" / "configuration.md").read_text()
        self.assertIn("```toml\n" + self.succeeds("config") + "```\n", text,
                      "docs/configuration.md is stale: run scripts/update-configuration-reference.sh")

    def test_theory_has_the_sections_that_are_cited(self):
        sections = set(re.findall(r"^#+ (\d\.\d)", (SOURCE / "docs" / "theory.md").read_text(), re.MULTILINE))
        cited = {}
        for folder in ["bench", "docs", "examples", "gpu", "io", "mpi", "python", "scripts", "src", "tests", "validation"]:
            for path in (SOURCE / folder).rglob("*"):
                if path.suffix in (".hpp", ".cpp", ".py", ".md", ".sh"):
                    # "spec 1.2, 1.7", "spec 1.2 to 1.6", "spec 2.4, item 5; 2.1"
                    for list_of in re.findall(r"spec (?:\d\.\d|item \d|, |; | and | to )+", path.read_text(errors="replace")):
                        cited.update((number, path) for number in re.findall(r"\d\.\d", list_of))
        self.assertGreater(len(cited), 10)
        self.assertEqual({number: str(path) for number, path in cited.items() if number not in sections}, {})


if __name__ == "__main__":
    unittest.main(verbosity=2)
