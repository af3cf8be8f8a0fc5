#!/usr/bin/env python3
"""scaling.py BUILD OUT [--clients K ...] [--ranks R ...] - what a round costs as clients and ranks grow, as OUT/scaling.csv and OUT/scaling.png.

  python3 bench/scaling.py build/cpu out/scaling --clients 20 50 100 200 500 1000 2000 --ranks 1 2 4 8 50 200

Clients: workload d (bench/workloads.hpp) with K of them, all in every round, on one rank. Ranks: the same with 200 clients. Of every run: seconds a round
by phase (of the slowest rank, waiting included), seconds of loading and of one checkpoint, peak memory of the largest rank, bytes that rank 0 sent. A
straight line through the runs of up to half of the most clients is carried on to the others, and its error there is printed. Finished runs are kept.
"""
import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys

ROUNDS = 3
PHASES = ["broadcast", "start", "local update", "aggregate", "metrics"]
# Runs the program and adds its peak memory (KB on Linux) to a file of the rank's own.
MEASURED = ("import os,resource,subprocess,sys; code=subprocess.run(sys.argv[2:]).returncode; "
            "open(sys.argv[1]+'-'+os.environ.get('OMPI_COMM_WORLD_RANK','0'),'w').write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)); sys.exit(code)")


def parse():
    parser = argparse.ArgumentParser(usage=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--clients", type=int, nargs="*", default=[20, 50, 100, 200, 500, 1000, 2000])
    parser.add_argument("--ranks", type=int, nargs="*", default=[1, 2, 4, 8, 50, 200])
    parser.add_argument("--launch", default="mpirun --oversubscribe -n", help="words before the number of ranks")
    return parser.parse_args()


def run(options, clients, ranks):
    """One row of the table."""
    data, folder = options.out / f"clients-{clients}", options.out / f"clients-{clients}-ranks-{ranks}"
    if not (data / "run.toml").is_file():
        data.mkdir(parents=True, exist_ok=True)
        subprocess.run([options.build / "bench/fedpp_workload", "d", data, str(clients)], check=True, stdout=subprocess.DEVNULL)
    if not (folder / "result.json").is_file():
        settings = {"federation.rounds": ROUNDS, "federation.validate_every": 0, "output.checkpoint_every": 0, "evaluation.trivial_models": False}
        train = [options.build / "src/fedpp", "train", data / "run.toml", "--out", folder, *(f"--set={k}={json.dumps(v)}" for k, v in settings.items())]
        peak = options.out / f"peak-{clients}-{ranks}"
        launch = [*options.launch.split(), str(ranks)] if ranks > 1 else []
        subprocess.run([*launch, sys.executable, "-c", MEASURED, peak, *train], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
    result = json.loads((folder / "result.json").read_text())
    seconds = {phase: result["phases"].get(phase, 0.0) / ROUNDS for phase in PHASES}
    peaks = [int(path.read_text()) / 1024 for path in options.out.glob(f"peak-{clients}-{ranks}-*")]
    return {"clients": clients, "ranks": ranks, **seconds, "round": sum(seconds.values()), "load": result["phases"]["load"],
            "checkpoint": result["phases"]["checkpoint"],  # one, at the end
            "peak_MB_of_a_rank": max(peaks), "bytes_a_round_of_rank_0": result["rounds"][-1]["bytes_rank_0"]}


def carried_on(rows, column):
    """Least squares through the runs of up to half of the most clients: intercept, slope, and the error in percent at the others."""
    most = max(row["clients"] for row in rows)
    fit, rest = [r for r in rows if r["clients"] <= most / 2], [r for r in rows if r["clients"] > most / 2]
    if len(fit) < 2:
        return None
    weights = [1 / r[column] ** 2 for r in fit]  # of relative errors
    total = sum(weights)
    x = sum(w * r["clients"] for w, r in zip(weights, fit)) / total
    y = sum(w * r[column] for w, r in zip(weights, fit)) / total
    slope = (sum(w * (r["clients"] - x) * (r[column] - y) for w, r in zip(weights, fit)) /
             sum(w * (r["clients"] - x) ** 2 for w, r in zip(weights, fit)))
    intercept = y - slope * x
    errors = {r["clients"]: 100 * ((intercept + slope * r["clients"]) / r[column] - 1) for r in rest}
    return intercept, slope, errors


def show(rows, title):
    print(f"\n{title}")
    print("  ".join(f"{name[:14]:>14}" for name in rows[0]))
    for row in rows:
        print("  ".join(f"{value:>14.4g}" for value in row.values()))


def plot(by_clients, by_ranks, path):
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        print("no Matplotlib: the picture is not drawn")
        return
    figure, axes = plt.subplots(1, 3, figsize=(15, 4.4), constrained_layout=True)
    colours = {"local update": "#0b5fa5", "aggregate": "#e08214", "metrics": "#5aae61", "round": "#404040"}
    for axis, rows, x in ((axes[0], by_clients, "clients"), (axes[1], by_ranks, "ranks")):
        for phase, colour in colours.items():
            axis.loglog([r[x] for r in rows], [max(r[phase], 1e-6) for r in rows], "o-" if phase != "round" else "--", color=colour, label=phase)
        axis.set(xlabel=x, ylabel="time a round (s)")
        axis.legend(frameon=False)
    axes[0].set_title("Clients, one rank")
    axes[1].set_title("Ranks, 200 clients, " + f"{os.cpu_count()} cores")
    axes[2].semilogx([r["clients"] for r in by_clients], [r["peak_MB_of_a_rank"] for r in by_clients], "o-", color="#0b5fa5", label="clients, one rank")
    axes[2].semilogx([r["ranks"] for r in by_ranks], [r["peak_MB_of_a_rank"] for r in by_ranks], "s-", color="#e08214", label="ranks, 200 clients")
    axes[2].set(xlabel="clients or ranks", ylabel="peak memory of a rank (MB)", title="Memory", ylim=(0, None))
    axes[2].legend(frameon=False)
    for axis in axes:
        axis.grid(True, color="#e4e4e4")
    figure.savefig(path, dpi=130)
    print(path)


def main():
    options = parse()
    options.build, options.out = options.build.resolve(), options.out.resolve()
    by_clients = [run(options, k, 1) for k in options.clients]
    by_ranks = [run(options, 200, r) for r in options.ranks]
    rows = by_clients + [row for row in by_ranks if row not in by_clients]
    with open(options.out / "scaling.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(rows[0])
        writer.writerows([[f"{v:.6g}" for v in row.values()] for row in rows])
    for title, part in (("clients, one rank (seconds)", by_clients), ("ranks, 200 clients (seconds)", by_ranks)):
        if part:
            show(part, title)
    if line := carried_on(by_clients, "round"):
        print(f"\nround = {line[0]:.4g} + {line[1]:.4g} clients (s); carried on to " + ", ".join(f"{k}: {e:+.1f} %" for k, e in line[2].items()))
    if by_clients and by_ranks:
        plot(by_clients, by_ranks, options.out / "scaling.png")


if __name__ == "__main__":
    main()
