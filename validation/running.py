"""What the checks here share: where the program, the data and the results are, and one training run."""
import argparse
import io
import json
import math
import os
import pathlib
import shlex
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("FEDPP_SHARED", ROOT / ".." / "shared")).resolve() / "data"

if isinstance(sys.stdout, io.TextIOWrapper):
    sys.stdout.reconfigure(errors="backslashreplace")  # the tables' ± on a terminal of ASCII


def arguments(description, positional=None, **more):
    """Options of a check: --fedpp, --out and `more` (name -> type, default, help). `positional`: (name, choices, help)."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fedpp", type=pathlib.Path, default=ROOT / "build/cpu/src/fedpp", help="executable (default: build/cpu/src/fedpp)")
    parser.add_argument("--out", type=pathlib.Path, default=None, help="folder for runs and figures (default: out/validation/NAME)")
    if positional:
        parser.add_argument(positional[0], choices=positional[1], help=positional[2])
    for name, (kind, default, text) in more.items():
        if kind is bool:
            parser.add_argument("--" + name, action="store_true", help=text)
        elif kind is list:
            parser.add_argument("--" + name, action="append", default=default, help=f"{text} (may be repeated)")
        else:
            parser.add_argument("--" + name, type=kind, default=default, help=f"{text} (default: {default})")
    chosen = parser.parse_args()
    chosen.fedpp = chosen.fedpp.resolve()
    if not chosen.fedpp.is_file():
        sys.exit(f"{chosen.fedpp} does not exist: build first (scripts/build.sh), or name it with --fedpp")
    if chosen.out is None:
        chosen.out = ROOT / "out/validation" / pathlib.Path(sys.argv[0]).resolve().parent.name
    chosen.out.mkdir(parents=True, exist_ok=True)
    return chosen


def need(folder):
    """The data set's folder; where it is missing the check is skipped, with a word."""
    if not (DATA / folder).is_dir():
        print(f"skipped: {DATA / folder} is not here (FEDPP_SHARED names the folder above data/)")
        sys.exit(0)
    return DATA / folder


def train(fedpp, config, out, changes=(), launch=""):
    """Runs `fedpp train` unless `out` holds its result already; an interrupted run goes on. `launch`: words before the
    program, as "srun -n 4". Returns result.json."""
    result = out / "result.json"
    if not result.is_file():
        command = [*shlex.split(launch), str(fedpp), "train", str(config), "--out", str(out), "--set", "output.progress=false"]
        for change in changes:
            command += ["--set", change]
        if list(out.glob("checkpoint-*.h5")):
            command.append("--resume")
        log = out.with_suffix(".log")
        with open(log, "w") as file:
            code = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT).returncode
        if code != 0:
            sys.exit(f"{' '.join(command)}\nended with code {code}:\n" + log.read_text(encoding="utf-8", errors="replace")[-2000:])
    return json.loads(result.read_text(encoding="utf-8"))


def models(result):
    """Name -> headline score per test event."""
    return {model["name"]: model["headline"] for model in result["scores"]["models"]}


def paired(pairs):
    """Mean difference of (ours, theirs) over seeds and its standard error (nan for one seed)."""
    gains = [a - b for a, b in pairs]
    error = statistics.stdev(gains) / math.sqrt(len(gains)) if len(gains) > 1 else float("nan")
    return statistics.mean(gains), error


def mean_sd(values, digits=3):
    """Text mean±sd (the mean alone for one value, nothing for none)."""
    if not values:
        return ""
    spread = f"±{statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.{digits}f}{spread}"


def verdict(holds, claim):
    print(("holds:  " if holds else "FAILS:  ") + claim)
    return bool(holds)
