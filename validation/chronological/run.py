#!/usr/bin/python3
"""Protocol 'chronological' beside every trivial model: four data sets, both kinds of realisation. Resumable. See README.md."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import running

SETS = {  # name: unit of time, changes
    "taobao": ("10^4 s", ["data.types_per_client=4"]),
    "stackoverflow": ("s", ["data.types_per_client=8"]),
    "taxi": ("hour", ["data.types_per_client=5"]),
    "earthquake": ("day", ["data.partition=homogeneous"]),
}
# The prior variance of f at the start; among several the validation windows choose (README.md, "What was tried").
START_VARIANCES = {"per-sequence": [0.001, 0.02], "pooled": [0.001]}
MARGIN = 1e-3  # nats per event: below this two scores are the same

here = pathlib.Path(__file__).resolve().parent
args = running.arguments(__doc__, sequences=(int, 0, "at most so many sequences of each file (0: all)"),
                         quick=(bool, False, "200 sequences of each file"), only=(str, "", "one data set"))
changes = [f"data.max_sequences={200 if args.quick else args.sequences}"]
print("budget: minutes with --quick, about an hour of one core with everything; started again, it goes on where it was")

ok, rows = True, []
for name, (unit, own) in SETS.items():
    if args.only not in ("", name):
        continue
    if not (running.DATA / name).is_dir():
        print(f"{name} skipped: {running.DATA / name} is not here")
        continue
    files = [running.DATA / name / f"{part}.csv.gz" for part in ["train", "dev", "test"]]
    for realisation in ["per-sequence", "pooled"]:
        results = []
        for variance in START_VARIANCES[realisation]:
            run = args.out / f"{name}-{realisation}-{variance}{'-quick' if args.quick else ''}{f'-{args.sequences}' if args.sequences else ''}"
            results.append(running.train(args.fedpp, here / "chronological.toml", run, [
                f"data.train={files[0]}", f"data.validation={files[1]}", f"data.test={files[2]}", f"data.realisation={realisation}",
                f"data.time_unit={unit}", f"model.start_variance={variance}", *own, *changes]))
        result = max(results, key=lambda r: r["rounds"][r["best_round"] - 1]["validation"])
        scores = running.models(result)
        if not rows:
            print("| data, time unit | realisation | " + " | ".join(scores) + " | seconds |\n|" + "---|" * (len(scores) + 3))
        rows.append((name, realisation, scores))
        print(f"| {name}, {unit} | {realisation} | " + " | ".join(f"{value:.3f}" for value in scores.values())
              + f" | {sum(sum(r['phases'].values()) for r in results):.0f} |", flush=True)
for name, realisation, scores in rows:
    ok &= running.verdict(scores["fedpp"] >= scores["homogeneous"] - MARGIN,
                          f"{name}, {realisation}: {scores['fedpp']:.3f} is not below the homogeneous rate per client, {scores['homogeneous']:.3f}")
sys.exit(0 if ok else 1)
