#!/usr/bin/env python3
"""estimate.py BUILD OUT [WORKLOAD[:CLIENTS] ...] [--ranks R ...] - what 'fedpp train --estimate' says beside what the run takes, as OUT/estimate.csv.

  python3 bench/estimate.py build/cpu out/estimate a b:4 c d:500 --ranks 1 2

Of every workload of bench/workloads.hpp on every number of ranks: memory of the largest rank's process (MB), seconds of all rounds' local updates and
of their validation, and of the scores at the end. A run that scores twice, since its best round is not its last, is compared with two passes.
"""
import argparse
import csv
import json
import os
import pathlib
import re
import subprocess
import sys

from scaling import MEASURED

ROUNDS = 5
NAMES = ["memory", "local updates", "validation", "scores"]


def parse():
    parser = argparse.ArgumentParser(usage=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("workloads", nargs="*", default=["a", "b:4", "c", "d:500"])
    parser.add_argument("--ranks", type=int, nargs="*", default=[1, 2])
    return parser.parse_args()


def estimated(said):
    """NAMES' numbers in the words of --estimate."""
    ranks = re.findall(r"^ +\d+ +\d+ +[\d.]+ +([\d.]+) +\S+$", said, re.MULTILINE)
    time = re.search(r"local updates ([\d.e+-]+) s(?:, validation ([\d.e+-]+) s)?.*; then scores ([\d.e+-]+) s", said)
    if not ranks or time is None:
        sys.exit(f"estimate: these are not the words of --estimate:\n{said}")
    return [max(map(float, ranks)), *(float(seconds or 0) for seconds in time.groups())]


def taken(out, peaks):
    result = json.loads((out / "result.json").read_text(encoding="utf-8"))
    passes = 1 if result["best_round"] == len(result["rounds"]) else 2
    phases = result["phases"]
    return [max(peaks), phases["local update"], phases.get("validate", 0.0), phases["evaluate"] / passes]


def run(options, workload, ranks):
    name, _, clients = workload.partition(":")
    data, out = options.out / workload.replace(":", "-"), options.out / f"{workload.replace(':', '-')}-ranks-{ranks}"
    if not (data / "run.toml").is_file():
        data.mkdir(parents=True, exist_ok=True)
        subprocess.run([options.build / "bench/fedpp_workload", name, data, *([clients] if clients else [])], check=True, stdout=subprocess.DEVNULL)
    settings = [f"--set={k}={json.dumps(v)}" for k, v in
                {"federation.rounds": ROUNDS, "federation.validate_every": 1, "evaluation.trivial_models": False, "evaluation.curve_clients": 0}.items()]
    launch = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    train = [options.build / "src/fedpp", "train", data / "run.toml", "--out", out, *settings]
    said = subprocess.run([*launch, *train, "--estimate"], check=True, capture_output=True, text=True, env=environment).stdout
    peak = options.out / f"peak-{out.name}"
    subprocess.run(["rm", "-rf", out], check=True)
    subprocess.run([*launch, sys.executable, "-c", MEASURED, peak, *train], check=True, stdout=subprocess.DEVNULL, env=environment)
    peaks = [1.024e-3 * int(path.read_text()) for path in options.out.glob(f"{peak.name}-*")]
    for path in options.out.glob(f"{peak.name}-*"):
        path.unlink()
    return estimated(said), taken(out, peaks)


def main():
    options = parse()
    options.build, options.out = options.build.resolve(), options.out.resolve()
    if not (options.build / "bench/fedpp_workload").is_file():
        sys.exit(f"estimate: {options.build} has no bench/fedpp_workload: name a folder that was built with -DFEDPP_BUILD_BENCH=ON")
    options.out.mkdir(parents=True, exist_ok=True)
    with open(options.out / "estimate.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["workload", "ranks", *(f"{name} {what}" for name in NAMES for what in ("estimated", "taken"))])
        for workload in options.workloads:
            for ranks in options.ranks:
                pairs = list(zip(*run(options, workload, ranks)))
                writer.writerow([workload, ranks, *(f"{x:.4g}" for pair in pairs for x in pair)])
                file.flush()
                told = ", ".join(f"{name} {b:.3g} of {a:.3g} ({b / a:.2f})" if a > 0 else f"{name} {b:.3g} of {a:.3g}" for name, (a, b) in zip(NAMES, pairs))
                print(f"{workload} on {ranks}: taken of estimated: {told}", flush=True)


if __name__ == "__main__":
    main()
