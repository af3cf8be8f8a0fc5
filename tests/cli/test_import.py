"""Event files as fedpp import and fedpp info read them."""
import gzip
import json
import os
import resource
import signal
import subprocess
import time
import unittest

from commands import EVENTS, FEDPP, NO_START, Case


def is_filled(path):
    try:
        return path.stat().st_size > 0
    except FileNotFoundError:
        return False


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
        said = self.succeeds("import", "a.csv", "--windows", "w.csv", "--out", "a.h5", "--time-unit", "hour")
        told = "4 sequences observed for 47.75 hour in all, with 1 gap; 1 of them has no event\n"  # 12 + 12 + 11.75 + 12
        self.assertIn("a.h5: 4 sequences, 36 events\nwindows: " + told, said)
        self.assertIn("  windows         " + told, self.succeeds("info", "a.h5"))
        self.assertNotIn("outside", self.succeeds("info", "a.h5"))
        # An HDF5 file brings its own.
        self.assertIn(told, self.succeeds("import", "a.h5", "--out", "b.h5"))
        self.assertEqual(self.succeeds("info", "a.h5").splitlines()[1:], self.succeeds("info", "b.h5").splitlines()[1:])
        self.assertNotIn("windows", self.succeeds("import", "a.csv", "--out", "c.h5") + self.succeeds("info", "c.h5"))
        self.assertIn("the windows in the input are left out", self.succeeds("import", "a.h5", "--cut-events", "3:5", "--out", "d.h5"))
        self.assertNotIn("windows", self.succeeds("import", "c.h5", "--cut-events", "3:5", "--out", "d.h5"))

    def test_all_sequences_have_windows_or_none(self):
        self.write("a.csv", EVENTS)
        self.write("w.csv", "sequence,start,end\n0,0,12\n1,0,12\n2,0,12\n")
        self.write("b.csv", "sequence,time,type\n" + "".join(f"20,{t}.5,0\n" for t in range(12)))
        self.succeeds("import", "a.csv", "--windows", "w.csv", "--out", "a.h5")
        for files in [["a.h5", "b.csv"], ["b.csv", "a.h5"]]:
            self.assertIn("b.csv:2: sequence 20 has no windows, but others have: give those of all", self.refuses("import", *files, "--out", "both.h5"))
        self.succeeds("import", "b.csv", "--out", "b.h5")
        self.assertIn("b.h5, sequence 20: sequence 20 has no row in the windows table w.csv", self.refuses("import", "b.h5", "--windows", "w.csv", "--out", "c.h5"))
        self.assertFalse((self.folder / "both.h5").exists())
        self.write("w.csv", "sequence,start,end\n0,0,12\n1,0,12\n2,0,12\n20,0,12\n")
        self.assertIn("windows: 4 sequences", self.succeeds("import", "a.h5", "b.csv", "--windows", "w.csv", "--out", "both.h5"))

    def test_events_outside_windows_are_counted(self):
        self.write("a.csv", EVENTS)  # at 0.5, 1.5, ... 11.5
        self.write("w.csv", "sequence,start,end\n0,0.5,3.5\n0,3.5,4\n1,2,2.25\n1,5.5,6.5\n2,0,12\n")
        said = self.succeeds("import", "a.csv", "--windows", "w.csv", "--out", "a.h5")
        self.assertIn("3 sequences, 36 events; 18 of them outside the windows, which training leaves out\nwindows: 3 sequences observed for 16.75 file unit in all, with 1 gap\n", said)
        self.assertIn("  outside them    18 events, which training leaves out\n", self.succeeds("info", "a.h5"))

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

    def test_many_events_at_equal_times_are_told(self):
        for ties, told in [(3, False), (4, True)]:
            times = [0] * (ties + 1) + list(range(1, 31 - ties))  # thirty gaps
            self.write("a.csv", "sequence,time\n" + "".join(f"0,{time}\n" for time in times))
            said = self.succeeds("info", "a.csv", env=NO_START)
            self.assertIn(f"  equal times     {ties} of 30 gaps between neighbours\n", said)
            for text in [said, self.succeeds("import", "a.csv", "--out", "a.h5")]:
                self.assertEqual("13 % of the gaps between neighbours of a sequence are zero" in text, told, text)

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

    def test_info_of_a_folder_says_who_tells_about_it(self):
        (self.folder / "out").mkdir()
        self.assertIn("out: is a folder; name a data file or a configuration, or ask 'fedpp status out'", self.refuses("info", "out", env=NO_START))

    def test_names_and_records_say_nothing_to_the_terminal(self):
        """Who sends a file chooses its names: with control characters they would write lines of their own, or send the terminal commands."""
        site, ward, unit = "north\n    client 1 0 events \x1b[2J", "\x1b]0;title\x07\x9b", "\x7fhour"
        rows = "".join(f'p{s},{k},"{ward}","{site}"\n' for s in range(3) for k in range(12))
        self.write("a.csv", "patient,when,type,client\n" + rows)
        self.succeeds("import", "a.csv", "--columns", "sequence=patient,time=when", "--time-unit", unit, "--out", "a.h5")
        told = self.succeeds("info", "a.h5")
        self.assertIn(" north\\x0a    client 1 0 events \\x1b[2J\n", told)
        self.assertIn(" \\x1b]0;title\\x07\\x9b\n", told)
        self.assertIn("unit \\x7fhour\n", told)
        self.write("run.toml", '[data]\ntrain = ["a.h5"]\npartition = "file"\nclients = 1\n')
        table = self.succeeds("info", "run.toml")
        self.assertIn("north\\x0a    client 1 0 events \\x1b[2J\n", table)
        self.write("out/status.jsonl", json.dumps({"event": "start", "where": "host \x1b[31mfar\n", "version": "1\x07", "ranks": 1, "clients": 1, "rounds": 2}))
        status = self.succeeds("status", "out")
        self.assertIn("(host \\x1b[31mfar\\x0a; last sign", status)
        self.assertIn("fedpp 1\\x07, 1 rank", status)
        for text in [told, table, status]:
            self.assertEqual([c for c in text if c != "\n" and not c.isprintable()], [])

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
            other = self.begin_writing()
            other.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, other.pid, os.WSTOPPED | os.WNOWAIT)
            held = list(self.folder.glob("x.h5.*.partial"))
            self.assertTrue(held)
            self.succeeds("import", "a.csv", "--out", "x.h5")
            self.assertEqual((self.folder / "x.h5").read_bytes(), short)
            self.assertEqual(list(self.folder.glob("x.h5.*.partial")), held)
            other.send_signal(end)
            self.assertEqual(other.wait(timeout=60), code)
            self.assertEqual((self.folder / "x.h5").read_bytes(), last)
        self.assertEqual(list(self.folder.glob("*.partial")), held)  # of the one that was killed, for a person to delete

    def begin_writing(self, **options):
        """An import of long.csv that has begun to fill its partial file; the trial before it stays empty."""
        command = subprocess.Popen([FEDPP, "import", "long.csv", "--out", "x.h5"], cwd=self.folder, stdout=subprocess.DEVNULL, **options)
        self.addCleanup(command.kill)
        while command.poll() is None and not any(map(is_filled, self.folder.glob("x.h5.*.partial"))):
            time.sleep(0.001)
        return command

    def test_signals_that_end_it_leave_nothing(self):
        self.write("long.csv", "sequence,time\n" + "".join(f"{s},{t}\n" for s in range(300) for t in range(1000)))
        for end in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
            command = self.begin_writing(preexec_fn=lambda: signal.signal(end, signal.SIG_DFL))
            command.send_signal(end)
            self.assertEqual(command.wait(timeout=60), -end)
            self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["long.csv"])

    def test_a_signal_that_it_was_started_to_ignore(self):
        self.write("long.csv", "sequence,time\n" + "".join(f"{s},{t}\n" for s in range(300) for t in range(1000)))
        command = self.begin_writing(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        command.send_signal(signal.SIGHUP)
        self.assertEqual(command.wait(timeout=60), 0)
        self.assertTrue((self.folder / "x.h5").is_file())

    def test_a_file_that_may_not_grow_is_an_error_with_its_name(self):
        self.write("long.csv", "sequence,time\n" + "".join(f"{s},{t}\n" for s in range(300) for t in range(1000)))
        result = subprocess.run([FEDPP, "import", "long.csv", "--out", "x.h5"], cwd=self.folder, capture_output=True, text=True,
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, 5_000)))
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertRegex(result.stderr, "x.h5: .*File too large")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["long.csv"])

    def test_missing_file(self):
        self.assertIn("none.csv", self.refuses("import", "none.csv", "--out", "a.h5"))


class Info(Case):
    def test_counts(self):
        self.write("a.csv", "sequence,time,type\n0,1,0\n0,1,2\n0,2,0\n5,0.5,2\n")
        words = self.succeeds("info", "a.csv", env=NO_START).split()
        for pair in [("sequences", "2"), ("events", "4"), ("types", "3")]:
            self.assertIn(pair, list(zip(words, words[1:])))

    def test_clients_of_a_configuration(self):
        self.write("a.csv", "sequence,time,type\n" + "".join(f"{s},{t},{t % 2}\n" for s in range(4) for t in range(30)))
        self.write("run.toml", '[data]\ntrain = ["a.csv"]\nclients = 2\npartition = "heterogeneous"\ntypes_per_client = 1\n[federation]\nparticipants = 0\n')
        lines = self.succeeds("info", "run.toml", env=NO_START).splitlines()
        self.assertEqual([line.split()[0] for line in lines[2:6]], ["client", "0", "1", "all"])
        self.assertLessEqual(max(map(len, lines)), 100)

    def test_the_table_is_shown_where_some_clients_are_faulty(self):
        for client, rows in enumerate(["0,{t}", "0,{t}\n0,-{t}", "0,{t}"]):
            self.write(f"c{client}.csv", "sequence,time\n" + "".join(rows.format(t=t) + "\n" for t in range(1, 3 if client == 2 else 30)))
        self.write("run.toml", '[data]\nclient_files = "c{client}.csv"\nclients = 4\n[federation]\nparticipants = 0\n')
        result = self.start([FEDPP, "info", "run.toml"], NO_START)
        self.assertEqual(result.returncode, 2)
        self.assertEqual([line.split()[0] for line in result.stdout.splitlines()[2:6]], ["client", "0", "2", "all"], result.stdout)
        for fault in ["c1.csv:3: sequence 0: time -1 comes after 1", "c3.csv", "c2.csv: client 2 (types 0) is left without a training sequence"]:
            self.assertIn(fault, result.stderr)

    def test_a_fault_is_told_where_nothing_can_be_shown_of_the_others(self):
        self.write("c0.csv", "sequence,time\n" + "0,5\n" * 6)
        self.write("c1.csv", "sequence,time\n0,x\n")
        self.write("run.toml", '[data]\nclient_files = "c{client}.csv"\nclients = 2\n[federation]\nparticipants = 0\n')
        told = self.refuses("info", "run.toml")
        for fault in ["c1.csv:2: time 'x' is not a number", "no time passes in the whole data"]:
            self.assertIn(fault, told)

    def test_unknown_format(self):
        self.write("a.xyz", EVENTS)
        self.assertIn("a.xyz", self.refuses("info", "a.xyz"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
