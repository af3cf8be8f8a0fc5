#!/usr/bin/env python3
"""scaling.py OUT - seconds of a round over the number of ranks, from OUT/ranks-N, as OUT/scaling.csv and OUT/scaling.png.

The median over the rounds, the first left out (it pays for start-up). Speed-up is against the smallest number of ranks. Ends with code 1 where the global
parameters of two numbers of ranks differ in a bit. Without Matplotlib the table alone is written, and that is said.
"""

import csv
import json
import pathlib
import statistics
import sys


def main():
    if len(sys.argv) != 2:
        print("usage: scaling.py OUT", file=sys.stderr)
        return 2
    out = pathlib.Path(sys.argv[1])
    rows, thetas = [], {}
    for path in sorted(out.glob("ranks-*/result.json"), key=lambda p: int(p.parent.name.split("-")[1])):
        result = json.loads(path.read_text(encoding="utf-8"))
        rounds = result["rounds"][1:] or result["rounds"]
        rows.append({"ranks": result["ranks"], "seconds_a_round": statistics.median(r["seconds"] for r in rounds),
                     "imbalance": statistics.median(r.get("imbalance") or 1 for r in rounds)})
        thetas[result["ranks"]] = result["theta"]
    if not rows:
        print(f"scaling.py: {out} holds no finished run ranks-N", file=sys.stderr)
        return 2
    first = rows[0]
    for row in rows:
        row["speed_up"] = first["seconds_a_round"] / row["seconds_a_round"]
        row["efficiency"] = row["speed_up"] * first["ranks"] / row["ranks"]
    with open(out / "scaling.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(rows[0])
        writer.writerows([[f"{v:.6g}" for v in row.values()] for row in rows])
    print("  ".join(f"{name:>15}" for name in rows[0]))
    for row in rows:
        print("  ".join(f"{value:>15.4g}" for value in row.values()))
    different = [n for n, theta in thetas.items() if theta != thetas[first["ranks"]]]
    print(f"global parameters: {'the same bits on every number of ranks' if not different else f'DIFFERENT on {different} ranks'}")
    plot(rows, out / "scaling.png")
    return 1 if different else 0


def plot(rows, path):
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
        from matplotlib.ticker import NullLocator
    except ImportError:
        print("no Matplotlib: scaling.png is not drawn")
        return
    ranks = [row["ranks"] for row in rows]
    figure, (time, efficiency) = plt.subplots(1, 2, figsize=(10, 4), constrained_layout=True)
    time.loglog(ranks, [row["seconds_a_round"] for row in rows], "o-", color="#0b5fa5", label="measured")
    time.loglog(ranks, [rows[0]["seconds_a_round"] * ranks[0] / n for n in ranks], "--", color="#9a9a9a", label="ideal")
    time.set(xlabel="ranks", ylabel="median time of a round (s)", title="Time")
    time.legend(frameon=False)
    efficiency.semilogx(ranks, [100 * row["efficiency"] for row in rows], "o-", color="#0b5fa5", label="parallel efficiency")
    efficiency.semilogx(ranks, [100 / row["imbalance"] for row in rows], "s:", color="#e08214", label="limit set by the imbalance of clients")
    efficiency.set(xlabel="ranks", ylabel="efficiency (%)", ylim=(0, 108), title="Efficiency")
    efficiency.legend(frameon=False)
    for axis in (time, efficiency):
        axis.set_xticks(ranks, [str(n) for n in ranks])
        axis.xaxis.set_minor_locator(NullLocator())  # those of the times stay: they are the only labels within a decade
        axis.grid(True, color="#e4e4e4")
    figure.savefig(path, dpi=130)
    print(path)


if __name__ == "__main__":
    sys.exit(main())
