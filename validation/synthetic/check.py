#!/usr/bin/python3
"""Simulated truth (the paper's J.1) inside the 90 % band. See README.md."""
import csv
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
args = running.arguments(__doc__, seeds=(int, 10, "simulated data sets"), streams=(int, 20, "streams of the one intensity that a client observes"),
                         variants=(str, "known,rbf,deep-kernel", "kernels to check"))
# Changes, and the shares that are accepted (README.md).
VARIANTS = {
    "known": (["model.encoder=rbf", "training.learning_rate=1e-6", "model.prior_sd=0.05", "federation.rounds=2"], (0.85, 0.95)),
    "rbf": (["model.encoder=rbf"], (0.80, 0.95)),
    "deep-kernel": (["model.encoder=deep-kernel"], (0.80, 0.95)),
}
KERNELS = [(1.5, 10), (2, 8)]  # (r, l) of J.1


def simulate(seed):
    """One file a client; f and lambda of both clients on the grid 0, 0.1, ..., 100, and the events."""
    base, truth, events = args.out / f"truth{seed}-{args.streams}", [], []
    base.mkdir(exist_ok=True)
    for c, (variance, lengthscale) in enumerate(KERNELS):
        file = base / f"client{c}.csv"
        if not file.is_file():
            subprocess.run([args.fedpp, "simulate", "cox", "--sequences", str(args.streams), "--variance", str(variance), "--lengthscale",
                            str(lengthscale), "--seed", str(100 * seed + c), "--out", file], check=True, stdout=subprocess.DEVNULL)
        truth.append(np.loadtxt(base / f"client{c}.truth.csv", delimiter=",", skiprows=1))
        events.append(np.loadtxt(file, delimiter=",", skiprows=1, ndmin=2)[:, 1])
    return base, truth, events


ok, shown, table = True, {}, []
for encoder in args.variants.split(","):
    covered = np.zeros((args.seeds, 2))
    for seed in range(1, args.seeds + 1):
        base, truth, events = simulate(seed)
        run = args.out / f"{encoder}{seed}-{args.streams}"
        files, windows = f"{base}/client{{client}}.csv", f"{base}/client{{client}}.windows.csv"
        running.train(args.fedpp, here / "synthetic.toml", run, [f"data.client_files={files}", f"data.test={files}",
                      f"data.windows={windows},{windows}", f"federation.seed={seed}", *VARIANTS[encoder][0]])
        with h5py.File(run / "result.h5") as file:
            for c in range(2):
                curve = {key: file[f"curves/client_{c:06d}"][key][()] for key in ["time", "lower", "median", "upper"]}
                assert np.allclose(curve["time"], truth[c][:, 1])
                inside = (curve["lower"] <= truth[c][:, 3]) & (truth[c][:, 3] <= curve["upper"])
                covered[seed - 1, c] = inside.mean()
                error = np.sqrt(np.mean((curve["median"] - truth[c][:, 3]) ** 2)) / truth[c][:, 3].mean()
                table.append([encoder, seed, c, len(events[c]), f"{inside.mean():.4f}", f"{error:.4f}"])
                shown.setdefault((encoder, seed, c), (curve, truth[c], events[c]))
    mean, error = covered.mean(), covered.mean(1).std(ddof=1) / np.sqrt(args.seeds) if args.seeds > 1 else np.nan
    for c in range(2):
        print(f"{encoder}, client {c}: " + " ".join(f"{x:.2f}" for x in covered[:, c]))
    low, high = VARIANTS[encoder][1]
    ok &= running.verdict(low <= mean <= high, f"{encoder}: truth inside the 90 % band for {100 * mean:.1f} % of the time, "
                          f"standard error {100 * error:.1f} ({100 * low:.0f} to {100 * high:.0f}; {args.seeds} data sets, 2 clients each)")

with open(args.out / "synthetic.csv", "w", newline="", encoding="utf-8") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow(["variant", "seed", "client", "events", "inside_band", "relative_rmse_of_median"])
    out.writerows(table)

# The first data set: m sigma(f), and f itself up to the constant that m leaves open, against the truth.
rows = args.variants.split(",")
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
            axis.plot(events, np.full(len(events), floor), "|", color="#444", ms=8, label="events")
            axis.set_title(f"{encoder}, client {c}, {len(events)} events: {name}", loc="left", fontsize=10)
            axis.spines[["top", "right"]].set_visible(False)
axes[0, 1].legend(frameon=False, ncol=2, loc="upper right")
for axis in axes[-1]:
    axis.set_xlabel("time")
figure.savefig(args.out / "synthetic.png", dpi=110)
print(f"figure: {args.out / 'synthetic.png'}")
sys.exit(0 if ok else 1)
