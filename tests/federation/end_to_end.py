"""Whole runs from outside: the same bits on any number of ranks and after any restart, checkpoints, bad data, many clients.

Needs the environment of tests/federation/CMakeLists.txt: FEDPP_EXECUTABLE, FEDPP_MPIEXEC.
"""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import program
from program import FEDPP

REQUEUE = 75  # stopped by a signal after a checkpoint


def event_rows(rng, sequence, types, events, span):
    """One sequence with a rhythm, bursts and ties (times on a grid of a hundredth)."""
    times = []
    while len(times) < events:
        t = span * rng.random()
        if rng.random() < 0.3 + 0.7 * (t / span - 0.4) ** 2 * 4:
            times += [round(t, 2)] * (2 if rng.random() < 0.2 else 1)
    times = sorted(times[:events])
    return "".join(f"{sequence},{t:.2f},{rng.choice(types)}\n" for t in times)


def data_set(sequences, types=(0, 1, 2, 3), fewest=14, most=30, seed=5, span=50.0, single_type=False):
    rng = random.Random(seed)
    text = "sequence,time,type\n"
    for s in range(sequences):
        own = [types[s % len(types)]] if single_type else types
        text += event_rows(rng, s, own, rng.randint(fewest, most), span)
    return text


def settings(**changes):
    """Configuration text; keys are section__key."""
    values = {
        "data__train": ["train.csv"], "data__clients": 6, "data__types_per_client": 3, "model__width": 5, "model__inducing": 7,
        "training__epochs": 2, "training__samples": 2, "training__learning_rate": 0.05, "federation__rounds": 4,
        "federation__participants": 4, "evaluation__samples": 3, "evaluation__e_steps": 5, "evaluation__curve_points": 20,
        "evaluation__trivial_models": False, "output__checkpoint_every": 1, "output__checkpoints_kept": 3,
    }
    if changes.get("data__partition") == "homogeneous" or "data__client_files" in changes:
        del values["data__types_per_client"]  # has no effect
    if changes.get("model__encoder") == "rbf":
        del values["model__width"]
    values.update(changes)
    sections = {}
    for name, value in values.items():
        section, key = name.split("__")
        sections.setdefault(section, []).append(f"{key} = {json.dumps(value)}")
    return "".join(f"[{section}]\n" + "\n".join(lines) + "\n" for section, lines in sections.items())


PER_SEQUENCE = {"data__realisation": "per-sequence", "training__batch_realisations": 2, "training__batch_points": 0.7}
HISTORY = {"data__realisation": "pooled", "model__layers": 2, "model__type_embedding": 2, "training__batch_points": 0.6}
POOLED = {"data__protocol": "population", "data__realisation": "pooled", "data__test": ["test.csv"],
          "data__types_per_client": 2, "training__batch_points": 0.6}


class Run(program.Case):
    """With data and run.toml."""

    def deck(self, **changes):
        single = "data__protocol" in changes
        self.write("train.csv", data_set(24, single_type=single))
        self.write("test.csv", data_set(12, seed=9, single_type=single))
        self.write("run.toml", settings(**changes))

    def train(self, ranks, out, *arguments, code=0):
        result = self.start(self.on_ranks(ranks, "train", "run.toml", "--out", out, *arguments))
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def result(self, out):
        return json.loads((self.folder / out / "result.json").read_text())

    def checkpoints(self, out):
        return sorted(path.name for path in (self.folder / out).glob("checkpoint-*.h5"))

    def newest(self, out):
        return self.folder / out / self.checkpoints(out)[-1]


def outcome(result):
    """What must have the same bits: everything computed, nothing measured."""
    kept = {key: result[key] for key in ["theta", "scores", "calibration", "best_round", "state"]}
    kept["last_round"] = result.get("last_round")
    kept["rounds"] = [{k: v for k, v in r.items() if k not in ("seconds", "bytes_rank_0", "imbalance")} for r in result["rounds"]]
    return kept


def arrays(path):
    """Name -> bytes of all numeric datasets and attributes."""
    found = {}

    def visit(name, item):
        for key, value in item.attrs.items():
            found[f"{name}@{key}"] = np.asarray(value).tobytes()
        if isinstance(item, h5py.Dataset) and item.dtype.kind in "fiu":
            found[name] = item[()].tobytes()

    with h5py.File(path, "r") as file:
        file.visititems(visit)
    return found


class SameBits(Run):
    """Base: equality of two finished runs."""

    def assert_same(self, a, b, curves=True):
        self.assertEqual(json.dumps(outcome(self.result(a))), json.dumps(outcome(self.result(b))), f"{a} and {b}")
        files = [("checkpoint", self.newest(a), self.newest(b))]
        if curves:
            files.append(("result.h5", self.folder / a / "result.h5", self.folder / b / "result.h5"))
        for what, one, other in files:
            first, second = arrays(one), arrays(other)
            self.assertGreater(len(first), 10, what)
            self.assertEqual(first.keys(), second.keys(), what)
            self.assertEqual([name for name in first if first[name] != second[name]], [], f"{what} of {a} and {b}")


# Numbers of ranks that must give the same bits; the last leaves ranks without a client.
RANKS = [int(ranks) for ranks in os.environ.get("FEDPP_TEST_RANKS", "1 2 4 8").split()]


class RanksBase(SameBits):
    def same_for_all_ranks(self, **changes):
        self.deck(**changes)
        for ranks in RANKS:
            self.train(ranks, f"ranks{ranks}")
            self.assertEqual(self.result(f"ranks{ranks}")["ranks"], ranks)
        for ranks in RANKS[1:]:
            self.assert_same("ranks1", f"ranks{ranks}")
        rounds = self.result("ranks1")["rounds"]
        self.assertEqual(len(rounds), 4)
        # The comparison means something: the rounds moved theta, and every number is there.
        self.assertNotEqual(rounds[0]["elbo"], rounds[-1]["elbo"])
        self.assertNotEqual(rounds[0]["elbo_gain"], rounds[-1]["elbo_gain"])
        self.assertTrue(all(r["validation"] is not None and not r["left_out"] for r in rounds))


class RanksPerSequence(RanksBase):
    def test_kl(self):
        self.same_for_all_ranks(aggregation__divergence="kl", aggregation__weights="events", **PER_SEQUENCE)

    def test_w2_small_blocks(self):
        self.same_for_all_ranks(aggregation__divergence="w2", backend__workspace_mb=0.01, **PER_SEQUENCE)

    def test_fedavg_team_kernels(self):
        self.same_for_all_ranks(aggregation__divergence="fedavg", backend__dense="team", **PER_SEQUENCE)

    def test_mmd(self):
        self.same_for_all_ranks(aggregation__divergence="mmd", federation__client_start="overwrite", **PER_SEQUENCE)

    def test_mixed_precision(self):
        self.same_for_all_ranks(training__precision="mixed", **PER_SEQUENCE)


class RanksPooled(RanksBase):
    def test_kl(self):
        self.same_for_all_ranks(aggregation__divergence="kl", federation__straggling_period=2, **POOLED)

    def test_w2(self):
        self.same_for_all_ranks(aggregation__divergence="w2", model__tempering="dispersion", **POOLED)

    def test_mmd(self):
        self.same_for_all_ranks(aggregation__divergence="mmd", model__periods=[7.0, 1.5], **POOLED)

    def test_local(self):
        self.same_for_all_ranks(federation__mode="local", model__encoder="rbf", **POOLED)


class RanksHistory(RanksBase):
    def test_lstm(self):
        self.same_for_all_ranks(model__encoder="lstm", **HISTORY)

    def test_decay(self):
        self.same_for_all_ranks(**{**HISTORY, "model__encoder": "decay", "model__type_embedding": 0})

    def test_attention_per_sequence_small_blocks(self):
        self.same_for_all_ranks(model__encoder="attention", model__type_embedding=3, backend__workspace_mb=0.01, **PER_SEQUENCE)


class RanksCommunities(RanksBase):
    def same_with_communities(self, **changes):
        self.same_for_all_ranks(aggregation__scope="structural-entropy", **changes)
        rounds = self.result("ranks1")["rounds"]
        for r in rounds:
            self.assertEqual(len(r["communities"]), 6)
            for client in r["participants"]:
                self.assertGreaterEqual(r["communities"][client], 0)
            self.assertGreaterEqual(r["structural_entropy"], 0)
        self.assertGreater(max(rounds[-1]["communities"]), 0, "all clients alike: the test tests little")
        return rounds

    def test_optimised_starts(self):
        rounds = self.same_with_communities(federation__client_start="optimised", aggregation__keep_uploads=1, **PER_SEQUENCE)
        lambdas = [x for r in rounds for x in r["lambda"]]
        self.assertIsNone(lambdas[0])  # nobody has anything to mix in its first round
        chosen = [x for x in lambdas if x is not None]
        self.assertTrue(all(0.6 <= x <= 1 for x in chosen))
        self.assertGreater(len(set(chosen)), 1)
        self.assertTrue(any(x == -1 for r in rounds for x in r["communities"]), "no upload was ever too old")

    def test_per_sequence_w2_mixed(self):
        rounds = self.same_with_communities(aggregation__divergence="w2", aggregation__similarity="centred-gram",
                                            federation__client_start="mix", federation__mix_lambda=0.7,
                                            backend__workspace_mb=0.01, **PER_SEQUENCE)
        self.assertEqual({x for r in rounds for x in r["lambda"] if x is not None}, {0.7})

    def test_history_fedavg_overwrite(self):
        self.same_with_communities(model__encoder="lstm", aggregation__divergence="fedavg", federation__client_start="overwrite",
                                   aggregation__similarity="cosine-of-means", **HISTORY)

    def test_pooled_mmd(self):
        self.same_with_communities(aggregation__divergence="mmd", federation__client_start="optimised", **POOLED)


class Graph(Run):
    def test_the_last_rounds_graph_is_in_the_results(self):
        self.deck(federation__participants=0, aggregation__scope="structural-entropy", **PER_SEQUENCE)
        self.train(2, "out")
        with h5py.File(self.folder / "out/result.h5") as file:
            clients, community, weights = (file["graph"][name][()] for name in ("clients", "community", "weights"))
        self.assertEqual(clients.tolist(), list(range(6)))
        self.assertEqual(community.tolist(), self.result("out")["rounds"][-1]["communities"])
        self.assertTrue((weights == weights.T).all() and (np.diag(weights) == 0).all() and (weights > 0).any())


class RanksAlignment(RanksBase):
    def same_with_alignment(self, **changes):
        self.same_for_all_ranks(training__alignment=1, **changes)
        rounds = self.result("ranks1")["rounds"]
        self.assertTrue(all(r["alignment"] > 0 for r in rounds), "the term is never there: the test tests little")

    def test_per_sequence_communities(self):
        self.same_with_alignment(aggregation__scope="structural-entropy", backend__workspace_mb=0.01, **PER_SEQUENCE)

    def test_history_optimised_starts(self):
        self.same_with_alignment(model__encoder="lstm", federation__client_start="optimised",
                                 aggregation__scope="structural-entropy", **HISTORY)

    def test_pooled_overwrite(self):
        self.same_with_alignment(federation__client_start="overwrite", data__types_per_client=3, **{
            key: value for key, value in POOLED.items() if key != "data__types_per_client"})


class RanksStrategies(RanksBase):
    def test_ditto(self):
        self.same_for_all_ranks(federation__mode="ditto", aggregation__divergence="fedavg", **PER_SEQUENCE)
        self.assertEqual(self.result("ranks1")["scores"]["models"][0]["name"], "ditto")

    def test_fedavg_history(self):
        self.same_for_all_ranks(federation__mode="fedavg", aggregation__divergence="fedavg", model__encoder="lstm", **HISTORY)

    def test_fedala(self):
        self.same_for_all_ranks(federation__mode="fedala", aggregation__divergence="fedavg", backend__workspace_mb=0.05, **PER_SEQUENCE)
        with h5py.File(self.newest("ranks1")) as file:
            mixing = np.concatenate([group["last/mixing"][()] for group in file["clients"].values() if "mixing" in group["last"]])
        self.assertTrue(0 <= mixing.min() < 0.99)
        self.assertLessEqual(mixing.max(), 1)

    def test_apple_history(self):
        self.same_for_all_ranks(federation__mode="apple", aggregation__divergence="fedavg", model__encoder="lstm", **HISTORY)
        with h5py.File(self.newest("ranks1")) as file:
            states = [group["last"] for group in file["clients"].values() if "mixing" in group["last"]]
            self.assertTrue(all(state["mixing"].shape == (6,) for state in states))
            self.assertTrue(all((state["core_mean"][()] != state["weights_mean"][()]).any() for state in states))

    def test_similarity_graph(self):
        self.same_for_all_ranks(aggregation__scope="similarity-graph", aggregation__divergence="fedavg", **PER_SEQUENCE)
        for r in self.result("ranks1")["rounds"]:
            self.assertLessEqual(max(r["communities"]), 0)


class RanksHostile(RanksBase):
    def same_with_hostile_clients(self, **changes):
        self.same_for_all_ranks(attack__share=0.33, **changes)
        result = self.result("ranks1")
        honest, hostile = result["honest"], result["honest"]["hostile_clients"]
        self.assertEqual(len(hostile), 2)
        own = [c for c in result["scores"]["models"][0]["per_client"] if c["client"] not in hostile]
        self.assertAlmostEqual(honest["events"], sum(c["events"] for c in own))
        self.assertEqual([c["client"] for c in honest["models"][0]["per_client"]], [c["client"] for c in own])
        self.assertAlmostEqual(honest["headline"], sum(c["headline"] * c["events"] for c in own) / honest["events"])

    def test_noise_median(self):
        self.same_with_hostile_clients(attack__kind="noise", attack__strength=5.0, aggregation__estimator="median", **PER_SEQUENCE)

    def test_replaced_events_trimmed_mean_history(self):
        self.same_with_hostile_clients(attack__kind="replaced-events", attack__strength=0.5, aggregation__estimator="trimmed-mean",
                                       aggregation__divergence="w2", model__encoder="lstm", **HISTORY)


def kill_with_ranks(process):
    """The ranks first: without mpirun they would go on for a while and write into the folder."""
    for rank in pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
        os.kill(int(rank), signal.SIGKILL)
    process.kill()


class Resume(SameBits):
    def test_other_rounds_and_ranks(self):
        self.deck(federation__validate_every=3, aggregation__divergence="mmd", federation__rounds=7, **PER_SEQUENCE)
        self.train(2, "whole")
        self.train(2, "parts", "--set", "federation.rounds=2")  # validates round 2 as its last: seen in rounds, not in theta
        self.train(1, "parts", "--resume", "--set", "federation.rounds=5")
        self.train(4, "parts", "--resume")
        whole, parts = self.result("whole"), self.result("parts")
        self.assertEqual(whole["theta"], parts["theta"])
        self.assertEqual([r["elbo"] for r in whole["rounds"]], [r["elbo"] for r in parts["rounds"]])
        self.assertEqual(whole["rounds"][-1]["validation"], parts["rounds"][-1]["validation"])
        self.assertEqual(whole["rounds"][2]["validation"], parts["rounds"][2]["validation"])

    def test_history_encoder(self):
        self.deck(model__encoder="lstm", federation__validate_every=2, **HISTORY)
        self.train(2, "whole")
        self.train(2, "parts", "--set", "federation.rounds=2")
        self.train(1, "parts", "--resume")
        self.assertEqual(self.result("whole")["theta"], self.result("parts")["theta"])
        self.assertEqual(self.result("whole")["scores"]["models"], self.result("parts")["scores"]["models"])

    def test_communities_and_optimised_starts(self):
        self.deck(federation__rounds=7, aggregation__scope="structural-entropy", federation__client_start="optimised",
                  aggregation__keep_uploads=2, **PER_SEQUENCE)
        self.train(2, "whole")
        self.train(2, "parts", "--set", "federation.rounds=3")
        self.train(1, "parts", "--resume", "--set", "federation.rounds=5")
        self.train(4, "parts", "--resume")
        self.assert_same("whole", "parts")
        for state in ["best", "last"]:  # every client with its own prior, read back
            for out in ["whole", "parts"]:
                self.assertEqual(self.start(self.on_ranks(2, "evaluate", out, "--state", state)).returncode, 0)
            one, other = (json.loads((self.folder / out / "evaluation.json").read_text()) for out in ["whole", "parts"])
            self.assertEqual(one["scores"], other["scores"])
            if state == "best":
                self.assertEqual(one["scores"], self.result("whole")["scores"])

    def test_alignment(self):
        self.deck(training__alignment=1, federation__rounds=5, aggregation__scope="structural-entropy", **PER_SEQUENCE)
        self.train(2, "whole")
        self.train(2, "parts", "--set", "federation.rounds=2")
        self.train(1, "parts", "--resume", "--set", "federation.rounds=4")
        self.train(4, "parts", "--resume")
        self.assert_same("whole", "parts")

    def test_strategies_that_weigh_models(self):
        for mode in ["fedala", "apple"]:
            with self.subTest(mode):
                self.deck(federation__rounds=5, federation__mode=mode, aggregation__divergence="fedavg", **PER_SEQUENCE)
                whole, parts = f"{mode}-whole", f"{mode}-parts"
                self.train(2, whole)
                self.train(2, parts, "--set", "federation.rounds=2")
                self.train(1, parts, "--resume", "--set", "federation.rounds=3")
                self.train(4, parts, "--resume")
                self.assert_same(whole, parts)

    def stopped_in_the_middle(self, ranks, out, stop):
        """Starts a training of many rounds, waits for its second checkpoint, calls stop(process)."""
        with open(self.folder / "log", "w") as log:
            process = subprocess.Popen(self.on_ranks(ranks, "train", "run.toml", "--out", out), cwd=self.folder, stdout=log,
                                       stderr=log, start_new_session=True)
            deadline = time.time() + 120
            while time.time() < deadline and process.poll() is None:
                if (self.folder / out).is_dir() and len(self.checkpoints(out)) >= 2:
                    break
                time.sleep(0.01)
            self.assertIsNone(process.poll(), "the run ended before it could be stopped:\n" + (self.folder / "log").read_text())
            stop(process)
            process.wait(timeout=120)
        self.assertFalse((self.folder / out / "result.json").exists(), "the run ended before it could be stopped")
        return process.returncode

    def test_killed(self):
        self.deck(federation__rounds=60, federation__validate_every=4, output__checkpoint_every=3, **PER_SEQUENCE)
        self.train(2, "whole")
        self.assertNotEqual(self.stopped_in_the_middle(2, "parts", kill_with_ranks), 0)
        self.train(4, "parts", "--resume")
        self.assert_same("whole", "parts")

    def test_signal_writes_a_checkpoint_and_asks_for_requeueing(self):
        self.deck(federation__rounds=60, output__checkpoint_every=7, federation__straggling_period=3, **POOLED)
        self.train(2, "whole")
        code = self.stopped_in_the_middle(2, "parts", lambda process: process.send_signal(signal.SIGUSR1))
        self.assertEqual(code, REQUEUE, (self.folder / "log").read_text())
        self.assertIn("--resume", (self.folder / "log").read_text())
        self.train(1, "parts", "--resume")
        self.assert_same("whole", "parts")

    def test_best_round_and_patience_survive(self):
        self.deck(federation__rounds=12, federation__patience=1, training__learning_rate=1.0, **PER_SEQUENCE)
        self.train(1, "whole")
        self.assertLess(len(self.result("whole")["rounds"]), 12, "patience ended nothing: the test tests nothing")
        done = len(self.result("whole")["rounds"])
        self.train(1, "parts", "--set", f"federation.rounds={done - 1}")
        self.train(2, "parts", "--resume")
        self.assert_same("whole", "parts")


class Checkpoints(SameBits):
    def setUp(self):
        super().setUp()
        self.deck(federation__rounds=3, **PER_SEQUENCE)
        self.train(1, "out")

    def contents(self, out):
        return {path.name: path.read_bytes() for path in (self.folder / out).iterdir() if path.name != "train.log"}

    def refused(self, *words, ranks=2, arguments=()):
        """--resume ends with code 2, one message with these words, and the folder as it was."""
        before = self.contents("out")
        result = self.train(ranks, "out", "--resume", "--set", "federation.rounds=5", *arguments, code=2)
        for word in words:
            self.assertIn(word, result.stderr)
        self.assertEqual(result.stderr.count("fedpp: error"), 1, result.stderr)
        self.assertEqual(before, self.contents("out"))

    def test_damaged(self):
        newest = self.newest("out")
        intact = newest.read_bytes()
        rng = random.Random(3)
        damages = {"truncated": intact[: len(intact) * 2 // 3], "header only": intact[:512], "empty": b"", "longer": intact + b"\0",
                   "foreign": b"sequence,time,type\n" * 200, "not sealed": b"\0" * 512 + intact[512:]}
        for k in range(3):
            at = rng.randrange(len(intact))
            damages[f"bit flipped at {at}"] = intact[:at] + bytes([intact[at] ^ (1 << k)]) + intact[at + 1:]
        for what, content in damages.items():
            with self.subTest(what):
                newest.write_bytes(content)
                self.refused(newest.name, ranks=1 if "bit" in what else 2)

    def test_previous_one_instead(self):
        self.train(1, "whole", "--set", "federation.rounds=5")
        newest = self.newest("out")
        newest.write_bytes(newest.read_bytes()[:-1])
        previous = self.checkpoints("out")[-2]
        self.refused(newest.name, previous)  # the remedy names it
        self.train(2, "out", "--resume", "--checkpoint", f"out/{previous}", "--set", "federation.rounds=5")
        self.assert_same("whole", "out")

    def test_missing(self):
        self.refused("nowhere.h5", arguments=["--checkpoint", "nowhere.h5"])
        result = self.train(2, "empty", "--resume", code=2)
        self.assertIn("holds no checkpoint", result.stderr)
        self.assertFalse((self.folder / "empty").exists())

    def test_fewer_rounds_than_done(self):
        told = self.train(2, "out", "--resume", "--set", "federation.rounds=2", code=2).stderr
        self.assertIn("has done 3", told)
        self.assertEqual(told.count("has done 3"), 1, told)
        self.assertNotIn("MPI_ABORT", told)

    def test_wrong_configuration(self):
        self.refused("model.inducing = 9", "checkpoint: 7", self.newest("out").name, arguments=["--set", "model.inducing=9"])
        self.refused("federation.seed", "--accept-changes", arguments=["--set", "federation.seed=2"])
        told = self.train(1, "out", "--resume", "--set", "model.encoder=rbf", code=2).stderr
        self.assertIn("under another model.encoder its weights have no meaning", told)
        self.assertNotIn("--accept-changes", told)
        told = self.start(self.on_ranks(1, "evaluate", "out", "--set", "federation.seed=2"))
        self.assertEqual(told.returncode, 2)
        self.assertIn("evaluated as it was trained", told.stderr)
        self.assertNotIn("--resume", told.stderr)

    def test_wrong_data(self):
        self.write("train.csv", data_set(23))
        self.refused(self.newest("out").name)

    def test_altered_data(self):
        data = (self.folder / "train.csv").read_text()
        line = next(row for row in data.splitlines() if row.startswith("7,"))  # its first event: the window starts earlier
        sequence, time, kind = line.split(",")
        self.write("train.csv", data.replace(line, f"{sequence},{float(time) - 0.125},{kind}", 1))
        self.refused("not those that", self.newest("out").name, "--accept-changes", "adapt --continue")
        evaluated = self.start(self.on_ranks(2, "evaluate", "out"))
        self.assertEqual(evaluated.returncode, 2, evaluated.stderr)
        self.assertIn("not those that", evaluated.stderr)
        self.train(2, "out", "--resume", "--accept-changes", "--set", "federation.rounds=5")
        self.assertGreater(self.result("out")["best_round"], 3, "scores of other data took part in the choice")

    def test_second_training_into_the_folder(self):
        before = self.contents("out")
        result = self.train(2, "out", code=2)
        self.assertIn("--resume", result.stderr)
        self.assertIn("--out", result.stderr)
        self.assertEqual(before, self.contents("out"))

    def test_evaluate_and_predict_from_the_folder(self):
        self.assertEqual(self.start(self.on_ranks(2, "evaluate", "out")).returncode, 0)
        again = json.loads((self.folder / "out" / "evaluation.json").read_text())
        self.assertEqual(again["scores"], self.result("out")["scores"])
        self.assertEqual(self.start(self.on_ranks(2, "predict", "out", "--clients", "1,4")).returncode, 0)
        with h5py.File(self.folder / "out" / "prediction.h5") as file, h5py.File(self.folder / "out" / "result.h5") as result:
            self.assertEqual(sorted(file["curves"]), ["client_000001", "client_000004"])
            for name in ["time", "lower", "upper"]:
                self.assertEqual(file[f"curves/client_000001/{name}"][()].tobytes(),
                                 result[f"curves/client_000001/{name}"][()].tobytes())

    def test_clients_are_named_by_number_range_or_all(self):
        for names, drawn in [("1-3,5", [1, 2, 3, 5]), ("all", range(6))]:
            self.assertEqual(self.start(self.on_ranks(2, "predict", "out", "--clients", names)).returncode, 0)
            with h5py.File(self.folder / "out" / "prediction.h5") as file:
                self.assertEqual(sorted(file["curves"]), [f"client_{c:06d}" for c in drawn])
        for names, said in [("2-6", "there are clients 0 to 5"), ("3-1", "name clients by number"), ("two", "name clients by number"),
                            ("-1", "name clients by number"), ("1-", "name clients by number")]:
            refused = self.start(self.on_ranks(1, "predict", "out", f"--clients={names}"))
            self.assertEqual(refused.returncode, 2)
            self.assertIn(said, refused.stderr)

    def test_a_result_that_cannot_be_written_is_refused_before_the_work(self):
        (self.folder / "folder").mkdir()
        before = sorted(self.folder.rglob("*"))
        self.newest("out").write_bytes(b"")  # the work would begin by refusing this
        for command, name in [("evaluate", "x.json"), ("predict", "x.h5")]:
            for target in [f"nowhere/{name}", "folder"]:
                result = self.start(self.on_ranks(2, command, "out", "--out", target))
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn(f"fedpp: error: {target}: ", result.stderr)
        self.assertEqual(sorted(self.folder.rglob("*")), before)

    def test_results_replace_only_their_own_kind(self):
        os.link(self.folder / "train.csv", self.folder / "train.json")
        os.mkfifo(self.folder / "pipe.json")
        (self.folder / "link.json").symlink_to("elsewhere.json")
        before = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        newest = f"out/{self.newest('out').name}"
        for command, target, reason in [
                ("evaluate", "out/result.json", "'fedpp train' wrote it"), ("evaluate", newest, "must end in .json"),
                ("evaluate", "train.json", "is read here"), ("evaluate", "pipe.json", "is a device, pipe or socket"),
                ("evaluate", "link.json", "is a symbolic link"), ("predict", newest, "'fedpp train' wrote it"),
                ("predict", "out/result.h5", "'fedpp train' wrote it"), ("predict", "train.csv", "must end in .h5")]:
            with self.subTest(f"{command} --out {target}"):
                result = self.start(self.on_ranks(1, command, "out", "--out", target))
                self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
                self.assertIn(f"fedpp: error: {target}: ", result.stderr)
                self.assertIn(reason, result.stderr)
        self.assertEqual({path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}, before)
        self.assertTrue((self.folder / "pipe.json").is_fifo())
        # The tables go where the curves go.
        result = self.start(self.on_ranks(1, "predict", "out", "--next-events", "--out", "curves.h5"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((self.folder / "curves.next_events.csv").is_file())
        self.assertFalse((self.folder / "out" / "next_events.csv").exists())


class BadData(Run):
    FAULTS = {
        "unsorted": ("0,1,0\n0,0.5,0\n", ":3"), "not finite": ("0,1,0\n0,nan,0\n", ":3"), "negative type": ("0,1,-1\n", ":2"),
        "no number": ("0,1,0\n0,two,0\n", ":3"), "too few columns": ("0,1,0\n0,2,0\n0,3\n", ":4"),
        "torn sequence": ("0,1,0\n1,1,0\n0,2,0\n", ":4"), "no time passes": ("".join(f"{s},1,0\n{s},1,0\n" for s in range(6)), "no time passes"),
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


class ManyClients(Run):
    def bytes_of_last_round(self, out):
        return self.result(out)["rounds"][-1]["bytes_rank_0"]

    def test_200_clients_on_8_ranks(self):
        self.write("train.csv", data_set(200, fewest=16, most=18))
        self.write("run.toml", settings(data__clients=200, data__types_per_client=4, federation__rounds=2, federation__participants=20, training__samples=1,
                                        model__inducing=4, model__width=3, evaluation__samples=1, training__epochs=1))
        self.train(8, "many")
        self.assertEqual(len(self.result("many")["scores"]["models"][0]["per_client"]), 200)
        self.assertEqual([len(set(r["participants"])) for r in self.result("many")["rounds"]], [20, 20])
        self.train(8, "few", "--set", "data.clients=16", "--set", "federation.participants=16")
        self.train(8, "more_participants", "--set", "federation.participants=160")
        self.assertEqual(self.bytes_of_last_round("many"), self.bytes_of_last_round("few"))
        self.assertEqual(self.bytes_of_last_round("many"), self.bytes_of_last_round("more_participants"))
        self.assertGreater(self.bytes_of_last_round("many"), 0)


class Threads(SameBits):
    """One process that is given two cores at most; backends without threads have nothing to say."""

    def said(self, threads, cores, **environment):
        self.deck(federation__rounds=1)
        result = subprocess.run([FEDPP, "train", "run.toml", "--out", "out", "--auto-resume"], cwd=self.folder, text=True, capture_output=True,
                                env={**os.environ, "OMP_NUM_THREADS": str(threads), **environment}, preexec_fn=lambda: os.sched_setaffinity(0, cores))
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_more_than_cores_are_said(self):
        allowed = sorted(os.sched_getaffinity(0))
        said = self.said(3, allowed[:1])
        crowded = f"1 of 1 ranks with more threads than cores, which then wait for each other (rank 0: 3 threads, cores {allowed[0]})"
        self.assertEqual(crowded in said, "3 threads" in self.result("out")["backend"], said)
        if len(allowed) > 1:  # bound, the main thread has one core, and the process two
            self.assertNotIn("more threads than cores", self.said(2, allowed[:2], OMP_PROC_BIND="spread", OMP_PLACES="threads"))


class Settings(SameBits):
    def test_one_file_a_client_equals_the_common_file(self):
        self.write("run.toml", settings(data__partition="homogeneous", data__clients=3, federation__participants=2))
        rows = [data_set(5, seed=client).split("\n", 1) for client in range(3)]
        for client, (header, text) in enumerate(rows):
            self.write(f"site{client}.csv", header + "\n" + text)
        # A common file of which every client holds everything (not dealt) is one client's own file thrice.
        self.write("train.csv", rows[1][0] + "\n" + rows[1][1])
        for client in range(3):
            self.write(f"copy{client}.csv", rows[1][0] + "\n" + rows[1][1])
        self.train(2, "common", "--set", "data.deal=false")
        self.train(2, "own", "--set", "data.train=[]", "--set", "data.client_files=copy{client}.csv")
        self.assert_same("common", "own")
        # Different files: every client has its own events, whoever owns it.
        self.train(1, "one", "--set", "data.train=[]", "--set", "data.client_files=site{client}.csv")
        self.train(3, "three", "--set", "data.train=[]", "--set", "data.client_files=site{client}.csv")
        self.assert_same("one", "three")
        self.assertNotEqual(self.result("one")["theta"], self.result("own")["theta"])

    def test_one_file_a_client_with_test_files_and_windows(self):
        for client in range(3):
            self.write(f"site{client}.csv", data_set(6, seed=client))
            self.write(f"test{client}.csv", data_set(3, seed=10 + client))
            for part in ["site", "test"]:
                self.write(f"{part}{client}-windows.csv", "sequence,start,end\n" + "".join(f"{s},0,50\n" for s in range(6 if part == "site" else 3)))
        self.write("run.toml", settings(data__train=[], data__client_files="site{client}.csv", data__test=["test{client}.csv"],
                                        data__windows=["site{client}-windows.csv", "test{client}-windows.csv"],
                                        data__protocol="population", data__realisation="pooled", data__clients=3,
                                        federation__participants=2))
        self.train(1, "one")
        self.train(2, "two")
        self.assert_same("one", "two")

    def test_local_mode_exchanges_nothing(self):
        self.deck(federation__mode="local", federation__participants=0, **PER_SEQUENCE)
        self.train(2, "all")
        start = self.result("all")["theta"]
        self.train(2, "again", "--set", "federation.rounds=1")
        self.assertEqual(start, self.result("again")["theta"])  # theta stays the prior that everybody started from
        self.assertEqual(self.result("all")["scores"]["models"][0]["name"], "local only")

    def test_windows_tables(self):
        self.write("train.csv", data_set(24))
        rows = "".join(f"{s},-10,{20 + s % 3}\n{s},25,60\n" for s in range(24)) + "99,-10,60\n"
        self.write("windows.csv", "sequence,start,end\n" + rows)
        self.write("run.toml", settings(data__windows=["windows.csv"]))
        outside = sum(20 + int(s) % 3 < float(time) < 25 for s, time, _ in
                      (row.split(",") for row in (self.folder / "train.csv").read_text().splitlines()[1:]))
        imported = self.start([FEDPP, "import", "train.csv", "--windows", "windows.csv", "--out", "train.h5"]).stdout
        self.assertIn(f"; {outside} of them outside the windows", imported)
        told = self.train(2, "all_types", "--set", "data.partition=homogeneous").stdout
        self.assertIn(f"\n{outside} events outside the windows are left out\n", told)
        told = self.train(2, "types", "--set", "data.clients=1", "--set", "federation.participants=0").stdout
        self.assertIn("types of events that no client sees: 1, with ", told)
        self.train(2, "windows")
        self.train(2, "none", "--set", "data.windows=[]")
        self.assertNotEqual(self.result("windows")["theta"], self.result("none")["theta"])
        # All of observed time on both sides of the events changes the rate; a window that is the whole span does not,
        # but for the first event, which is conditioned on only where no window says when observation began.
        first = self.result("windows")["scores"]["models"][0]
        self.assertTrue(np.isfinite(first["headline"]))

    def test_straggling_period(self):
        self.deck(federation__straggling_period=2, **PER_SEQUENCE)
        self.train(2, "out")
        groups = [r["participants"] for r in self.result("out")["rounds"]]
        self.assertEqual(groups[0], groups[1])
        self.assertEqual(groups[2], groups[3])
        self.assertNotEqual(groups[0], groups[2])

    def test_uploads_that_are_not_finite_are_left_out_and_the_run_goes_on(self):
        for mode in ["federated", "local"]:
            with self.subTest(mode):
                # One Adam step of this size leaves nothing finite.
                self.deck(training__learning_rate=1e308, training__epochs=1, federation__mode=mode, training__beta1=0.0,
                          training__sd_map="exp", federation__rounds=2, **PER_SEQUENCE)
                self.train(2, mode)
                result = self.result(mode)
                self.assertEqual([len(r["left_out"]) for r in result["rounds"]], [4, 4])
                self.assertRegex(result["rounds"][0]["left_out"][0], r"^client \d+ left out of round 1: ")
                self.assertTrue(np.isfinite(result["scores"]["models"][0]["headline"]))

    def test_uploads_beyond_the_sums_are_left_out_and_the_run_goes_on(self):
        for estimator in ["mean", "median"]:
            with self.subTest(estimator):
                self.deck(federation__participants=0, federation__rounds=2, attack__kind="scaled", attack__strength=1e200,
                          attack__share=0.34, aggregation__estimator=estimator, **PER_SEQUENCE)
                self.train(2, estimator)
                result = self.result(estimator)
                hostile = result["honest"]["hostile_clients"]
                self.assertEqual(len(hostile), 2)
                for entry in result["rounds"]:
                    self.assertEqual([int(text.split()[1]) for text in sorted(entry["left_out"])], hostile)
                self.assertIn("to a sum, which holds up to", result["rounds"][0]["left_out"][0])
                self.assertIn("(a hostile client of [attack])", result["rounds"][0]["left_out"][0])
                self.assertNotIn("fraction_bits", result["rounds"][0]["left_out"][0])
                log = (self.folder / estimator / "train.log").read_text()
                self.assertIn("[attack] scaled: 2 of 6 clients are hostile; scores are of the others", log)
                self.assertIn("All clients, hostile ones among them: headline", log)
                status = self.start([FEDPP, "status", estimator]).stdout
                self.assertIn(f"fedpp {result['honest']['headline']:.4f}", status)
                self.assertIn("(without the 2 hostile clients of [attack])", status)
                self.assertTrue(np.isfinite(result["honest"]["headline"]))

    def test_clients_without_a_prediction_end_no_run(self):
        """Members of a hostile client's community start where no number is."""
        self.deck(federation__participants=0, federation__rounds=5, federation__client_start="mix", attack__kind="scaled",
                  attack__strength=300, attack__share=0.2, aggregation__scope="structural-entropy", evaluation__next_event=True,
                  evaluation__trivial_models=True, **PER_SEQUENCE)
        log = self.train(2, "out").stdout
        result = self.result("out")
        unscored = result["unscored_clients"]
        self.assertTrue(0 < len(unscored) < 6, unscored)
        self.assertIn(f"no prediction from their weights is a number: client{'s' * (len(unscored) > 1)} {', '.join(map(str, unscored))}.", log)
        self.assertRegex(log, r"round \d: \d clients? without a validation score")
        for model in result["scores"]["models"]:
            self.assertTrue(np.isfinite(model["headline"]), model["name"])
            self.assertEqual([c["client"] for c in model["per_client"] if c["headline"] is None], unscored)
        with h5py.File(self.folder / "out/result.h5") as file:
            self.assertFalse({f"client_{c:06d}" for c in unscored} & set(file["curves"]))


class NextEvent(SameBits):
    """When the next event comes: scores beside simple predictors, and what predict writes, on any number of ranks."""

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
        for name in ["next_events.csv", "futures.csv"]:
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
        first = {}
        for row in self.rows("ranks1/futures.csv"):
            time, path = float(row["time"]), (row["sequence"], row["future"])
            self.assertGreater(time, end[row["sequence"]])
            self.assertLessEqual(time, end[row["sequence"]] + 40 + 1e-6)
            self.assertGreaterEqual(time, first.setdefault(path, time))
        early = sum(time <= median[sequence] for (sequence, _), time in first.items())
        draws = 24 * futures
        self.assertLess(abs(early - draws / 2), 4 * np.sqrt(draws) / 2, "first events against their median")

    def test_lstm(self):
        self.check(20, model__encoder="lstm", model__layers=1, data__realisation="pooled")

    def test_deep_kernel(self):
        self.check(20, data__realisation="per-sequence")

    def test_futures_end_after_their_sequences(self):
        self.deck(data__clients=3, data__partition="homogeneous", federation__participants=0, federation__rounds=1)
        self.train(2, "out")
        predict = lambda until: self.start(self.on_ranks(2, "predict", "out", "--next-events", "--futures", 3, "--until", until))
        refused = predict(-1)
        self.assertEqual(refused.returncode, 2, refused.stdout + refused.stderr)
        self.assertIn("--until -1: no sequence ends before it", refused.stderr)
        self.assertEqual(list((self.folder / "out").glob("*.csv")), [])
        predicted = predict(1000)
        self.assertEqual(predicted.returncode, 0, predicted.stderr)
        self.assertNotIn("no futures", predicted.stdout)
        other_seed = lambda seed: self.start(self.on_ranks(2, "predict", "out", "--futures", 3, "--until", 1000, "--seed", seed))
        first = self.rows("out/futures.csv")
        self.assertEqual(other_seed(1).returncode, 0)
        self.assertEqual(self.rows("out/futures.csv"), first)  # federation.seed
        self.assertEqual(other_seed(7).returncode, 0)
        self.assertNotEqual(self.rows("out/futures.csv"), first)
        ends = sorted(float(row["observed_until"]) for row in self.rows("out/next_events.csv"))
        self.assertIn(f"{len(ends) - 5} sequences are observed until", predict((ends[4] + ends[5]) / 2).stdout)

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
    sys.argv[0] = os.path.basename(__file__)
    unittest.main(verbosity=2)
