"""Mistakes in the data end all ranks with one message that says where, before anything is written."""
import unittest

from runs import Run, data_set, settings
from program import FEDPP, MPIEXEC


class BadData(Run):
    FAULTS = {
        "unsorted": ("0,1,0\n0,0.5,0\n", ":3"), "not finite": ("0,1,0\n0,nan,0\n", ":3"), "negative type": ("0,1,-1\n", ":2"),
        "no number": ("0,1,0\n0,two,0\n", ":3"), "too few columns": ("0,1,0\n0,2,0\n0,3\n", ":4"),
        "torn sequence": ("0,1,0\n1,1,0\n0,2,0\n", ":4"), "no time passes": ("".join(f"{s},1,0\n{s},1,0\n" for s in range(6)), "train.csv: no time passes"),
    }

    def refused(self, ranks, *words):
        result = self.start(self.on_ranks(ranks, "train", "run.toml", "--out", "new/out"))
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)
        self.assertEqual(result.stderr.count("fedpp: error"), 1, result.stderr)
        self.assertFalse((self.folder / "new").exists(), "a run that never began left its folder")

    def test_events(self):
        self.write("run.toml", settings())
        for k, (what, (rows, where)) in enumerate(self.FAULTS.items()):
            with self.subTest(what):
                self.write("train.csv", "sequence,time,type\n" + rows)
                self.refused(1 + k % 2, "train.csv" + where if where.startswith(":") else where)

    def test_windows(self):
        self.write("train.csv", data_set(24))
        self.write("run.toml", settings(data__windows=["windows.csv"]))
        for rows in ["0,5,5\n", "0,3,6\n0,5,9\n", "0,4,1\n"]:
            self.write("windows.csv", "sequence,start,end\n" + rows)
            self.refused(2, "windows.csv:")

    def test_sequences_in_which_no_time_passes_are_not_called_short(self):
        self.write("train.csv", data_set(24) + 12 * "99,7,0\n")  # one of the 24 is short
        self.write("run.toml", settings())
        said = self.start(self.on_ranks(2, "train", "run.toml", "--out", "out"))
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
        self.assertIn("\n1 sequence with fewer than five training events is left out\n1 sequence in which no time passes is left out\n19 events of these sequences are left out\n",
                      said.stdout + said.stderr)

    def test_client_without_sequences(self):
        self.write("train.csv", data_set(3))
        self.write("run.toml", settings())
        self.refused(2, "without a training sequence", "data.clients", "train.csv")

    def test_a_file_named_twice(self):
        self.write("train.csv", data_set(24))
        (self.folder / "again.csv").symlink_to("train.csv")
        self.write("run.toml", settings(data__train=["train.csv", "again.csv"]))
        self.refused(2, "again.csv", "is the same file as")

    def test_one_clients_file(self):
        for client in range(4):
            self.write(f"site{client}.csv", data_set(4, seed=client))
        self.write("run.toml", settings(data__train=[], data__client_files="site{client}.csv", data__clients=4))
        self.write("site3.csv", "sequence,time,type\n0,2,0\n0,1,0\n")
        self.refused(2, "site3.csv:3")
        (self.folder / "site2.csv").unlink()
        self.write("site3.csv", data_set(4))
        self.refused(2, "site2.csv")

    def on_two_disks(self, *arguments):
        """Two ranks whose current folders differ, as local disks of two nodes do: a path through /proc is each rank's own."""
        first, second = (["-n", "1", "--wdir", self.folder / name, FEDPP, "train", "run.toml", *arguments] for name in ("first", "second"))
        return self.start([MPIEXEC, *first, ":", *second])

    def test_nodes_with_other_files_of_the_same_names(self):
        rows = data_set(24).splitlines(keepends=True)
        changed = rows[:40] + [rows[40].rsplit(",", 1)[0] + f",{(int(rows[40].rsplit(',', 1)[1]) + 1) % 4}\n"] + rows[41:]
        for folder in ("first", "second"):
            self.write(f"{folder}/run.toml", settings(data__train=["/proc/self/cwd/train.csv"]))
            self.write(f"{folder}/train.csv", "".join(rows))
        for other in (rows[:-20], changed):
            self.write("second/train.csv", "".join(other))
            said = self.on_two_disks("--out", self.folder / "out")
            self.assertEqual(said.returncode, 2, said.stdout + said.stderr)
            self.assertIn("is not what rank 0 reads", said.stderr)
            self.assertFalse((self.folder / "out").exists())

    def test_nodes_without_a_common_folder_for_results(self):
        for folder in ("first", "second"):
            self.write(f"{folder}/run.toml", settings())
            self.write(f"{folder}/train.csv", data_set(24))
        (self.folder / "second/taken").mkdir()
        for out in ("out", "taken"):
            said = self.on_two_disks("--out", out)
            self.assertEqual(said.returncode, 2, said.stdout + said.stderr)
            self.assertIn(f"output.directory = {out}: this rank does not see the folder that rank 0 writes to", said.stderr)
            self.assertFalse((self.folder / "first" / out).exists())

    def test_too_many_mini_batches(self):
        self.deck(training__batch_points=0.0001)
        self.refused(2, "training.batch_points = 0.0001", "at most 4096", "take larger ones")
        self.deck(training__batch_points=1e-12)
        self.refused(2, "training.batch_points = 1e-12", "at most 4096")

    def test_import(self):
        self.write("bad.csv", "sequence,time,type\n0,2,0\n0,1,0\n")
        result = self.start([FEDPP, "import", "bad.csv", "--out", "x.h5"])
        self.assertEqual(result.returncode, 2)
        self.assertIn("bad.csv:3", result.stderr)
        self.write("run.toml", settings(data__train=["x.h5"]))
        self.write("x.h5", "not HDF5")
        self.refused(2, "x.h5")
        self.write("good.csv", data_set(24))
        self.start([FEDPP, "import", "good.csv", "--out", "x.h5"]).check_returncode()
        whole = (self.folder / "x.h5").read_bytes()
        (self.folder / "x.h5").write_bytes(whole[:1000] + bytes([whole[1000] ^ 1]) + whole[1001:])
        self.refused(2, "x.h5: refused: altered", "import it again")


if __name__ == "__main__":
    unittest.main(verbosity=2)
