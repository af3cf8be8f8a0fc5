#!/usr/bin/python3
"""Two numbers of docs/ about the curves of result.h5, from simulated sequences over (0, 100) with the deck of ../forecasts.

bands: Hawkes sequences (mu 0.2, branching ratio 0.6, decay 1), 20 clients with three each: for how much of the time the true intensity of
       a client's first sequence is inside the 5 to 95 % band of a history encoder (docs/results.md, result.h5).
mean:  60 clients with one sequence of constant rate each, three or thirty events to train on: what the mean curves add up to over the
       training windows, beside the events there (docs/theory.md 1.8)."""
import pathlib
import subprocess
import sys

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import running

here = pathlib.Path(__file__).resolve().parent
args = running.arguments(__doc__, seeds=(int, 3, "data sets of each kind"))


def curves(name, seed, clients, process, settings):
    """Arrays of each client's curve, with the events of the sequence that it shows, by a run on simulated sequences."""
    data, out = args.out / f"{name}-{seed}.csv", args.out / f"{name}-{seed}"
    subprocess.run([args.fedpp, "simulate", *process, "--sequences", "60", "--window", "100", "--seed", str(seed), "--out", data], check=True, stdout=subprocess.DEVNULL)
    running.train(args.fedpp, here.parent / "forecasts/forecasts.toml", out, [
        f"data.train={data}", f"data.windows={data.with_suffix('.windows.csv')}", f"federation.seed={seed}", f"data.clients={clients}",
        f"federation.participants={clients}", f"evaluation.curve_clients={clients}", "evaluation.curve_events=true", *settings])
    with h5py.File(out / "result.h5") as file:
        return [{name: array[()] for name, array in group.items()} for group in file["curves"].values()]


def covered(curve):
    events = np.concatenate([curve.get(f"{part}_events", []) for part in ("train", "validation", "test")])
    gaps = curve["time"][:, None] - events
    truth = 0.2 + 0.6 * np.sum(np.where(gaps > 0, np.exp(-np.abs(gaps)), 0), axis=1)
    return 100 * np.mean((curve["lower"] <= truth) & (truth <= curve["upper"]))


HAWKES = ["hawkes", "--mu", "0.2", "--alpha", "0.6", "--beta", "1"]
for encoder, settings in {"decay": [], "lstm": ["model.time_input=false"]}.items():
    settings = [f"model.encoder={encoder}", "model.mean=linear", *settings]
    shares = [np.mean([covered(curve) for curve in curves(encoder, seed, 20, HAWKES, settings)]) for seed in range(1, args.seeds + 1)]
    print(f"{encoder}: truth inside the 90 % band for {', '.join(f'{share:.0f}' for share in shares)} % of the time "
          f"({np.mean(shares):.1f}±{np.std(shares, ddof=1) / np.sqrt(len(shares)):.1f})", flush=True)
for events, rate in {3: "0.05", 30: "0.5"}.items():
    held = mean = 0.0
    for seed in range(1, args.seeds + 1):
        for curve in curves(f"poisson-{events}", seed, 60, ["poisson", "--rate", rate], []):
            held += len(curve.get("train_events", []))
            mean += 60 * np.mean(np.interp(np.linspace(0, 60, 6001), curve["time"], curve["mean"]))
    print(f"about {events} events a client: {held:.0f} in training, the means add up to {mean:.1f} ({100 * (mean / held - 1):+.1f} %)", flush=True)
