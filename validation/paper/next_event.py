"""The time of the next event (docs/results.md): errors of every finished run, one step ahead over the test windows, beside the mean gap's and Hawkes'."""
import json
import subprocess
import sys

import tables
from experiment import running

OURS = {"rmse": "fedpp, expectation", "mae": "fedpp, median"}  # what has the least error of each kind
THEIRS = {"rmse": ("mean gap", "Hawkes, exponential"), "mae": ("median gap",)}
WORDS = {"above": "smaller", "below": "larger"}  # of an error


def column(kind, predictor):
    return f"{kind} {predictor}"


def measure(options, run):
    """Row of a finished run; evaluated first unless its folder holds the result already."""
    made = run.folder(options.out) / "next_event.json"
    if not made.is_file():
        done = subprocess.run([options.fedpp, "evaluate", made.parent, "--set", "evaluation.next_event=true", "--out", made],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8", errors="replace")
        if done.returncode != 0:
            sys.exit(f"fedpp evaluate {made.parent} ended with code {done.returncode}:\n{done.stderr[-2000:]}")
        print("forecasts of", *[run.data.name, *run.levels.values()], "seed", run.seed, flush=True)
    result = json.loads(made.read_text(encoding="utf-8"))
    test = result["next_event"]["test"]
    row = {"data": run.data.name, **run.levels, "seed": str(run.seed), "events": f"{test['events']:.0f}"}
    for predictor in test["predictors"]:
        row |= {column(kind, predictor["name"]): f"{predictor[kind]:.6g}" for kind in OURS}
    return row | {"settings": run.digest, "revision": result["git"]}


def summary(experiment, rows):
    """A line a cell: errors in the data set's unit, and by how many per cent ours are smaller (paired over seeds)."""
    head = ["data", *experiment.axes, "seeds"]
    for kind in OURS:
        head += [f"{kind.upper()}, {OURS[kind]}", *THEIRS[kind], *(f"% less than {theirs}" for theirs in THEIRS[kind])]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for (data, levels), of_seed in tables.cells(experiment, rows).items():
        line = [data, *levels, str(len(of_seed))]
        for kind in OURS:
            line += [running.mean_sd(tables.values(of_seed, column(kind, name))) for name in (OURS[kind], *THEIRS[kind])]
            for theirs in THEIRS[kind]:
                less = [(100 * (1 - float(row[column(kind, OURS[kind])]) / float(row[column(kind, theirs)])), 0.0) for row in of_seed.values()]
                text, verdict = tables.difference(less, digits=1)
                line.append(f"{text} {WORDS.get(verdict, verdict)}")
        lines.append("| " + " | ".join(line) + " |")
    return "\n".join(lines)
