"""When the next event comes: scores beside simple predictors, and what predict writes, on any number of ranks."""
import datetime
import random
import unittest

import numpy as np

from runs import POOLED, SameBits


class NextEvent(SameBits):
    def rows(self, path):
        lines = (self.folder / path).read_text().splitlines()
        names = lines[0].split(",")
        return [dict(zip(names, line.split(","))) for line in lines[1:]]

    def check(self, futures, **changes):
        self.deck(data__clients=3, data__partition="homogeneous", federation__participants=0, federation__rounds=2,
                  evaluation__next_event=True, **changes)
        for ranks in [1, 2]:
            out = f"ranks{ranks}"
            told = self.train(ranks, out).stdout
            self.assertIn("mean gap", told)
            predicted = self.start(self.on_ranks(ranks, "predict", out, "--next-events", "--futures", futures, "--horizon", 40))
            self.assertEqual(predicted.returncode, 0, predicted.stdout + predicted.stderr)
        one, two = self.result("ranks1"), self.result("ranks2")
        self.assertEqual(one["next_event"], two["next_event"])
        for split in ["validation", "test"]:
            table = one["next_event"][split]
            self.assertGreater(table["events"], 50)
            self.assertEqual(len(table["predictors"]), 5)
            for predictor in table["predictors"]:
                self.assertGreater(predictor["rmse"], predictor["mae"], predictor)
                self.assertGreater(predictor["mae"], 0)
        for name in ["next_events.csv", "futures.csv", "futures_summary.csv"]:
            self.assertEqual((self.folder / "ranks1" / name).read_bytes(), (self.folder / "ranks2" / name).read_bytes())
        self.assertEqual(list(self.folder.glob("ranks*/*.partial")), [])

        held = {}
        for line in (self.folder / "train.csv").read_text().splitlines()[1:]:
            sequence, time, _ = line.split(",")
            held[sequence] = float(time)
        next_events = self.rows("ranks1/next_events.csv")
        self.assertEqual(sorted(int(row["sequence"]) for row in next_events), list(range(24)))
        self.assertEqual([int(row["client"]) for row in next_events], sorted(int(row["client"]) for row in next_events))
        end, median = {}, {}
        for row in next_events:
            self.assertEqual(float(row["last_time"]), held[row["sequence"]])
            times = [float(row[key]) for key in ["observed_until", "q05", "q25", "q50", "q75", "q95"]]
            self.assertEqual(times, sorted(times))
            self.assertGreater(float(row["expected"]), times[0])
            end[row["sequence"]], median[row["sequence"]] = times[0], times[3]
        first, drawn = {}, {}
        for row in self.rows("ranks1/futures.csv"):
            drawn.setdefault(row["sequence"], np.zeros(futures, int))[int(row["future"])] += 1
            time, path = float(row["time"]), (row["sequence"], row["future"])
            self.assertGreater(time, end[row["sequence"]])
            self.assertLessEqual(time, end[row["sequence"]] + 40 + 1e-6)
            self.assertGreaterEqual(time, first.setdefault(path, time))
        summary = self.rows("ranks1/futures_summary.csv")
        self.assertEqual([row["sequence"] for row in summary], [row["sequence"] for row in next_events])
        for row in summary:
            counts = drawn.get(row["sequence"], np.zeros(futures, int))
            said = [float(row[name]) for name in ["futures", "mean", "q05", "q50", "q95", "empty"]]
            self.assertAlmostEqual(float(row["until"]), end[row["sequence"]] + 40, delta=1e-6)
            rank = lambda q: np.sort(counts)[int(np.ceil(q * futures)) - 1]
            np.testing.assert_allclose(said, [futures, counts.mean(), rank(0.05), rank(0.5), rank(0.95), (counts == 0).mean()])
        early = sum(time <= median[sequence] for (sequence, _), time in first.items())
        draws = 24 * futures
        self.assertLess(abs(early - draws / 2), 4 * np.sqrt(draws) / 2, "first events against their median")

    def test_lstm(self):
        self.check(20, model__encoder="lstm", model__layers=1, data__realisation="pooled")

    def test_deep_kernel(self):
        self.check(20, data__realisation="per-sequence")

    def test_a_client_without_a_gap_in_training_is_told_the_others_mean_gap(self):
        rng = random.Random(2)
        trained, held = [], []
        for c in range(3):
            times = [30, 85, 90] if c == 2 else sorted(rng.uniform(0, 100) for _ in range(40))
            self.write(f"site{c}.csv", "sequence,time,type\n" + "".join(f"0,{t},0\n" for t in times))
            self.write(f"windows{c}.csv", "sequence,start,end\n0,0,100\n")
            trained.append([b - a for a, b in zip(times, times[1:]) if b <= 60])
            held.append([b - a for a, b in zip(times, times[1:]) if b > 80])
        self.deck(data__train=[], data__client_files="site{client}.csv", data__windows=["windows{client}.csv"], data__clients=3, data__split_at="time",
                  federation__participants=0, federation__rounds=1, evaluation__next_event=True)
        self.train(2, "out")
        said = {p["name"]: p["mae"] for p in self.result("out")["next_event"]["test"]["predictors"]}
        for name, typical in [("mean gap", np.mean), ("median gap", np.median)]:
            guess = [typical(trained[0]), typical(trained[1]), np.mean(trained[0] + trained[1])]
            errors = np.concatenate([np.abs(np.array(gaps) - guess[c]) for c, gaps in enumerate(held)])
            self.assertAlmostEqual(said[name], errors.mean(), delta=1e-6 * errors.mean())

    def test_what_was_held_out_counts_for_the_time_after_it(self):
        rng = random.Random(3)
        self.deck(data__clients=3, data__partition="homogeneous", data__realisation="per-sequence", federation__participants=0, federation__rounds=1)
        text = "sequence,time,type\n"
        for sequence in range(6):
            time = 0.0
            for event in range(100):  # of which 60 train
                time += rng.expovariate(1 if event < 60 else 10)
                text += f"{sequence},{time},0\n"
        self.write("train.csv", text)
        self.train(1, "out")
        told = self.start(self.on_ranks(1, "predict", "out", "--next-events"))
        self.assertEqual(told.returncode, 0, told.stdout + told.stderr)
        gaps = [float(row["q50"]) - float(row["observed_until"]) for row in self.rows("out/next_events.csv")]
        self.assertEqual(len(gaps), 6)
        self.assertLess(max(gaps), 0.3, gaps)  # 0.07 at the last rate, 0.7 at that of training

    def test_futures_end_after_their_sequences(self):
        self.deck(data__clients=3, data__partition="homogeneous", federation__participants=0, federation__rounds=1)
        self.train(2, "out")
        predict = lambda until: self.start(self.on_ranks(2, "predict", "out", "--next-events", "--futures", 3, "--until", until))
        refused = predict(-1)
        self.assertEqual(refused.returncode, 2, refused.stdout + refused.stderr)
        self.assertIn("--until -1: no sequence ends before it", refused.stderr)
        self.assertEqual(list((self.folder / "out").glob("*.csv")), [])
        predicted = predict(200)
        self.assertEqual(predicted.returncode, 0, predicted.stderr)
        self.assertNotIn("no futures", predicted.stdout)
        other_seed = lambda seed: self.start(self.on_ranks(2, "predict", "out", "--futures", 3, "--until", 200, "--seed", seed))
        first = self.rows("out/futures.csv")
        self.assertEqual(other_seed(1).returncode, 0)
        self.assertEqual(self.rows("out/futures.csv"), first)  # federation.seed
        self.assertEqual(other_seed(7).returncode, 0)
        self.assertNotEqual(self.rows("out/futures.csv"), first)
        ends = sorted(float(row["observed_until"]) for row in self.rows("out/next_events.csv"))
        self.assertIn(f"{len(ends) - 5} sequences are observed until", predict((ends[4] + ends[5]) / 2).stdout)
        self.assertEqual(len(self.rows("out/futures_summary.csv")), 5)
        self.assertEqual(predict(ends[0] + 1e-6).returncode, 0)
        only, = self.rows("out/futures_summary.csv")  # no event comes so soon: no row in futures.csv
        self.assertEqual([only[name] for name in ["futures", "mean", "q05", "q50", "q95", "empty"]], ["3", "0", "0", "0", "0", "1"])
        self.assertEqual(float(only["until"]), ends[0] + 1e-6)

    def test_dates(self):
        """Of file times, whatever the clock and the origin of the model's; none where no year has four digits."""
        self.deck(data__clients=3, data__partition="homogeneous", federation__participants=0, federation__rounds=1, data__time_unit="week",
                  data__time_origin="1999-12-30T23:59:59", data__drop=True, data__drop_before=2.0)
        self.train(1, "out")
        predict = lambda *more: self.assertEqual(self.start(self.on_ranks(1, "predict", "out", "--next-events", *more)).returncode, 0)
        predict()
        origin = datetime.datetime(1999, 12, 30, 23, 59, 59)
        seconds = lambda date: (datetime.datetime.fromisoformat(date) - origin).total_seconds()
        for row in self.rows("out/next_events.csv"):
            for column in ["observed_until", "expected", "q05", "q25", "q50", "q75", "q95"]:
                self.assertAlmostEqual(seconds(row[f"{column}_date"]), 604800 * float(row[column]), delta=2)
        predict("--set", "data.time_origin=9999-12-31")
        self.assertEqual({row["expected_date"] for row in self.rows("out/next_events.csv")}, {""})
        predict("--set", "data.time_origin=")
        self.assertNotIn("date", str(self.rows("out/next_events.csv")[0]))

        ends = sorted(row["observed_until"] for row in self.rows("out/next_events.csv"))
        until = origin + datetime.timedelta(weeks=1 + max(map(float, ends)))
        futures = lambda end: self.start(self.on_ranks(2, "predict", "out", "--futures", 4, "--until", end))
        told = futures(until.isoformat())
        self.assertEqual(told.returncode, 0, told.stderr)
        drawn = self.rows("out/futures.csv")
        for row in drawn:
            self.assertAlmostEqual(seconds(row["date"]), 604800 * float(row["time"]), delta=2)
        self.assertEqual(futures((until - origin).total_seconds() / 604800).returncode, 0)
        self.assertEqual(self.rows("out/futures.csv"), drawn)
        self.assertGreater(len(drawn), 0)
        self.assertEqual({row["until_date"] for row in self.rows("out/futures_summary.csv")}, {until.isoformat()})
        early = futures("1990-01-01").stderr
        self.assertIn("--until 1990-01-01: no sequence ends before it (the first is observed until ", early)
        self.assertIn(self.date_of(origin, ends), early)
        unknown = self.start(self.on_ranks(2, "predict", "out", "--futures", 4, "--until", "2001-01-01", "--set", "data.time_origin="))
        self.assertEqual((unknown.returncode, unknown.stdout), (2, ""))
        self.assertIn("--until 2001-01-01: the run does not know the date of the file's time 0", unknown.stderr)

    @staticmethod
    def date_of(origin, weeks):
        """Of the earliest of these times, to the minute."""
        return (origin + datetime.timedelta(weeks=min(map(float, weeks)))).isoformat()[:len("2000-01-01T00:00")]

    def test_unix_microseconds_keep_their_digits(self):
        self.deck(data__clients=3, data__partition="homogeneous", federation__participants=0, federation__rounds=1)
        held, text = {}, "sequence,time,type\n"
        for line in (self.folder / "train.csv").read_text().splitlines()[1:]:
            sequence, time, kind = line.split(",")
            held[sequence] = 1_700_000_000_000_000 + int(float(time) * 1e6) + 7
            text += f"{sequence},{held[sequence]},{kind}\n"
        self.write("train.csv", text)
        self.train(1, "out")
        told = self.start(self.on_ranks(1, "predict", "out", "--next-events", "--futures", 3, "--horizon", 2e7))
        self.assertEqual(told.returncode, 0, told.stdout + told.stderr)
        self.assertEqual({row["sequence"]: row["last_time"] for row in self.rows("out/next_events.csv")},
                         {sequence: str(time) for sequence, time in held.items()})
        self.assertTrue(any(float(row["time"]) % 1000 for row in self.rows("out/futures.csv")))

    def test_types_cannot_be_drawn(self):
        self.deck(data__clients=2, data__partition="homogeneous", federation__participants=0, federation__rounds=1,
                  model__encoder="lstm", model__layers=1, model__type_embedding=2)
        self.train(1, "out")
        refused = self.start(self.on_ranks(1, "predict", "out", "--futures", 2, "--horizon", 1))
        self.assertEqual(refused.returncode, 2, refused.stdout + refused.stderr)
        self.assertIn("model.type_embedding = 2", refused.stderr)
        self.assertFalse((self.folder / "out" / "futures.csv").exists())
        allowed = self.start(self.on_ranks(1, "predict", "out", "--next-events"))
        self.assertEqual(allowed.returncode, 0, allowed.stdout + allowed.stderr)

    def test_other_protocols_are_refused(self):
        self.deck(**POOLED, federation__rounds=1)
        self.train(1, "out")
        refused = self.start(self.on_ranks(1, "predict", "out", "--next-events"))
        self.assertEqual(refused.returncode, 2, refused.stdout + refused.stderr)
        self.assertIn('data.protocol = "population"', refused.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
