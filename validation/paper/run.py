#!/usr/bin/python3
"""One experiment of the paper: trains what is missing of its grid, then writes results.csv, draws the figure, prints the tables.

  run.py aggregation                   into OUT/aggregation; resumable: finished runs are kept, an interrupted one goes on from its checkpoint
  run.py aggregation --update          only what the repository's results.csv lacks, into that and its figure
  run.py aggregation --quick           seconds, on data that ship or are simulated
  run.py aggregation --full            the size that its README states
  run.py aggregation --task 3/20       only trains every 20th run from the 3rd, as one of 20 tasks of a job array
  run.py aggregation --table           only gathers what is there
  run.py heterogeneous --next-event    and then how well the finished runs foretell the next event: results-next-event.csv
  run.py heterogeneous --only model=LSTM,attention --only data=chronological/amazon

Runs lie in OUT/runs by data set and settings, shared by all experiments. See README.md."""
import functools
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import figure
import next_event
import tables
from experiment import HERE, Experiment, running

EXPERIMENTS = sorted(path.parent.name for path in HERE.glob("*/experiment.toml"))


def parse():
    options = running.arguments(
        __doc__, positional=("experiment", EXPERIMENTS, "folder here"),
        seeds=(int, 0, "seeds 1 to this; 0: as the experiment says"), quick=(bool, False, "the size of the test suite"),
        full=(bool, False, "the whole size"), task=(str, "", "N/M: train the Nth of M parts, gather nothing"),
        table=(bool, False, "train nothing"), update=(bool, False, "go on from the repository's results and write them anew"), only=(list, [], "AXIS=LEVEL[,LEVEL] or data=NAME[,NAME]: train and print only these"),
        **{"next-event": (bool, False, "then evaluate forecasts of the next event, too")}, launch=(str, "", "words before the program, as 'srun -n 4'"))
    if options.quick and options.full:
        sys.exit("--quick and --full: choose one")
    if options.task and options.next_event:
        sys.exit("--task trains a part and gathers nothing, so it has no --next-event: give that to the command that gathers")
    if options.quick and (options.task or options.update):
        sys.exit("--quick starts from nothing and says nothing about the method, so it has no --task and no --update")
    return options


def part(text):
    """'3/20' -> (2, 20)."""
    number, slash, parts = text.partition("/")
    if not (slash and number.isdigit() and parts.isdigit() and 1 <= int(number) <= int(parts)):
        sys.exit(f"--task {text}: give N/M with 1 <= N <= M")
    return int(number) - 1, int(parts)


def chosen_levels(texts):
    """["model=LSTM,decay", "data=a"] -> {"model": ["LSTM", "decay"], "data": ["a"]}."""
    chosen = {}
    for text in texts:
        axis, equals, labels = text.partition("=")
        if not equals:
            sys.exit(f"--only {text}: give AXIS=LEVEL[,LEVEL]")
        if axis in chosen:
            sys.exit(f"--only {text}: {axis} was given before; put its levels behind one another, with commas")
        chosen[axis] = labels.split(",")
    return chosen


def train(options, experiment, rows):
    """Trains what has no row; returns the rows then there. With --task a part, whose runs are gathered by a later command."""
    number, parts = part(options.task) if options.task else (0, 1)
    skipped = set()
    for index, run in enumerate(experiment.runs()):
        if index % parts != number or run.key in rows:
            continue
        if run.data.missing():
            skipped.add(f"{run.data.name}: {run.data.missing()} is not here (FEDPP_SHARED names the folder above data/)")
            continue
        row = run.row(run.train(options.fedpp, options.out, options.launch))
        print(" ".join([run.data.name, *run.levels.values(), f"seed {run.seed}:", row["headline"], f"({float(row['seconds']):.0f} s)"]), flush=True)
    for text in sorted(skipped):
        print(f"skipped: {text}")


def gather(options, experiment, results, measured):
    """Rows of a file of results, and measured(run) of finished runs that it lacks; written where there are new ones."""
    rows, stale = experiment.read(results)
    if stale:
        print(f"{results}: {stale} row{'s have' if stale > 1 else ' has'} other settings than the experiment now; left out")
    new = {}
    for run in experiment.runs():
        if run.key not in rows and (run.folder(options.out) / "result.json").is_file():
            new[run.key] = measured(run)
    rows.update(new)
    if new:
        experiment.write(results, rows)
    return rows


def trained(options, run):
    return run.row(running.json.loads((run.folder(options.out) / "result.json").read_text(encoding="utf-8")))


def run_command(options, experiment, target):
    """An experiment that is a check elsewhere: run it, and keep its table and figure here."""
    script, *rest = experiment.command
    out = options.out / f"{experiment.name}{experiment.size and '-' + experiment.size}"
    made = {suffix: out / f"{pathlib.Path(script).parent.name}.{suffix}" for suffix in ("csv", "png")}
    for path in made.values():
        path.unlink(missing_ok=True)
    code = subprocess.run([sys.executable, experiment.folder / script, *rest, "--fedpp", options.fedpp, "--out", out, "--seeds", str(experiment.seeds)]).returncode
    for suffix, path in made.items():
        if path.is_file():  # there also where the check fails, for that is a result
            shutil.copyfile(path, target.with_suffix(f".{suffix}"))
    return code


def main():
    options = parse()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    size = "quick" if options.quick else "full" if options.full else ""
    experiment = Experiment(options.experiment, size, options.seeds)
    if options.quick:  # from nothing every time: it says whether the machinery works, not what the method does
        options.out = options.out / f"quick-{experiment.name}"
        shutil.rmtree(options.out, ignore_errors=True)
    folder = experiment.folder if options.update else options.out if options.quick else options.out / experiment.name
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"results{'-full' if options.full else ''}.csv"
    if experiment.command:
        if options.table or options.task or options.only or options.next_event:
            sys.exit(f"{experiment.name} is one check as a whole: it has no --table, --task, --only or --next-event")
        return run_command(options, experiment, target)
    chosen = Experiment(options.experiment, size, options.seeds, chosen_levels(options.only))
    if not options.table:
        train(options, chosen, experiment.read(target)[0])
    if options.task:
        return 0
    rows = gather(options, experiment, target, functools.partial(trained, options))
    if not rows:
        print("no results")
        return 0
    figure.draw(experiment, rows, target.with_suffix(".png"))
    print(tables.summary(chosen, rows))
    print("\n" + tables.comparisons(chosen, rows))
    if choices := tables.choices(chosen, rows):
        print("\n" + choices)
    print(f"\nWritten: {target} and its figure")
    if options.next_event:
        forecasts = target.with_name(f"{target.stem}-next-event.csv")
        rows = gather(options, experiment, forecasts, functools.partial(next_event.measure, options))
        print("\n" + next_event.summary(chosen, rows))
        print(f"\nWritten: {forecasts}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
