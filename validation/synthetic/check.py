#!/usr/bin/python3
"""Simulated truth (the paper's J.1) inside the 90 % band. See README.md."""
import pathlib
import subprocess
import sys

import h5py
import matplotlib
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import running

matplotlib.use("Agg")
import matplotlib.pyplot as plt

here = pathlib.Path(__file__).resolve().parent
args = running.arguments(__doc__, seeds=(int, 10, "simulated data sets"), encoders=(str, "rbf,deep-kernel", "encoders to check"))


def simulate(seed):
    """Files of the seed, and f and lambda of both clients on the grid 0, 0.1, ..., 100."""
    base = args.out / f"truth{seed}"
    if not base.with_suffix(".truth.csv").is_file():
        subprocess.run([args.fedpp, "simulate", "paper-cox", "--seed", str(seed), "--out", base.with_suffix(".csv")], check=True,
                       stdout=subprocess.DEVNULL)
    truth = np.loadtxt(base.with_suffix(".truth.csv"), delimiter=",", skiprows=1)
    events = np.loadtxt(base.with_suffix(".csv"), delimiter=",", skiprows=1)
    return base, [truth[truth[:, 0] == c] for c in range(2)], [events[events[:, 2] == c, 1] for c in range(2)]


ok, shown = True, {}
for encoder in args.encoders.split(","):
    covered = np.zeros((args.seeds, 2))
    for seed in range(1, args.seeds + 1):
        base, truth, events = simulate(seed)
        run = args.out / f"{encoder}{seed}"
        data, windows = base.with_suffix(".csv"), base.with_suffix(".windows.csv")
        running.train(args.fedpp, here / "synthetic.toml", run, [f"data.train={data}", f"data.test={data}",
                      f"data.windows={windows},{windows}", f"model.encoder={encoder}", f"federation.seed={seed}"])
        with h5py.File(run / "result.h5") as file:
            for c in range(2):
                curve = {key: file[f"curves/client_{c:06d}"][key][()] for key in ["time", "lower", "median", "upper"]}
                assert np.allclose(curve["time"], truth[c][:, 1])
                inside = (curve["lower"] <= truth[c][:, 3]) & (truth[c][:, 3] <= curve["upper"])
                covered[seed - 1, c] = inside.mean()
                shown.setdefault((encoder, seed, c), (curve, truth[c], events[c]))
    mean, error = covered.mean(), covered.mean(1).std(ddof=1) / np.sqrt(args.seeds) if args.seeds > 1 else np.nan
    for c in range(2):
        print(f"{encoder}, client {c}: " + " ".join(f"{x:.2f}" for x in covered[:, c]))
    ok &= running.verdict(0.85 <= mean <= 0.95, f"{encoder}: truth inside the 90 % band for {100 * mean:.1f} % of the time, "
                          f"standard error {100 * error:.1f} (85 to 95; {args.seeds} data sets, 2 clients each)")

# The first data set: m sigma(f), and f itself up to the constant that m leaves open, against the truth.
rows = args.encoders.split(",")
figure, axes = plt.subplots(2 * len(rows), 2, figsize=(12, 5 * len(rows)), constrained_layout=True, sharex=True, squeeze=False)
for r, encoder in enumerate(rows):
    for c in range(2):
        curve, truth, events = shown[encoder, 1, c]
        m = 0.5  # 50 events over the window where the sigmoid is 1
        for k, (name, column, of) in enumerate([
                ("intensity", 3, lambda x: x), ("f = logit(intensity / m)", 2, lambda x: np.log(x / np.maximum(m - x, 1e-3)))]):
            axis = axes[2 * r + k, c]
            axis.fill_between(curve["time"], of(curve["lower"]), of(curve["upper"]), color="#0b5fa5", alpha=0.22, lw=0, label="5 to 95 %")
            axis.plot(curve["time"], of(curve["median"]), color="#0b5fa5", label="median")
            axis.plot(truth[:, 1], truth[:, column], color="#c8442b", label="truth")
            floor = axis.get_ylim()[0]
            axis.plot(events, np.full(len(events), floor), "|", color="#444", ms=8, label=f"{len(events)} events")
            axis.set_title(f"{encoder}, client {c}: {name}", loc="left", fontsize=10)
            axis.spines[["top", "right"]].set_visible(False)
axes[0, 0].legend(frameon=False, ncol=4)
for axis in axes[-1]:
    axis.set_xlabel("time")
figure.savefig(args.out / "synthetic.png", dpi=110)
print(f"figure: {args.out / 'synthetic.png'}")
sys.exit(0 if ok else 1)
