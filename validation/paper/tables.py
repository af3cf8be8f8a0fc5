"""Rows of results.csv as Markdown: means over seeds, and paired differences."""
import collections
import statistics

from experiment import BY_VALIDATION, MEASURED, running


def trivial_models(experiment, rows):
    known = {"data", *experiment.axes, "seed", *MEASURED}
    return list(dict.fromkeys(key for row in rows.values() for key in row if key not in known))


def cells(experiment, rows):
    """(data set, levels) -> {seed: row}, in the order of the grid."""
    found = {}
    for run in experiment.runs():
        if run.key in rows:
            found.setdefault((run.data.name, tuple(run.levels.values())), {})[run.seed] = rows[run.key]
    return found


def values(of_seed, column):
    return [float(row[column]) for row in of_seed.values() if row.get(column)]


def best_trivial(row, names):
    return max(float(row[name]) for name in names if row.get(name))


def difference(pairs, digits=4):
    """Mean±standard error and what it says; more than two standard errors are outside seed noise."""
    if not pairs:
        return "", ""
    gain, error = running.paired(pairs)
    if len(pairs) < 3:
        return f"{gain:+.{digits}f}", "too few seeds"
    return f"{gain:+.{digits}f}±{error:.{digits}f}", "above" if gain > 2 * error else "below" if gain < -2 * error else "tie"


def summary(experiment, rows):
    """A line a cell: score, trivial models, distance to the best of these (best on that seed's test events)."""
    names = trivial_models(experiment, rows)
    head = ["data", *experiment.axes, "seeds", "fedpp", "plug-in", "KS", *names, "over best trivial", "best round", "seconds"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for (data, levels), of_seed in cells(experiment, rows).items():
        over, _ = difference([(float(row["headline"]), best_trivial(row, names)) for row in of_seed.values() if names])
        lines.append("| " + " | ".join([
            data, *levels, str(len(of_seed)), *(running.mean_sd(values(of_seed, c)) for c in ("headline", "plug_in", "ks", *names)), over,
            *(f"{statistics.mean(values(of_seed, c)):.0f}" for c in ("best_round", "seconds"))]) + " |")
    return "\n".join(lines)


def name_of(levels):
    return " + ".join(map(str, levels.values()))


def comparisons(experiment, rows):
    """A line a comparison and data set: same seed and same levels of the axes that neither side names."""
    names = trivial_models(experiment, rows)
    lines = ["| data | compared | seeds | difference | verdict |", "|---|---|---|---|---|"]
    for entry in experiment.compare:
        ours, theirs = entry["ours"], entry["theirs"]
        for data in experiment.data:
            pairs = []
            for levels, seed, row in experiment.rows_with(rows, data, ours):
                if "trivial" in theirs:
                    name = max(names, key=lambda n: float(row.get(n) or "-inf")) if theirs["trivial"] == "best" else theirs["trivial"]
                    other = experiment.score(row, name) if row.get(name) else None
                else:
                    found = rows.get((data.name, *{**levels, **theirs}.values(), seed))
                    other = experiment.score(found) if found else None
                if other is not None:
                    pairs.append((seed, experiment.score(row), other))
            if not pairs:
                continue
            # Levels of other axes are averaged within a seed: the seeds are what is independent.
            of_seed = {}
            for seed, a, b in pairs:
                of_seed.setdefault(seed, []).append(a - b)
            text, verdict = difference([(statistics.mean(gains), 0.0) for gains in of_seed.values()])
            rival = f"{theirs['trivial']} trivial" if theirs.get("trivial") == "best" else name_of(theirs)
            lines.append(f"| {data.name} | {name_of(ours) or 'fedpp'} - {rival} | {len(of_seed)} | {text} | {verdict} |")
    return "\n".join(lines) if len(lines) > 2 else ""


def choices(experiment, rows):
    """A line an axis with a choice and data set: how often validation chose which level, and what the level best on the test is above it."""
    lines = ["| data | chosen by validation | seeds | best on the test - chosen |", "|---|---|---|---|"]
    for axis, levels in experiment.choose.items():
        for data in experiment.data:
            chosen = list(experiment.rows_with(rows, data, {axis: BY_VALIDATION}))
            if not chosen:
                continue
            best = [max(experiment.score(rows[data.name, *{**found, axis: level}.values(), seed]) for level in levels) for found, seed, _ in chosen]
            times = collections.Counter(found[axis] for found, *_ in chosen)
            lost = statistics.mean(top - experiment.score(row) for top, (*_, row) in zip(best, chosen))
            lines.append(f"| {data.name} | {', '.join(f'{level} {n}' for level, n in times.most_common())} | {len(chosen)} | {lost:+.4f} |")
    return "\n".join(lines) if len(lines) > 2 else ""
