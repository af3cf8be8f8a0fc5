#!/usr/bin/env python3
"""roofline.py RESULT.json [OUT.png] - draws a result of fedpp_bench against the rates measured in the same run."""
import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

FAMILIES = {"cholesky": "o", "triangular_solve": "v", "tile_product": "s", "step": "D", "encoder": "^", "round": "*"}


def points(result):
    """(family, name, operations a byte, GFLOP/s) of what does operations."""
    found = {}
    for b in result["benchmarks"]:
        if b.get("GF", 0) > 0 and b.get("GB", 0) > 0 and b.get("aggregate_name", "median") == "median":
            name = b.get("run_name", b["name"]).replace("/manual_time", "").replace("/iterations:1", "").replace("/repeats:1", "")
            found[name] = (b["GF"] / b["GB"], b["GFLOP/s"])
    return [(name.split("/")[0], name, *xy) for name, xy in found.items()]


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    path = pathlib.Path(sys.argv[1])
    result = json.loads(path.read_text(encoding="utf-8"))
    context = result["context"]
    peak, memory = float(context["dgemm_GFLOP/s"]), float(context["copy_GB/s"])
    figure, axes = plt.subplots(figsize=(9, 6), layout="constrained")
    x = [0.05, peak / memory, 1000]
    axes.plot(x, [min(peak, memory * v) for v in x], color="black")
    axes.annotate(f"DGEMM {peak:.3g} GFLOP/s", (1000, peak), ha="right", va="bottom")
    axes.annotate(f"copy {memory:.3g} GB/s", (0.06, 0.06 * memory), rotation=38, ha="left", va="bottom")
    labelled = {"step/local_epoch", "round", "encoder"}
    for family, marker in FAMILIES.items():
        own = [p for p in points(result) if p[0] == family]
        if not own:
            continue
        axes.scatter([p[2] for p in own], [p[3] for p in own], marker=marker, s=60 if marker == "*" else 25, label=family, alpha=0.8)
        for _, name, intensity, rate in own:
            if "/".join(name.split("/")[:2]) in labelled or family in labelled:
                text = name.replace("step/", "").replace("encoder/", "").replace("local_epoch", "epoch")
                axes.annotate(text, (intensity, rate), xytext=(4, -3), textcoords="offset points", fontsize=6)
    axes.set(xscale="log", yscale="log", xlabel="operations a byte (arrays moved once)", ylabel="GFLOP/s", xlim=(0.05, 1000),
             ylim=(peak / 300, peak * 2), title=f"{context['device']}, {context['backend']}; {context['git']}, {context['date'][:10]}")
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(loc="lower right", fontsize=8)
    out = sys.argv[2] if len(sys.argv) == 3 else path.with_suffix(".png")
    figure.savefig(out, dpi=130)
    print(f"roofline: {out}")


if __name__ == "__main__":
    main()
