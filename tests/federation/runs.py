"""What tests of whole runs share: event data, configurations, a folder with both in which runs are started, equality of two finished runs.

Needs the environment of tests/federation/CMakeLists.txt: FEDPP_EXECUTABLE, FEDPP_MPIEXEC.
"""
import itertools
import json
import pathlib
import random
import re
import sys

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import program


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
    """Configuration text; keys are section__key. A deep kernel of time and a constant mean unless they are changed."""
    values = {
        "data__train": ["train.csv"], "data__clients": 6, "data__partition": "heterogeneous", "data__types_per_client": 3,
        "model__encoder": "deep-kernel", "model__mean": "constant", "model__width": 5, "model__inducing": 7,
        "training__epochs": 2, "training__samples": 2, "training__learning_rate": 0.05, "federation__rounds": 4,
        "federation__participants": 4, "evaluation__samples": 3, "evaluation__e_steps": 5, "evaluation__curve_points": 20,
        "evaluation__trivial_models": False, "output__checkpoint_every": 1, "output__checkpoints_kept": 3,
    }
    if changes.get("data__partition", "heterogeneous") != "heterogeneous" or "data__client_files" in changes:
        del values["data__partition"], values["data__types_per_client"]  # have no effect, or another
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


def told_kinds():
    """The kinds of traffic between ranks that docs/trust.md tells users of: the last column of its first table."""
    lines = (pathlib.Path(__file__).resolve().parents[2] / "docs/trust.md").read_text().splitlines()
    first = next(i for i, line in enumerate(lines) if line.endswith("| kind in the ledger |"))
    rows = itertools.takewhile(lambda line: line.startswith("|"), lines[first + 2:])
    return {kind for row in rows for kind in re.findall("`([^`]+)`", row.split("|")[-2])}


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
        if code == 0 and (self.folder / out / "result.json").exists():
            kinds = {entry["kind"] for entry in self.result(out)["communication"]}
            self.assertLessEqual(kinds, told_kinds(), "traffic that docs/trust.md does not tell of")
        return result

    def result(self, out):
        return json.loads((self.folder / out / "result.json").read_text())

    def checkpoints(self, out):
        return sorted(path.name for path in (self.folder / out).glob("checkpoint-*.h5"))

    def newest(self, out):
        return self.folder / out / self.checkpoints(out)[-1]


def outcome(result):
    """What must have the same bits: everything computed, nothing measured."""
    kept = {key: result[key] for key in ["theta", "scores", "test_data", "calibration", "best_round", "state"]}
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

    def assert_same(self, a, b, curves=True, but=()):
        """but: keys of the scores that may differ."""
        outcomes = [outcome(self.result(out)) for out in [a, b]]
        for found in outcomes:
            for key in but:
                found["scores"].pop(key, None)
        self.assertEqual(*[json.dumps(found) for found in outcomes], f"{a} and {b}")
        files = [("checkpoint", self.newest(a), self.newest(b))]
        if curves:
            files.append(("result.h5", self.folder / a / "result.h5", self.folder / b / "result.h5"))
        for what, one, other in files:
            first, second = arrays(one), arrays(other)
            self.assertGreater(len(first), 10, what)
            self.assertEqual(first.keys(), second.keys(), what)
            self.assertEqual([name for name in first if first[name] != second[name]], [], f"{what} of {a} and {b}")
