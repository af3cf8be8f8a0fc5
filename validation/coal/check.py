#!/usr/bin/python3
"""The coal-mining disasters: the posterior intensity before 1890 and after 1900. See README.md."""
import gzip
import pathlib
import sys

import h5py
import matplotlib
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import running

matplotlib.use("Agg")
import matplotlib.pyplot as plt

here = pathlib.Path(__file__).resolve().parent
args = running.arguments(__doc__)
events_file = running.need("coal") / "train.csv.gz"
with gzip.open(events_file, "rt", encoding="utf-8") as file:
    times = np.array([float(line.split(",")[1]) for line in file.readlines()[1:]])
windows = args.out / "windows.csv"
windows.write_text(f"sequence,start,end\n0,{float(times[0])!r},{float(times[-1])!r}\n", encoding="utf-8")

ok = True
figure, axes = plt.subplots(1, 2, figsize=(12, 4.2), sharey=True, constrained_layout=True)
for axis, encoder in zip(axes, ["rbf", "deep-kernel"]):
    run = args.out / encoder
    result = running.train(args.fedpp, here / "coal.toml", run, [
        f"data.train={events_file}", f"data.test={events_file}", f"data.windows={windows},{windows}", f"model.encoder={encoder}"])
    with h5py.File(run / "result.h5") as file:
        curve = {key: file["curves/client_000000"][key][()] for key in ["time", "mean", "lower", "median", "upper"]}
    t = curve["time"]
    early, late = t < 1890, t > 1900
    for name, part, about, low, high in [("before 1890", early, 3, 2.5, 3.6), ("after 1900", late, 1, 0.6, 1.3)]:
        mean = curve["mean"][part].mean()
        counted = ((times[1:-1] < 1890) if part is early else (times[1:-1] > 1900)).sum() / (1890 - t[0] if part is early else t[-1] - 1900)
        band = np.mean((curve["lower"][part] <= about) & (about <= curve["upper"][part]))
        ok &= running.verdict(low <= mean <= high, f"{encoder}: mean intensity {name} is {mean:.2f} a year (between {low} and {high}; counted {counted:.2f})")
        ok &= running.verdict(band > 0.5, f"{encoder}: {about} a year lies in the 90 % band for {100 * band:.0f} % of the time {name} (more than half)")
    apart = np.median(curve["lower"][early]) > np.median(curve["upper"][late])
    ok &= running.verdict(apart, f"{encoder}: the typical bands before and after are apart ({np.median(curve['lower'][early]):.2f} > {np.median(curve['upper'][late]):.2f})")
    axis.fill_between(t, curve["lower"], curve["upper"], color="#0b5fa5", alpha=0.22, lw=0, label="5 to 95 %")
    axis.plot(t, curve["median"], color="#0b5fa5", label="median")
    axis.plot(times, np.full(len(times), -0.12), "|", color="#444", ms=7, label="disasters")
    axis.hlines([3, 1], [t[0], 1900], [1890, t[-1]], color="#c8442b", ls="--", lw=1, label="3 and 1 a year")
    axis.set(title=encoder, xlabel="year", ylim=(-0.3, None))
    axis.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("disasters a year")
axes[0].legend(frameon=False)
figure.savefig(args.out / "coal.png", dpi=120)
print(f"figure: {args.out / 'coal.png'}")
sys.exit(0 if ok else 1)
