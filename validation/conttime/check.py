#!/usr/bin/python3
"""`fedpp simulate neural-hawkes` at Conttime's settings beside the excerpt of Conttime. See README.md."""
import csv
import gzip
import pathlib
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import running

args = running.arguments(__doc__, seeds=(int, 20, "draws of the process's weights"))
folder = running.need("conttime")
STATISTICS = ["events a sequence", "sd of that", "mean gap", "sd / mean of gaps", "sd of a sequence's mean gap", "correlation of neighbouring log gaps",
              "share of the most frequent type", "share of the rarest type"]


def statistics(rows):
    """The numbers of STATISTICS from (sequence, time, type) rows; gaps count from a sequence's origin 0."""
    sequences = {}
    for sequence, time, kind in rows:
        sequences.setdefault(sequence, []).append((float(time), int(kind)))
    lengths = np.array([len(events) for events in sequences.values()])
    gaps = [np.diff([time for time, _ in events], prepend=0.0) for events in sequences.values()]
    everything, logs = np.concatenate(gaps), [np.log(g[1:] + 1e-9) for g in gaps]
    shares = np.bincount([kind for events in sequences.values() for _, kind in events], minlength=5) / lengths.sum()
    before, after = np.concatenate([x[:-1] for x in logs]), np.concatenate([x[1:] for x in logs])
    return [lengths.mean(), lengths.std(), everything.mean(), everything.std() / everything.mean(), np.std([g.mean() for g in gaps]),
            np.corrcoef(before, after)[0, 1], shares.max(), shares.min()]


real = []
for part in ("train", "dev", "test"):
    with gzip.open(folder / f"{part}.csv.gz", "rt", newline="", encoding="utf-8") as file:
        real += [(part + row[0], row[1], row[2]) for row in list(csv.reader(file))[1:]]
drawn = []
for seed in range(1, args.seeds + 1):
    out = args.out / "drawn.csv"
    subprocess.run([args.fedpp, "simulate", "neural-hawkes", "--types", "5", "--hidden", "32", "--shortest", "20", "--longest", "100",
                    "--sequences", "382", "--seed", str(seed), "--out", out], check=True, stdout=subprocess.DEVNULL)
    with open(out, newline="", encoding="utf-8") as file:
        drawn.append(statistics(list(csv.reader(file))[1:]))
drawn, excerpt, ok = np.array(drawn), statistics(real), True
print(f"| | excerpt | simulated, median of {args.seeds} | lowest | highest |\n|---|---|---|---|---|")
for name, value, column in zip(STATISTICS, excerpt, drawn.T):
    print(f"| {name} | {value:.3f} | {np.median(column):.3f} | {column.min():.3f} | {column.max():.3f} |")
for name, value, column in zip(STATISTICS, excerpt, drawn.T):
    # One draw of the weights more: within the range of the others, widened by half of it.
    half = 0.5 * (column.max() - column.min())
    ok &= running.verdict(column.min() - half <= value <= column.max() + half, f"{name}: the excerpt, {value:.3f}, could be one of the draws")
sys.exit(0 if ok else 1)
