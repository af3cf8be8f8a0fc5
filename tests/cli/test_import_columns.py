"""fedpp import --columns."""
import csv
import datetime
import unittest

from commands import NO_START, Case


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
        self.assertEqual([line.split("  ")[-1] for line in lines[3:6]], ["east", "north, old", "west"])
        self.assertEqual([line.split()[1] for line in lines[3:6]], ["3"] * 3)
        self.assertIn("3 clients that the data files name are passed over", self.succeeds("info", "run.toml", "--set", "data.partition=homogeneous"))
        self.assertIn("data.clients = 4: with data.partition = \"file\" clients are those of", self.refuses("info", "run.toml", "--set", "data.clients=4"))
        for key, value in [("deal", "false"), ("types_per_client", "2")]:
            self.assertIn(f"data.{key} = {value}: has no effect", self.refuses("info", "run.toml", "--set", f"data.{key}={value}"))

    def test_windows_have_the_headers_of_the_events(self):
        (self.folder / "w.csv").write_text("patient,start,end,site\n" + "".join(
            f'p{p},2019-03-01,2019-03-{7 if p else 2:02},{["west", chr(34) + "north, old" + chr(34), "east"][p % 3]}\n' for p in range(9)))
        said = self.imported("--windows", "w.csv")
        self.assertIn("9 sequences, 180 events; 17 of them outside the windows", said)
        self.assertIn("windows: 9 sequences observed for 1176 hour in all, with no gaps\n", said)

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

    def test_notes_name_the_table_and_the_sequence_as_it_has_them(self):
        self.write("a.csv", "patient,when\n" + "".join(f"p{p},{t}\n" for p in range(2) for t in range(12)))
        self.write("b.csv", "patient,when\n" + "".join(f"p{p},{t}\n" for p in (2, 3) for t in range(12)) + "p3,7\np4,5\np4,5\n")
        said = self.succeeds("import", "a.csv", "b.csv", "--columns", "sequence=patient,time=when", "--out", "a.h5")
        self.assertIn("\nb.csv:14, sequence 'p3': events that repeat time and type of an earlier one of their sequence: 2,", said)
        self.assertIn("\nb.csv:27, sequence 'p4': no time passes in this sequence", said)
        said = self.succeeds("import", "a.csv", "b.csv", "--columns", "sequence=when,time=when", "--out", "b.h5")
        self.assertIn("\na.csv:2, sequence 0: no time passes", said)

    def test_a_header_with_commas(self):
        self.write("a.csv", 'patient,"when, local"\n' + "".join(f"p,{t}\n" for t in range(12)))
        self.assertIn("1 sequence, 12 events", self.succeeds("import", "a.csv", "--columns", "sequence=patient,time=when, local", "--out", "a.h5"))

    def test_dates_that_were_read_as_numbers_are_told(self):
        remark = "every time looks like a date that is written as one number"
        for days, said in [(["20190228", "20190301"], True), (["20190228", "20190230"], False), (["20190228", "20190301.5"], False), (["1", "2"], False)]:
            self.write("a.csv", "sequence,time\n" + "".join(f"0,{day}\n" for day in days))
            for columns in [[], ["--columns", "sequence=sequence,time=time"]]:
                self.assertEqual(remark in self.succeeds("import", "a.csv", *columns, "--out", "a.h5"), said)

    def test_unix_time_that_was_read_as_numbers_is_told(self):
        for times, unit in [([1551400000, 1551500000.5], "s"), ([1551400000123, 1551500000456], "ms"), ([1551400000000000, 1551500000000000], "us"),
                            ([1551400000, 5e9], None), ([6e8, 1551400000], None), ([20190228, 20190301], None)]:
            self.write("a.csv", "sequence,time\n" + "".join(f"0,{time}\n" for time in times))
            told = f"every time looks like Unix time in {unit}, 2019-03-01T00:26:40 to 2019-03-02T04:13:20, and is taken as a plain number: 'fedpp import' with --unix-time {unit} "
            for command in [["import", "a.csv", "--out", "a.h5"], ["import", "a.csv", "--columns", "time=time", "--out", "a.h5"], ["info", "a.csv"], ["info", "a.h5"]]:
                said = self.succeeds(*command, env=NO_START)
                self.assertIn(told, said) if unit else self.assertNotIn("Unix", said)

    def test_dates_are_no_unix_time(self):
        """The numbers that dates become may look like it, from another origin."""
        self.write("a.csv", "sequence,time\n0,2018-03-01\n0,2018-03-02\n")
        axis = ["--time-unit", "s", "--time-origin", "1980-01-06"]
        self.assertNotIn("Unix", self.succeeds("import", "a.csv", "--columns", "time=time", *axis, "--out", "a.h5"))
        self.assertNotIn("Unix", self.succeeds("info", "a.h5"))
        self.write("b.csv", "sequence,time\n" + "".join(f"0,{1551400000123 + 10 * k}\n" for k in range(6)))
        self.assertIn("looks like Unix time in ms", self.succeeds("import", "b.csv", "--cut-events", "2:3", "--out", "b.h5"))

    def test_dates_go_with_a_file_that_has_an_origin_alone(self):
        self.write("a.csv", "sequence,time\n0,1551400000123\n0,1551500000123\n")
        self.write("old.csv", "sequence,time\n0,1\n0,2\n")
        for unit, told in [([], "count in 'file unit' from no known date"), (["--time-unit", "hour"], "old.h5 count in 'hour' from no known date")]:
            self.succeeds("import", "old.csv", *unit, "--out", "old.h5")
            self.assertIn(told, self.refuses("import", "a.csv", "--unix-time", "ms", "--like", "old.h5", "--out", "new.h5"))
        self.assertFalse((self.folder / "new.h5").exists())

    def test_unix_time(self):
        self.write("a.csv", "sequence,time\n0,1551500000123\n0,1551400000000\n")
        said = self.succeeds("import", "a.csv", "--unix-time", "ms", "--time-unit", "hour", "--out", "a.h5", env=NO_START)
        self.assertIn("a.h5: 1 sequence, 2 events\nfrom 2019-03-01T00:26:40 to 2019-03-02T04:13:20\n", said)
        self.assertIn('time_unit = "hour"\ntime_origin = "2019-03-01"\n', said)
        self.assertIn("unit hour since 2019-03-01\n                  2019-03-01T00:26:40 to 2019-03-02T04:13:20\n", self.succeeds("info", "a.h5"))
        # Seconds since 1970 are Unix time: nothing to tell.
        since_1970 = ["--time-unit", "s", "--time-origin", "1970-01-01"]
        self.assertNotIn("looks", self.succeeds("import", "a.csv", "--unix-time", "ms", *since_1970, "--out", "b.h5"))
        self.write("a.csv", "sequence,time\n0,1551500000\n0,1551400000\n")
        self.assertNotIn("looks", self.succeeds("import", "a.csv", "--columns", "time=time", *since_1970, "--out", "b.h5"))
        self.assertIn("--time-unit with one of s, min", self.refuses("import", "a.csv", "--unix-time", "s", "--out", "c.h5"))
        self.write("a.csv", "sequence,time\n0,1551500000123\n")
        self.assertIn("as Unix time in s is outside the years", self.refuses("import", "a.csv", "--unix-time", "s", "--time-unit", "hour", "--out", "c.h5"))
        self.assertIn("--unix-time", self.refuses("import", "a.csv", "--unix-time", "hour", "--out", "c.h5"))
        self.write("a.jsonl", '{"time_since_start": [1], "type_event": [0]}\n')
        self.assertIn("a.jsonl: --columns, --like and --unix-time read CSV tables", self.refuses("import", "a.jsonl", "--unix-time", "s", "--time-unit", "hour", "--out", "c.h5"))
        self.assertFalse((self.folder / "c.h5").exists())

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


if __name__ == "__main__":
    unittest.main(verbosity=2)
