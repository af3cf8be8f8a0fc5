#!/usr/bin/python3
"""Whether what comes after a sequence lies inside the intervals of its forecasts as often as they say. See README.md."""
import csv
import pathlib
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import running

here = pathlib.Path(__file__).resolve().parent
args = running.arguments(__doc__, seeds=(int, 3, "data sets of each kind"), cases=(str, "", "only these, as poisson-decay,hawkes-lstm"),
                         sequences=(int, 60, "sequences of a data set"), futures=(int, 100, "drawn futures of a sequence"))
OBSERVED, AHEAD = 100.0, 20.0
QUANTILES = {"q05": 0.05, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q95": 0.95}


def thinned(rate, bound, end, draw):
    """Times in (0, end) of a process with intensity rate(t, times) <= bound(t, times) until the next event."""
    times, t = [], 0.0
    while True:
        most = bound(t, times)
        t += draw.exponential(1 / most)
        if t >= end:
            return times
        if draw.uniform() * most < rate(t, times):
            times.append(t)


def poisson(draw):
    """A rate of the sequence's own, Gamma with mean 0.3 and shape 4."""
    level = draw.gamma(4, 0.3 / 4)
    return thinned(lambda t, past: level, lambda t, past: level, OBSERVED + AHEAD, draw)


def hawkes(draw):
    """mu 0.2, branching ratio 0.6, decay 1."""
    excited = lambda t, past: 0.2 + 0.6 * sum(np.exp(-(t - s)) for s in past[-60:])
    return thinned(excited, excited, OBSERVED + AHEAD, draw)


def cycle(draw):
    """A rate of time alone that repeats itself every 24 units."""
    return thinned(lambda t, past: 0.4 * (1 + 0.8 * np.sin(2 * np.pi * t / 24)), lambda t, past: 0.72, OBSERVED + AHEAD, draw)


HISTORY = ["model.encoder=decay", "model.mean=linear"]
CASES = {
    "poisson-decay": (poisson, HISTORY),
    "poisson-deep-kernel": (poisson, ["model.encoder=deep-kernel"]),
    "hawkes-decay": (hawkes, HISTORY),
    "hawkes-lstm": (hawkes, ["model.encoder=lstm", "model.mean=linear", "model.time_input=false"]),
    "cycle-deep-kernel": (cycle, ["model.encoder=deep-kernel", "data.clock=calendar", "model.periods=[24]"]),
}


def simulate(kind, seed):
    """Data file with its windows table, and what follows each sequence."""
    base = args.out / "data" / f"{kind.__name__}{seed}-{args.sequences}"
    base.mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(1000 + seed)
    sequences = [np.array(kind(draw)) for _ in range(args.sequences)]
    with open(base / "events.csv", "w", encoding="utf-8") as events, open(base / "windows.csv", "w", encoding="utf-8") as windows:
        print("sequence,time,type", file=events)
        print("sequence,start,end", file=windows)
        for k, times in enumerate(sequences):
            print(f"{k},0,{OBSERVED}", file=windows)
            for time in times[times < OBSERVED]:
                print(f"{k},{time!r},0".replace("np.float64(", "").replace(")", ""), file=events)
    return base, [times[times >= OBSERVED] for times in sequences]


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def measure(case, seed):
    """Shares of the sequences: next event below each quantile, count inside 5 to 95 %; and the counts' standardised error."""
    kind, settings = CASES[case]
    base, ahead = simulate(kind, seed)
    out = args.out / "runs" / f"{case}{seed}-{args.sequences}"
    out.parent.mkdir(exist_ok=True)
    running.train(args.fedpp, here / "forecasts.toml", out, [f"data.train={base}/events.csv", f"data.windows={base}/windows.csv", f"federation.seed={seed}", *settings])
    subprocess.run([args.fedpp, "predict", out, "--next-events", "--futures", str(args.futures), "--horizon", str(AHEAD)], check=True, stdout=subprocess.DEVNULL)
    below = {name: 0.0 for name in QUANTILES}
    next_events = rows(out / "next_events.csv")
    for row in next_events:
        following = ahead[int(row["sequence"])]
        first = following[0] if len(following) else np.inf  # censored: later than all that was simulated
        for name in QUANTILES:
            below[name] += (first <= float(row[name])) / len(next_events)
    inside, short, over, widths = 0, 0, 0, []
    summary = rows(out / "futures_summary.csv")
    for row in summary:
        count, low, high = len(ahead[int(row["sequence"])]), float(row["q05"]), float(row["q95"])
        inside += (low <= count <= high) / len(summary)
        short += (count < low) / len(summary)
        over += (count > high) / len(summary)
        widths.append(high - low)
    return {**below, "inside": inside, "below": short, "above": over, "width": np.mean(widths)}


table, ok = [], True
for case in args.cases.split(",") if args.cases else CASES:
    of_case = []
    for seed in range(1, args.seeds + 1):
        of_case.append(measure(case, seed))
        table.append({"case": case, "seed": seed, **{key: f"{value:.4f}" for key, value in of_case[-1].items()}})
    shares = [one["inside"] for one in of_case]
    inside = np.mean(shares)
    # Sequences of one data set share a fit, so the data sets are what is independent.
    error = f"standard error over data sets {100 * np.std(shares, ddof=1) / np.sqrt(args.seeds):.1f}" if args.seeds > 1 else "one data set"
    early = " ".join(f"{name}: {100 * np.mean([one[name] for one in of_case]):.0f}" for name in QUANTILES)
    ok &= running.verdict(round(abs(inside - 0.9), 6) <= 0.05, f"{case}: {100 * inside:.0f} % of the counts inside 5 to 95 %, 90 are due "
                          f"({error}); next events before {early} %")
with open(args.out / "forecasts.csv", "w", newline="", encoding="utf-8") as file:
    out = csv.DictWriter(file, table[0], lineterminator="\n")
    out.writeheader()
    out.writerows(table)
sys.exit(0 if ok else 1)
