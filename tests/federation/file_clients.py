"""Whole runs on a table whose column says who the clients are: 'fedpp import --columns', then data.partition = "file".

Needs the environment of tests/federation/CMakeLists.txt.
"""
import csv
import datetime
import json
import random
import unittest

import h5py

from runs import PER_SEQUENCE, SameBits, outcome, settings
from program import FEDPP

SITES = ["west", "north, old", "east"]
WARDS = ["surgery", "emergency", "care"]
START = datetime.datetime(2019, 3, 1, 6, 30)
COLUMNS = ["--columns", "sequence=patient,time=when,type=ward,client=site"]
UNIT = ["--time-unit", "hour"]
CLIENTS = {"data__partition": "file", "data__train": ["visits.h5"], "data__clients": 3, "data__time_unit": "hour",
           "data__time_origin": "2019-03-01", "federation__participants": 2, **PER_SEQUENCE}


def visits(patients=12, seed=3):
    """(site, patient, when, ward), the patients of a site not together, nothing in the order of time."""
    rng = random.Random(seed)
    rows = [(SITES[p % 3], f"p{p}", START + datetime.timedelta(minutes=rng.randrange(60 * 24 * 9)), rng.choice(WARDS))
            for p in range(patients) for _ in range(rng.randrange(15, 27))]
    rng.shuffle(rows)
    return rows


class FileClients(SameBits):
    def imported(self, rows, out="visits.h5", *axis):
        with open(self.folder / "visits.csv", "w", newline="") as file:
            csv.writer(file).writerows([["site", "patient", "when", "ward"], *rows])
        result = self.start([FEDPP, "import", "visits.csv", *COLUMNS, *(axis or UNIT), "--out", out])
        self.assertEqual(result.returncode, 0, result.stderr)

    def configured(self, **changes):
        self.write("run.toml", settings(**{**CLIENTS, **changes}))

    def rows_of(self, path):
        with open(self.folder / path, newline="") as file:
            return list(csv.DictReader(file))

    def test_same_bits_and_names(self):
        rows = visits()
        self.imported(rows)
        self.configured()
        estimate = self.start(self.on_ranks(2, "train", "run.toml", "--estimate"))
        self.assertEqual(estimate.returncode, 0, estimate.stderr)
        for ranks in [1, 2, 4]:
            self.train(ranks, f"ranks{ranks}")
        for ranks in [2, 4]:
            self.assert_same("ranks1", f"ranks{ranks}")
        wards = list(dict.fromkeys(ward for _, _, _, ward in rows))
        self.assertEqual(self.result("ranks1")["names"], {"clients": sorted(SITES), "types": wards})
        for ranks in [1, 2]:
            predicted = self.start(self.on_ranks(ranks, "predict", f"ranks{ranks}", "--next-events", "--futures", 5, "--horizon", 48))
            self.assertEqual(predicted.returncode, 0, predicted.stderr)
        last = {}
        for site, patient, when, _ in rows:
            last[patient] = max(last.get(patient, (START, site)), (when, site))
        next_events = self.rows_of("ranks1/next_events.csv")
        self.assertEqual(sorted(row["sequence_name"] for row in next_events), sorted(last))
        for row in next_events:
            when, site = last[row["sequence_name"]]
            self.assertEqual((row["client_name"], row["client"]), (site, str(sorted(SITES).index(site))))
            hours = (when - datetime.datetime(2019, 3, 1)).total_seconds() / 3600
            self.assertAlmostEqual(float(row["last_time"]), hours, places=9)
        self.assertEqual({row["client_name"] for row in self.rows_of("ranks1/futures_summary.csv")}, set(SITES))
        with h5py.File(self.folder / "ranks1/result.h5") as file:
            self.assertEqual(len(file["curves"]), 3)
            for client, curve in enumerate(file["curves"].values()):
                self.assertEqual(last[curve.attrs["sequence_name"]][1], sorted(SITES)[client])
        for name in ["next_events.csv", "futures.csv", "futures_summary.csv"]:
            self.assertEqual((self.folder / "ranks1" / name).read_bytes(), (self.folder / "ranks2" / name).read_bytes())

    def expect_clients_by_name(self, names, known, unknown, why):
        """With these names of SITES in order, predictions are of clients 0 and 2 as `known` names them; `unknown` is refused."""
        called = dict(zip(sorted(SITES), names))
        self.imported([(called[site], *rest) for site, *rest in visits()])
        self.configured()
        self.train(1, "out")
        predicted = self.start(self.on_ranks(2, "predict", "out", "--clients", known))
        self.assertEqual(predicted.returncode, 0, predicted.stderr)
        with h5py.File(self.folder / "out/prediction.h5") as file:
            self.assertEqual(list(file["curves"]), ["client_000000", "client_000002"])
        refused = self.start([FEDPP, "predict", "out", "--clients", unknown])
        self.assertEqual(refused.returncode, 2)
        self.assertIn(f"--clients {unknown}: {why}", refused.stderr)

    def test_predictions_are_of_clients_by_their_names(self):
        self.expect_clients_by_name(sorted(SITES), "west,0", "South", "name clients by number as 0,3,7, as 8-11, or all, or by a name")

    def test_a_name_that_is_another_clients_number_is_told(self):
        self.expect_clients_by_name(["1", "2", "205"], "205,0-0", "1", "client 0 has this name, but by number it is client 1: write 0-0 for the name, 1-1 for the number")

    def test_as_with_one_file_a_client(self):
        """The table taken apart by hand, in the way that the README had it before the program could."""
        rows = visits()
        self.imported(rows)
        self.configured()
        self.train(1, "table")
        patients = list(dict.fromkeys(patient for _, patient, _, _ in rows))
        wards = list(dict.fromkeys(ward for _, _, _, ward in rows))
        for client, name in enumerate(sorted(SITES)):
            mine = sorted((patients.index(patient), (when - datetime.datetime(2019, 3, 1)).total_seconds() / 3600, i, wards.index(ward))
                          for i, (site, patient, when, ward) in enumerate(rows) if site == name)
            self.write(f"site{client}.csv", "sequence,time,type\n" + "".join(f"{s},{t!r},{k}\n" for s, t, _, k in mine))
        self.configured(data__partition="homogeneous", data__train=[], data__client_files="site{client}.csv")
        self.train(1, "files")
        self.assertEqual(json.dumps(outcome(self.result("files"))), json.dumps(outcome(self.result("table"))))
        self.assertNotIn("names", self.result("files"))

    def test_a_table_that_grew(self):
        rows = visits()
        self.imported(rows)
        self.configured(federation__participants=0)
        self.train(2, "out")
        more = [("east", "new", START + datetime.timedelta(hours=3 * i), "surgery") for i in range(20)]
        self.imported(rows + more + [(rows[0][0], rows[0][1], START + datetime.timedelta(days=10), "care")])
        resumed = self.start(self.on_ranks(1, "train", "run.toml", "--out", "out", "--resume", "--set", "federation.rounds=6"))
        self.assertEqual(resumed.returncode, 2, resumed.stderr)
        grown = self.start(self.on_ranks(2, "adapt", "out", "--continue", "--rounds", "2", "--out", "grown"))
        self.assertEqual(grown.returncode, 0, grown.stderr)
        self.assertEqual(len(self.result("grown")["rounds"]), 6)
        # Without a patient of then, or with other clients, it is another federation.
        self.imported([row for row in rows if row[1] != "p5"])
        refused = self.start(self.on_ranks(2, "adapt", "out", "--continue", "--rounds", "2", "--out", "refused"))
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.imported(rows + [("south", "new", START + datetime.timedelta(hours=3 * i), "surgery") for i in range(20)])
        refused = self.start(self.on_ranks(2, "adapt", "out", "--continue", "--rounds", "2", "--out", "refused"))
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("set data.clients = 4", refused.stderr)

    def test_new_clients_of_a_table_that_goes_with_the_trained_one(self):
        rows = visits()
        self.imported(rows)
        self.configured(model__encoder="lstm", model__layers=1, model__type_embedding=2)
        self.train(2, "out")
        new = [("south", patient, when, ward) for site, patient, when, ward in rows if site == "east"]
        new.sort(key=lambda row: row[3] == rows[0][3])  # another word comes first
        adapt = self.on_ranks(2, "adapt", "out", "--set", "data.train=new.h5", "--set", "data.clients=1", "--rounds", "1", "--out")
        self.imported(new, "new.h5")
        refused = self.start([*adapt, "refused"])
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("import the table again with --like", refused.stderr)
        self.imported(new, "new.h5", "--like", "visits.h5")
        adapted = self.start([*adapt, "new"])
        self.assertEqual(adapted.returncode, 0, adapted.stderr)
        self.assertEqual(self.result("new")["names"], {"clients": ["south"], "types": self.result("out")["names"]["types"]})

    def test_resumed(self):
        self.imported(visits())
        self.configured()
        self.train(2, "whole")
        self.train(1, "parts", "--set", "federation.rounds=2")
        self.train(4, "parts", "--resume")
        self.assert_same("whole", "parts")


if __name__ == "__main__":
    unittest.main(verbosity=2)
