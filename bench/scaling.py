#!/usr/bin/env python3
"""scaling.py BUILD OUT [--clients K ...] [--ranks R ...] [--weak K] - what a round costs as clients and ranks grow, as OUT/scaling.csv and OUT/scaling.png.

  python3 bench/scaling.py build/cpu out/scaling --clients 20 50 100 200 500 1000 2000 5000 20000 --ranks 1 2 4 8 50 200
  python3 bench/scaling.py build/cpu out/scaling --launch "srun -n" --cores 32 --clients --ranks 1 2 4 8 16 32 --weak 100

Clients: workload d (bench/workloads.hpp) with K of them, all in every round, on one rank. Strong: the same with 200 clients on R ranks. Weak: with
K clients for every one of R ranks. Of every run: seconds a round by phase (of the slowest rank, waiting included), seconds of loading and of one
checkpoint, peak memory of the largest rank, bytes that rank 0 sent. For a round, a checkpoint and memory a straight line through the runs of up to half of
the most clients is carried on to the others, and its error there is printed. 'wait' is for the rank whose local update takes longest. The ideal shares all work evenly among min(ranks, --cores) cores. Finished runs are kept.
"""
import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys

ROUNDS = 3
LAUNCH = "mpirun --oversubscribe -n"
PHASES = ["broadcast", "start", "local update", "wait", "aggregate", "metrics"]
# Runs the program and writes its peak memory (KB on Linux) into a file of its own: ranks have no common name for their number.
MEASURED = ("import os,resource,subprocess,sys; code=subprocess.run(sys.argv[2:]).returncode; "
            "open(sys.argv[1]+'-'+os.uname().nodename+'-'+str(os.getpid()),'w').write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)); sys.exit(code)")


def parse():
    parser = argparse.ArgumentParser(usage=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--clients", type=int, nargs="*", default=[20, 50, 100, 200, 500, 1000, 2000, 5000, 20000])
    parser.add_argument("--ranks", type=int, nargs="*", default=[1, 2, 4, 8, 50, 200])
    parser.add_argument("--weak", type=int, default=10, help="clients a rank")
    parser.add_argument("--cores", type=int, default=os.cpu_count(), help="that all ranks share")
    parser.add_argument("--launch", default=LAUNCH, help="words before the number of ranks")
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
        for old in options.out.glob(f"{peak.name}-*"):
            old.unlink()
        launch = [] if ranks == 1 and options.launch == LAUNCH else [*options.launch.split(), str(ranks)]
        subprocess.run([*launch, sys.executable, "-c", MEASURED, peak, *train], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
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


def ideal(rows, cores, weak):
    """Seconds a round that the first row's would become: work shared by the cores, with all of it (strong) or with a rank's own (weak)."""
    first = rows[0]
    share = [min(row["ranks"], cores) / min(first["ranks"], cores) for row in rows]
    work = [row["clients"] / first["clients"] if weak else 1 for row in rows]
    return [first["round"] * w / s for w, s in zip(work, share)]


def plot(by_clients, strong, weak, cores, path):
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        print("no Matplotlib: the picture is not drawn")
        return
    figure, axes = plt.subplots(2, 2, figsize=(12, 8.4), constrained_layout=True)
    colours = {"local update": "#0b5fa5", "wait": "#9970ab", "aggregate": "#e08214", "metrics": "#5aae61", "round": "#404040"}
    panels = ((axes[0][0], by_clients, "clients", "Clients, one rank"),
              (axes[0][1], strong, "ranks", f"Strong scaling: 200 clients, {cores} cores"),
              (axes[1][0], weak, "ranks", f"Weak scaling: the clients grow with the ranks, {cores} cores"))
    for axis, rows, x, title in panels:
        axis.set(xlabel=x, ylabel="time a round (s)", title=title)
        for phase, colour in colours.items():
            axis.loglog([r[x] for r in rows], [max(r[phase], 1e-6) for r in rows], "o-" if phase != "round" else "--", color=colour, label=phase)
        if rows and x == "ranks":
            axis.loglog([r[x] for r in rows], ideal(rows, cores, rows is weak), ":", color="#404040", label="ideal")
    memory = axes[1][1]
    for rows, x, style, colour, label in ((by_clients, "clients", "o-", "#0b5fa5", "clients, one rank"), (strong, "ranks", "s-", "#e08214", "ranks, strong"),
                                          (weak, "ranks", "^-", "#5aae61", "ranks, weak")):
        memory.semilogx([r[x] for r in rows], [r["peak_MB_of_a_rank"] for r in rows], style, color=colour, label=label)
    memory.set(xlabel="clients or ranks", ylabel="peak memory of a rank (MB)", title="Memory", ylim=(0, None))
    for axis in axes.flat:
        axis.grid(True, color="#e4e4e4")
        axis.legend(frameon=False)
    figure.savefig(path, dpi=130)
    print(path)


def main():
    options = parse()
    options.build, options.out = options.build.resolve(), options.out.resolve()
    if not (options.build / "bench/fedpp_workload").is_file():
        sys.exit(f"scaling: {options.build} has no bench/fedpp_workload: name a folder that was built with -DFEDPP_BUILD_BENCH=ON")
    by_clients = [run(options, k, 1) for k in options.clients]
    strong = [run(options, 200, r) for r in options.ranks]
    weak = [run(options, options.weak * r, r) for r in options.ranks]
    rows = []
    for row in by_clients + strong + weak:
        if row not in rows:
            rows.append(row)
    with open(options.out / "scaling.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(rows[0] if rows else [])
        writer.writerows([[f"{v:.6g}" for v in row.values()] for row in rows])
    if by_clients:
        show(by_clients, "clients, one rank (seconds)")
    for name, part in (("strong", strong), ("weak", weak)):
        if part:
            best = ideal(part, options.cores, part is weak)
            show([{**row, "ideal": t, "efficiency": t / row["round"]} for row, t in zip(part, best)], f"{name} scaling (seconds)")
    for column, unit in (("round", "s"), ("checkpoint", "s"), ("peak_MB_of_a_rank", "MB")):
        if by_clients and (line := carried_on(by_clients, column)):
            print(f"\n{column} = {line[0]:.4g} + {line[1]:.4g} clients ({unit}); carried on to " + ", ".join(f"{k}: {e:+.1f} %" for k, e in line[2].items()))
    if rows:
        plot(by_clients, strong, weak, options.cores, options.out / "scaling.png")


if __name__ == "__main__":
    main()
