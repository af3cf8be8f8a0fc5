#!/usr/bin/python3
"""Groups of clients, planted or of three real data sets: who finds them and what their members gain; hostile clients. See README.md."""
import csv
import gzip
import math
import pathlib
import re
import statistics
import sys
import tempfile
from collections import Counter

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import running

CLIENTS = 20
SIMILARITY = "aggregation.similarity=centred-gram"
COMMUNITIES = ["aggregation.scope=structural-entropy", SIMILARITY]
METHODS = {
    "local only": ["federation.mode=local"],
    "global kl": [],
    "structural entropy": COMMUNITIES,
    "structural entropy, lambda = 0.8": [*COMMUNITIES, "federation.client_start=mix"],
    "structural entropy + BOLA": [*COMMUNITIES, "federation.client_start=optimised"],
    "structural entropy + alignment": [*COMMUNITIES, "training.alignment=1"],
    "structural entropy + BOLA + alignment": [*COMMUNITIES, "federation.client_start=optimised", "training.alignment=1"],
    "structural entropy + 0.1 alignment": [*COMMUNITIES, "training.alignment=0.1"],
    "structural entropy + 0.01 alignment": [*COMMUNITIES, "training.alignment=0.01"],
    "global kl + alignment": ["training.alignment=1"],
    "global kl + BOLA": ["federation.client_start=optimised"],
    "structural entropy, mean-of-cosines": [*COMMUNITIES, "aggregation.similarity=mean-of-cosines"],
    "structural entropy, cosine-of-means": [*COMMUNITIES, "aggregation.similarity=cosine-of-means"],
    "FedAvg": ["federation.mode=fedavg", "aggregation.divergence=fedavg"],
    "FedProx": ["federation.mode=fedprox", "aggregation.divergence=fedavg"],
    "Per-FedAvg": ["federation.mode=per-fedavg", "aggregation.divergence=fedavg"],
    "Ditto": ["federation.mode=ditto", "aggregation.divergence=fedavg"],
    "FedALA": ["federation.mode=fedala", "aggregation.divergence=fedavg"],
    "APPLE": ["federation.mode=apple", "aggregation.divergence=fedavg"],
    "SFL": ["aggregation.scope=similarity-graph", SIMILARITY, "aggregation.divergence=fedavg"],
}
SERVERS = {
    "mean": [],
    "median": ["aggregation.estimator=median"],
    "trimmed mean": ["aggregation.estimator=trimmed-mean"],
    "structural entropy + BOLA": [*COMMUNITIES, "federation.client_start=optimised"],
}
ATTACKS = {
    "none": [],
    "noise": ["attack.kind=noise", "attack.strength=1"],
    "scaled": ["attack.kind=scaled", "attack.strength=10"],
    "sign-flipped": ["attack.kind=sign-flipped", "attack.strength=5"],
    "replaced events": ["attack.kind=replaced-events", "attack.strength=1"],
}
PRIOR_SDS = ["1", "0.3", "0.1"]
STEPS = {2: [0.125, 0.875], 4: [0.125, 0.375, 0.625, 0.875]}  # where each group's rate goes up, share of the window


# A federation of three real sets: seven types of Taobao's, seven of Stack Overflow's, six neighbourhoods of the taxi example; file of a part, types, and
# the span of its clock that becomes [0, 100] (nine days, two years, a day).
MIXED_SETS = {
    "Taobao": (lambda part: running.DATA / f"taobao_fedpp/{part}.csv.gz", ["16", "0", "4", "3", "1", "5", "2"], 151150.0, 151214.0),
    "Stack Overflow": (lambda part: running.DATA / f"stackoverflow_fedpp/{part}.csv.gz", ["3", "8", "0", "4", "5", "7", "6"], 1325.3, 1388.6),
    "taxi": (lambda part: running.ROOT / f"examples/nyc-taxi/{part}.csv.gz", ["14", "6", "2", "18", "9", "10"], 0.0, 24.0),
}
MIXED_SETTINGS = ["model.window=100", "model.tempering=dispersion"]  # lists of few users, bursts
MIXED = [(key, kind) for key, (_, types, _, _) in MIXED_SETS.items() for kind in types]


def group_of(client, groups):
    """A client's true group."""
    return list(MIXED_SETS).index(MIXED[client][0]) if groups == "mixed" else client % groups


def rate(step, t, events):
    """Events a unit of time on [0, 100]: zero but for an eighth of the window on either side of the step, low before and high after it."""
    near = np.abs(t / 100 - step) < 0.125
    shape = np.where(near & (t / 100 > step), 3.0, np.where(near, 0.3, 1.0))
    return shape * events / (100 * (0.125 * 3.3 + 0.75))


def draw(folder, groups, lists, seed):
    """train.csv with `lists` lists a client and test.csv with 40 a group, by thinning; the type of a list is its group."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng([seed, groups, lists])
    for name, count in (("train", lists * CLIENTS // groups), ("test", 40)):
        with open(folder / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
            out, number = csv.writer(file, lineterminator="\n"), 0
            out.writerow(["sequence", "time", "type"])
            for group, step in enumerate(STEPS[groups]):
                for _ in range(count):
                    top = 1.01 * rate(step, np.array([100 * step + 1]), 20.0)[0]
                    times = np.sort(rng.uniform(0, 100, rng.poisson(top * 100)))
                    times = times[rng.uniform(0, top, len(times)) < rate(step, times, 20.0)]
                    out.writerows((number, f"{t:.4f}", group) for t in times)
                    number += 1


def real_lists(path, types, first, last):
    """Type -> its lists of one type, times of [first, last) on [0, 100]."""
    lists = {}
    with gzip.open(path, "rt", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["type"] in types and first <= float(row["time"]) < last:
                lists.setdefault(row["type"], {}).setdefault(row["sequence"], []).append(100 * (float(row["time"]) - first) / (last - first))
    return {kind: [sorted(times) for times in lists[kind].values()] for kind in types}


def draw_mixed(folder, lists, seed):
    """As draw: a type of a real data set each client, `lists` training lists and 40 test lists of it (or all there are), drawn by the seed; a client's
    number is its type, and its group the set that MIXED names there."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng([seed, lists])
    for name, most in (("train", lists), ("test", 40)):
        of_set = {key: real_lists(path(name), types, first, last) for key, (path, types, first, last) in MIXED_SETS.items()}
        with open(folder / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
            out, number = csv.writer(file, lineterminator="\n"), 0
            out.writerow(["sequence", "time", "type"])
            for client, (key, kind) in enumerate(MIXED):
                known = of_set[key][kind]
                for k in sorted(rng.permutation(len(known))[:most]):
                    out.writerows((number, f"{t:.5f}", client) for t in known[k])
                    number += 1


def adjusted_rand(a, b):
    """Agreement of two partitions: 1 the same, 0 as by chance."""
    pairs = sum(math.comb(n, 2) for n in Counter(zip(a, b)).values())
    one, other = (sum(math.comb(n, 2) for n in Counter(x).values()) for x in (a, b))
    expected, most = one * other / math.comb(len(a), 2), (one + other) / 2
    return (pairs - expected) / (most - expected) if most != expected else 1.0


def found(result, groups):
    """ARI of the last round's communities with the truth, and their number; None where there are none."""
    communities = result["rounds"][-1].get("communities")
    if communities is None:
        return None
    inside = [c for c in range(CLIENTS) if communities[c] >= 0]
    return adjusted_rand([group_of(c, groups) for c in inside], [communities[c] for c in inside]), len(set(communities) - {-1})


def run(args, few, groups, seed, name, changes):
    """One training on the data of (groups, seed); result.json."""
    base = args.out / f"groups{groups}-lists{args.lists}-seed{seed}"
    if not (base / "test.csv").is_file():
        if groups == "mixed":
            draw_mixed(base, args.lists, seed)
        else:
            draw(base, groups, args.lists, seed)
    files = [f"data.train={base}/train.csv", f"data.test={base}/test.csv", f"federation.seed={seed}", *few]
    out = base / "-".join(re.findall("[a-z0-9]+", name.lower()))
    return running.train(args.fedpp, pathlib.Path(__file__).resolve().parent / "planted.toml", out, files + changes)


def write(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(header)
        out.writerows(rows)


def planted(args, few, seeds, groups_of):
    """Every method on each of `groups_of` (numbers of planted groups, or "mixed"): score, agreement of the communities with the groups."""
    rows = []
    for groups in groups_of:
        scores, agreement = {}, {}
        for seed in range(1, seeds + 1):
            for name, changes in METHODS.items():
                if args.methods not in name and name != "global kl":
                    continue
                result = run(args, few, groups, seed, name, changes)
                models = running.models(result)
                scores.setdefault(name, []).append(result["scores"]["models"][0]["headline"])
                ari = found(result, groups)
                if ari:
                    agreement.setdefault(name, []).append(ari)
                rows.append([groups, args.lists, seed, name, f"{scores[name][-1]:.6f}", *([f"{ari[0]:.4f}", ari[1]] if ari else ["", ""])])
                if name == "global kl":
                    for trivial in list(models)[1:]:
                        scores.setdefault(trivial, []).append(models[trivial])
                        rows.append([groups, args.lists, seed, trivial, f"{models[trivial]:.6f}", "", ""])
        print(f"\n{'Taobao, Stack Overflow and taxi' if groups == 'mixed' else f'{groups} planted groups'}, {args.lists} training lists a client, {seeds} seed(s)\n")
        print("| | headline | less global kl | ARI, mean (least) | communities |\n|---|---|---|---|---|")
        for name, values in scores.items():
            gain, error = running.paired(list(zip(values, scores["global kl"])))
            cells = [name, running.mean_sd(values, 4), "" if name == "global kl" else f"{gain:+.4f} ± {error:.4f}", "", ""]
            if ari := agreement.get(name):
                cells[3] = f"{statistics.mean(a for a, _ in ari):.2f} ({min(a for a, _ in ari):.2f})"
                cells[4] = f"{statistics.mean(n for _, n in ari):.1f}"
            print("| " + " | ".join(cells) + " |")
    write(args.out / f"{args.table}.csv", ["groups", "lists", "seed", "method", "headline", "ari", "communities"], rows)


def mixed(args, few, seeds, _):
    """The same with the clients of three real data sets."""
    running.need("taobao_fedpp"), running.need("stackoverflow_fedpp")
    planted(args, [*few, *MIXED_SETTINGS], seeds, ["mixed"])


def prior(args, few, seeds, groups_of):
    """How much of the gain hangs on the prior over the weights: its sd, and how often the clients of FedAvg count it."""
    once = f"training.prior_weight={1 / CLIENTS}"
    methods = {name: METHODS[name] for name in ("global kl", "structural entropy", "FedAvg")}
    methods.update({f"{name}, prior weight 1/{CLIENTS}": [*changes, once] for name, changes in list(methods.items())})
    rows = []
    for groups in groups_of:
        scores, validations = {}, {}
        print(f"\n{groups} planted groups, {args.lists} training lists a client, {seeds} seed(s)\n")
        print("| prior_sd | | headline | less global kl | less global kl at prior_sd 1 | validation | ARI, mean (least) |\n|---|---|---|---|---|---|---|")
        for sd in PRIOR_SDS:
            for name, changes in methods.items():
                key, ari = (sd, name), []
                for seed in range(1, seeds + 1):
                    result = run(args, few, groups, seed, f"prior {sd} {name}", [*changes, f"model.prior_sd={sd}"])
                    scores.setdefault(key, []).append(result["scores"]["models"][0]["headline"])
                    validations.setdefault(key, []).append(max(r["validation"] for r in result["rounds"] if r["validation"] is not None))
                    ari += [found(result, groups)[0]] if found(result, groups) else []
                    rows.append([groups, args.lists, seed, sd, name, f"{scores[key][-1]:.6f}", f"{validations[key][-1]:.6f}", f"{ari[-1]:.4f}" if ari else ""])
                less = [running.paired(list(zip(scores[key], scores[other, "global kl"]))) for other in (sd, PRIOR_SDS[0])]
                cells = [sd, name, running.mean_sd(scores[key], 4), *(f"{gain:+.4f} ± {error:.4f}" for gain, error in less),
                         f"{statistics.mean(validations[key]):.4f}", f"{statistics.mean(ari):.2f} ({min(ari):.2f})" if ari else ""]
                print("| " + " | ".join(cells) + " |", flush=True)
    write(args.out / "prior.csv", ["groups", "lists", "seed", "prior_sd", "method", "headline", "validation", "ari"], rows)


def hostile(args, few, seeds, groups_of):
    """Score of the honest clients under every attack, by server."""
    rows, shares = [], [float(x) for x in args.shares.split(",")]
    for groups in groups_of:
        print(f"\nHonest clients' headline, {groups} planted groups, {args.lists} training lists a client, {seeds} seed(s)\n")
        print("| attack | hostile | " + " | ".join(SERVERS) + " |\n|---|---|" + "---|" * len(SERVERS))
        for attack, how in ATTACKS.items():
            for share in shares:
                cells = []
                for server, changes in SERVERS.items():
                    values, unscored = [], 0
                    for seed in range(1, seeds + 1):
                        # Without an attack the same clients are left out of the score: an attack that changes nothing.
                        inert = how or ["attack.kind=replaced-events", "attack.strength=0"]
                        result = run(args, few, groups, seed, f"{server} {attack} {share}", [*changes, *inert, f"attack.share={share}"])
                        lost = len(set(result.get("unscored_clients", [])) - set(result["honest"]["hostile_clients"]))
                        values.append(math.nan if result["honest"]["headline"] is None else result["honest"]["headline"])
                        unscored += lost
                        rows.append([groups, args.lists, seed, attack, share, server, f"{values[-1]:.6f}", lost])
                    cells.append(running.mean_sd(values, 4) + (f" ({unscored} not scored)" if unscored else ""))
                print(f"| {attack} | {100 * share:.0f} % | " + " | ".join(cells) + " |", flush=True)
    write(args.out / "hostile.csv", ["groups", "lists", "seed", "attack", "share", "server", "honest_headline", "honest_unscored"], rows)


def main():
    args = running.arguments(__doc__, ("table", ["planted", "prior", "mixed", "hostile"], "which table"), seeds=(int, 5, "seeds"), groups=(str, "2,4", "planted groups"),
                             lists=(int, 25, "training lists a client"), shares=(str, "0.1,0.2", "shares of hostile clients"),
                             methods=(str, "", "planted: global kl and the methods whose names contain this"),
                             quick=(bool, False, "one seed, two groups, few rounds: only that everything runs"))
    seeds, groups_of = (1, [2]) if args.quick else (args.seeds, [int(g) for g in args.groups.split(",")])
    few = ["federation.rounds=3", "model.inducing=8", "evaluation.e_steps=3"] if args.quick else []
    table = {"planted": planted, "prior": prior, "mixed": mixed, "hostile": hostile}[args.table]
    if not args.quick:
        table(args, few, seeds, groups_of)
        return
    args.lists, args.shares = 8, "0.1"
    with tempfile.TemporaryDirectory() as folder:  # nothing of an earlier version is taken for its result
        args.out = pathlib.Path(folder)
        table(args, few, seeds, groups_of)


if __name__ == "__main__":
    main()
