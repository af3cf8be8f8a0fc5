#!/usr/bin/env python3
"""Population protocol: learned together against learned alone and against the trivial models (README.md here).

Runs the grid data set x share of the local data x mode x seed one after another; a finished run is kept, an interrupted
one goes on from its checkpoint, so the command may be stopped and given again. Writes results.csv into
OUT and prints the table; with --update it goes on from the results.csv beside it and writes that."""
import csv
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import running  # noqa: E402

DATA = {"taobao": "taobao", "taobao-linear": "taobao", "amazon": "amazon", "stackoverflow": "stackoverflow"}  # a row's name -> its deck and data
# What clients share is a function of time, too: the deep kernel with a linear prior mean.
LINEAR = ["model.encoder=deep-kernel", "model.mean=linear", "model.start_weight_scale=2", "training.learning_rate=0.01", "training.learning_rate_kernel=0.03"]
HISTOGRAMS = {"homogeneous": "homogeneous", "histogram, 50 bins": "bins_50", "histogram, bins by 5-fold": "bins_5fold"}
COLUMNS = ["data", "percent", "mode", "seed", "headline", "plug_in", "last_round", "best_round",
           *HISTOGRAMS.values(), "seconds"]


def grid(numbers, percents, data):
    """Cheap and telling runs first; local-only training is asked for where the data are few."""
    for percent in percents:
        for seed in numbers:
            for name in data:
                for mode in ("federated", "local") if percent < 100 else ("federated",):
                    yield name, percent, mode, seed


def row_of(cell, result):
    name, percent, mode, seed = cell
    scores = {model["name"]: model for model in result["scores"]["models"]}
    ours = scores["local only" if mode == "local" else "fedpp"]
    row = {"data": name, "percent": f"{percent:g}", "mode": mode, "seed": seed, "headline": ours["headline"],
           "plug_in": ours["plug_in"], "best_round": result["best_round"],
           "last_round": result.get("last_round", ours)["headline"], "seconds": sum(result["phases"].values())}
    for model, column in HISTOGRAMS.items():
        row[column] = scores[model]["headline"]
    return {key: f"{value:.5f}" if isinstance(value, float) else value for key, value in row.items()}


def read(path):
    if not path.is_file():
        return {}
    with open(path, newline="", encoding="utf-8") as file:
        return {(row["data"], float(row["percent"]), row["mode"], int(row["seed"])): row for row in csv.DictReader(file)}


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        out.writeheader()
        out.writerows(rows[key] for key in sorted(rows))


def summary(rows):
    """Markdown: one line a data set and share. The best trivial model is that of each seed's test score."""
    lines = ["| data | % | seeds | federated | local only | homogeneous | 50 bins | 5-fold bins | over best trivial | over local |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    value = lambda row, column: float(row[column])  # noqa: E731
    text = lambda some, column: running.mean_sd([value(r, column) for r in some.values()])  # noqa: E731
    gain = lambda pairs: "{:+.3f}±{:.3f}".format(*running.paired(pairs)) if pairs else ""  # noqa: E731
    for name, percent in sorted({key[:2] for key in rows}, key=lambda k: (list(DATA).index(k[0]), k[1])):
        ours = {key[3]: row for key, row in rows.items() if key[:3] == (name, percent, "federated")}
        alone = {key[3]: row for key, row in rows.items() if key[:3] == (name, percent, "local")}
        if not ours:
            continue
        trivial = [(value(r, "headline"), max(value(r, c) for c in HISTOGRAMS.values())) for r in ours.values()]
        local = [(value(ours[s], "headline"), value(alone[s], "headline")) for s in ours if s in alone]
        lines.append(f"| {name} | {percent:g} | {len(ours)} | {text(ours, 'headline')} | {text(alone, 'headline')} | "
                     + " | ".join(text(ours, c) for c in HISTOGRAMS.values()) + f" | {gain(trivial)} | {gain(local)} |")
    return "\n".join(lines)


def claims(rows, numbers):
    """One line a claim of README.md whose runs are all there; true if all of those hold."""
    held = True
    score = lambda key, column: float(rows[key][column])  # noqa: E731
    for name, percent in sorted({key[:2] for key in rows}):
        ours = [(name, percent, "federated", seed) for seed in numbers]
        if not all(key in rows for key in ours):
            continue
        if percent == 100:
            for column in ("bins_50", "bins_5fold")[: 2 if DATA[name] == "taobao" else 1]:
                gain, error = running.paired([(score(key, "headline"), score(key, column)) for key in ours])
                held &= running.verdict(gain >= 0, f"{name}, all data: not below {column} ({gain:+.4f}±{error:.4f})")
            continue
        rivals = {"the best trivial model": [max(score(key, c) for c in HISTOGRAMS.values()) for key in ours]}
        alone = [(name, percent, "local", seed) for seed in numbers]
        if all(key in rows for key in alone):
            rivals["local-only training"] = [score(key, "headline") for key in alone]
        for rival, scores in rivals.items():
            gain, error = running.paired([(score(key, "headline"), other) for key, other in zip(ours, scores)])
            held &= running.verdict(gain > 2 * error, f"{name}, {percent:g} %: above {rival} by two standard errors ({gain:+.4f}±{error:.4f})")
    return held


def main():
    options = running.arguments(__doc__, seeds=(int, 5, "the last seed"), first=(int, 1, "the first seed"),
                                percents=(str, "1,5,10,100", "shares of the local data"),
                                data=(str, ",".join(DATA), "data sets"),
                                quick=(bool, False, "one seed, 1 %% of Taobao and Amazon: two minutes"),
                                table=(bool, False, "only print the table of results.csv"),
                                update=(bool, False, "go on from the repository's results and write them anew"))
    if options.quick and options.update:
        sys.exit("--quick says nothing about the claims, so it has no --update")
    if options.quick:
        options.seeds, options.percents, options.data = 1, "1", "taobao,amazon"
    results = (HERE if options.update else options.out) / "results.csv"
    rows = read(results)
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    data = options.data.split(",")
    numbers = range(options.first, options.seeds + 1)
    for cell in [] if options.table else grid(numbers, [float(p) for p in options.percents.split(",")], data):
        if cell in rows:
            continue
        name, percent, mode, seed = cell
        folder = running.need(f"{DATA[name]}_fedpp")
        changes = [f'data.{part}=["{folder / part}.csv.gz"]' for part in ("train", "test")]
        changes += [f"data.local_fraction={percent / 100:g}", f"federation.mode={mode}", f"federation.seed={seed}"]
        changes += LINEAR if name == "taobao-linear" else []
        result = running.train(options.fedpp, HERE / f"{DATA[name]}.toml", options.out / f"{name}-{percent:g}-{mode}-{seed}", changes)
        rows[cell] = row_of(cell, result)
        write(results, rows)
        print(" ".join(str(v) for v in rows[cell].values()), flush=True)
    rows = {key: row for key, row in rows.items() if key[3] in numbers}
    print(summary(rows))
    return 0 if options.quick or claims(rows, numbers) else 1


if __name__ == "__main__":
    sys.exit(main())
