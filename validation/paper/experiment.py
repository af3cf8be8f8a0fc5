"""An experiment as its folder's experiment.toml describes it: the runs of a grid, what they need, what they measured."""
import csv
import dataclasses
import fcntl
import hashlib
import itertools
import json
import math
import os
import pathlib
import subprocess
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import running  # noqa: E402

MEASURED = ["headline", "plug_in", "last_round", "best_round", "validation", "ks", "events", "seconds", "settings", "revision"]
BY_VALIDATION = "best by validation"
# Defaults of the program once, which chronological.toml and its models then did not state: runs from before keep their digests.
UNSAID = [("data.partition", "heterogeneous"), ("model.mean", "constant")]


def read_toml(path):
    return tomllib.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def merged(base, over):
    """`over` laid upon `base`, table by table."""
    if not (isinstance(base, dict) and isinstance(over, dict)):
        return over
    return {**base, **{key: merged(base.get(key), value) for key, value in over.items()}}


def flat(settings, prefix=""):
    """{"data": {"clients": 5}} -> {"data.clients": 5}."""
    keys = {}
    for key, value in settings.items():
        keys.update(flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value})
    return keys


def as_option(value):
    """A value as --set takes it."""
    return json.dumps(value) if isinstance(value, (bool, list)) else str(value)


def digest(content):
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:10]


class DataSet:
    """An entry of datasets.toml, by its name as `population/taobao`."""

    def __init__(self, name):
        self.name = name
        known = read_toml(HERE / "datasets.toml")
        entries = {f"{group}/{name}": entry for group, named in known.items() if group != "common" for name, entry in named.items()}
        if name not in entries:
            sys.exit(f"no data set '{name}'; there are {', '.join(entries)}")
        entry = entries[name]
        self.entry, self.deck, self.types = entry, (HERE / entry["deck"]).resolve(), entry.get("types", 1)
        self.settings = flat(merged(known["common"].get(entry.get("common"), {}), entry.get("settings", {})))
        self.folder = running.ROOT / entry["here"] if "here" in entry else running.DATA / entry.get("folder", "")

    def missing(self):
        """What is not here of the files that it needs, or nothing."""
        return "" if "simulate" in self.entry or self.folder.is_dir() else str(self.folder)

    def files(self, fedpp, out):
        """Settings that name the files; made first where they are simulated or cut."""
        if "simulate" in self.entry:
            made = self._made(out, "simulated")
            self._make(made, [fedpp, "simulate", *self.entry["simulate"], "--out"])
            return {"data.train": str(made)}
        names = {}
        for part in ("train", "validation", "test"):
            if part in self.entry:
                source = self.folder / self.entry[part]
                if "import" in self.entry:
                    made = self._made(out, part)
                    self._make(made, [fedpp, "import", source, *self.entry["import"], "--out"])
                    source = made
                names[f"data.{part}"] = str(source)
        if "windows" in self.entry:
            names["data.windows"] = ",".join(str(self.folder / name) for name in self.entry["windows"])
        return names

    def _made(self, out, part):
        return out / "data" / f"{self.name.replace('/', '-')}-{part}-{digest(self.entry)}.h5"

    @staticmethod
    def _make(path, command):
        """Runs the command unless its file is there; under another name first, so that a second process may do the same."""
        if path.is_file():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        own = path.with_name(f"{path.stem}-{os.getpid()}{path.suffix}")
        subprocess.run([*map(str, command), str(own)], check=True, stdout=subprocess.DEVNULL)
        own.rename(path)


@dataclasses.dataclass
class Run:
    """One training run: a data set, a level of every axis, a seed, and all settings on top of the data set's deck."""
    data: DataSet
    levels: dict
    seed: int
    settings: dict

    @property
    def digest(self):
        """What the run depends on, but for seed and program: runs of equal digest are one run, whichever experiment asks."""
        settings = {**flat(read_toml(self.data.deck)), **self.settings}
        if self.data.deck == HERE / "chronological.toml":
            settings = dict(pair for pair in settings.items() if pair not in UNSAID)
        content = {"data": {k: v for k, v in self.data.entry.items() if k not in ("deck", "common", "settings", "label")}, "settings": settings}
        return digest(content)

    @property
    def key(self):
        return (self.data.name, *self.levels.values(), self.seed)

    def folder(self, out):
        return out / "runs" / f"{self.data.name.replace('/', '-')}-{self.digest}-{self.seed}"

    def train(self, fedpp, out, launch):
        """Result of the run; trained first unless it is there. Another process at the same run is waited for."""
        folder = self.folder(out)
        folder.parent.mkdir(parents=True, exist_ok=True)
        options = self.options(self.data.files(fedpp, out))
        with open(folder.with_suffix(".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return running.train(fedpp, self.data.deck, folder, options, launch)

    def options(self, files):
        """What --set takes. A start that the RBF kernel has not, but its data set's `common` gives, is refused; it stays in the digests of finished rows."""
        settings = {**files, **self.settings, "federation.seed": self.seed}
        if settings.get("model.encoder") == "rbf":
            settings.pop("model.start_weight_scale", None)
        return [f"{k}={as_option(v)}" for k, v in settings.items()]

    def row(self, result):
        scores = {model["name"]: model for model in result["scores"]["models"]}
        ours = scores["local only" if self.settings.get("federation.mode") == "local" else "fedpp"]
        validated = [r["validation"] for r in result["rounds"] if r.get("validation") is not None]
        row = {"data": self.data.name, **self.levels, "seed": self.seed, "headline": ours["headline"], "plug_in": ours["plug_in"],
               "last_round": result.get("last_round", ours)["headline"], "best_round": result["best_round"], "validation": max(validated, default=""),
               "ks": result["calibration"]["ks"], "events": result["scores"]["events"], "seconds": sum(result["phases"].values()),
               "settings": self.digest, "revision": result["git"]}
        row.update({name: model["headline"] for name, model in scores.items() if name not in ("fedpp", "local only")})
        return {key: f"{value:.5f}" if isinstance(value, float) else str(value) for key, value in row.items()}


class Experiment:
    """experiment.toml at a size: the file itself, with its table [quick] or [full] laid upon it."""

    def __init__(self, name, size="", seeds=None, only=None):
        self.name, self.size, self.folder = name, size, HERE / name
        deck = read_toml(self.folder / "experiment.toml")
        if size and size not in deck and "command" not in deck:
            sys.exit(f"{name}: its experiment.toml has no table [{size}]: there is no such size")
        deck = merged({k: v for k, v in deck.items() if k not in ("quick", "full")}, deck.get(size, {}) if size else {})
        self.title, self.command = deck["title"], deck.get("command")
        self.compare, self.adjust, self.over = deck.get("compare", []), deck.get("adjust", []), deck.get("over", "")
        self.choose = deck.get("choose", {})  # axis -> levels, for comparisons of its level BY_VALIDATION
        self.data = [DataSet(name) for name in (only or {}).get("data") or deck.get("data", [])]
        self.settings = flat(deck.get("settings", {}))
        self.seeds = seeds or deck.get("seeds", 5)
        self.axes = {}
        for axis, levels in deck.get("axis", {}).items():
            levels = read_toml(HERE / levels) if isinstance(levels, str) else levels
            chosen = (only or {}).get(axis) or deck.get("levels", {}).get(axis) or list(levels)
            unknown = [label for label in chosen if label not in levels]
            if unknown:
                sys.exit(f"{name}: {axis} has no level '{unknown[0]}'; there are {', '.join(levels)}")
            self.axes[axis] = {label: levels[label] for label in chosen}
        if unknown := set(only or {}) - {"data", *self.axes}:
            sys.exit(f"--only {unknown.pop()}: {name} has {', '.join(['data', *self.axes])}")
        for axis in set(self.choose) & set(only or {}):
            self.choose[axis] = [label for label in self.choose[axis] if label in self.axes[axis]]

    def rows_with(self, rows, data, levels):
        """(levels, seed, row) of a data set's runs with these levels. A level BY_VALIDATION is, seed by seed, that of the axis' levels in `choose`
        whose best round validates best, where all of them have run; it looks at no test score."""
        free = [axis for axis, label in levels.items() if label == BY_VALIDATION]
        allowed = {axis: self.choose[axis] if axis in free else [label] for axis, label in levels.items()}
        groups = {}  # of candidates, where there is a choice
        for run in self.runs():
            if run.data.name == data.name and run.key in rows and all(run.levels[axis] in labels for axis, labels in allowed.items()):
                rest = tuple(label for axis, label in run.levels.items() if axis not in free)
                groups.setdefault((run.seed, rest), []).append((run.levels, run.seed, rows[run.key]))
        for group in groups.values():
            if not free:
                yield from group
            elif len(group) == math.prod(len(allowed[axis]) for axis in free) and all(row.get("validation") for *_, row in group):
                yield max(group, key=lambda found: float(found[2]["validation"]))

    def runs(self):
        """All runs, seed by seed, so that an interrupted grid has whole seeds."""
        for seed in range(1, self.seeds + 1):
            for data in self.data:
                for labels in itertools.product(*self.axes.values()):
                    yield self._run(data, dict(zip(self.axes, labels)), seed)

    def _run(self, data, levels, seed):
        settings = {**data.settings, **self.settings}
        for axis, label in levels.items():
            settings.update(flat(self.axes[axis][label]))
        for adjust in self.adjust:
            cell = {"data": data.name, **levels}
            if all(cell.get(key) == value for key, value in adjust["where"].items()):
                settings.update(flat(adjust["settings"]))
        if "only_type" in settings:  # a list of the other types would depend on the data set
            kept = settings.pop("only_type")
            settings["data.leave_out_types"] = [k for k in range(data.types) if k != kept]
        return Run(data, levels, seed, settings)

    def score(self, row, column="headline"):
        """A row's number; less that of the trivial model `over` where levels have scores of different zero."""
        return float(row[column]) - (float(row[self.over]) if self.over else 0.0)

    # Rows of results.csv, by a run's key.
    def read(self, path):
        """Rows of earlier runs of the same settings, and how many had others."""
        wanted, rows, stale = {run.key: run.digest for run in self.runs()}, {}, 0
        if path.is_file():
            with open(path, newline="", encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    key = (row["data"], *(row.get(axis) for axis in self.axes), int(row["seed"]))
                    if wanted.get(key) == row["settings"]:
                        rows[key] = row
                    else:
                        stale += 1
        return rows, stale

    def write(self, path, rows):
        """All rows, in the order of the grid; whole or not at all."""
        known = ["data", *self.axes, "seed", *MEASURED]
        held = dict.fromkeys(key for row in rows.values() for key in row)
        known = [key for key in known if key in held]
        own_columns = [key for key in held if key not in known]  # trivial models, errors of forecasts
        own = path.with_name(f"{path.name}.{os.getpid()}")
        with open(own, "w", newline="", encoding="utf-8") as file:
            out = csv.DictWriter(file, known[:-2] + own_columns + known[-2:], lineterminator="\n")
            out.writeheader()
            out.writerows(rows[run.key] for run in self.runs() if run.key in rows)
        own.rename(path)
