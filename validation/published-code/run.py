#!/usr/bin/python3
"""Protocol 'published-code' on Taobao under every aggregation rule. Resumable. See README.md."""
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import running

PUBLISHED, TRIVIAL = 2.92, 2.95
here = pathlib.Path(__file__).resolve().parent
args = running.arguments(__doc__, seed=(int, 1, "seed"), rounds=(int, 100, "rounds"))
data = running.need("taobao_fedpp")

ok = True
print(f"{'rule':8} {'rounds':>6} {'best':>5} {'fedpp':>8} {'homogeneous':>12} {'50 bins':>8} {'seconds':>8}")
for rule in ["kl", "w2", "fedavg", "mmd"]:
    started = time.time()
    result = running.train(args.fedpp, here / "taobao.toml", args.out / f"{rule}-{args.seed}", [
        f"data.train={data}/train.csv.gz", f"data.validation={data}/dev.csv.gz", f"data.test={data}/test.csv.gz",
        f"aggregation.divergence={rule}", f"federation.seed={args.seed}", f"federation.rounds={args.rounds}"])
    scores, seconds = running.models(result), sum(result["phases"].values())
    print(f"{rule:8} {len(result['rounds']):6} {result['best_round']:5} {scores['fedpp']:8.4f} {scores['homogeneous']:12.4f} "
          f"{scores['histogram, 50 bins']:8.4f} {seconds:8.1f}", flush=True)
    ok &= running.verdict(abs(scores["homogeneous"] - 2.949) < 1e-3 and abs(scores["histogram, 50 bins"] - 3.411) < 1e-3,
                          f"{rule}: the trivial models have their known values 2.949 and 3.411")
    left_out = sum(len(r["left_out"]) for r in result["rounds"])
    ok &= running.verdict(len(result["rounds"]) == args.rounds and left_out == 0, f"{rule}: all {args.rounds} rounds, no upload left out")
    ok &= running.verdict(scores["fedpp"] > max(PUBLISHED, TRIVIAL), f"{rule}: {scores['fedpp']:.3f} is above {PUBLISHED} (published) and {TRIVIAL} (homogeneous)")
sys.exit(0 if ok else 1)
