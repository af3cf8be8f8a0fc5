#!/usr/bin/env python3
"""roofline.py RESULT.json [OUT.png] - draws a result of fedpp_bench against the rates measured in the same run. Hollow: mixed precision."""
import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

FAMILIES = {"cholesky": "o", "triangular_solve": "v", "tile_product": "s", "step": "D", "encoder": "^", "round": "*"}
COLOURS = dict(zip(FAMILIES, ["#0b5fa5", "#e08214", "#5aae61", "#b2182b", "#762a83", "#404040"]))
EPOCHS = [f"step/local_epoch/{shape}" for shape in ("pooled_M100", "per_sequence_M32_S8")]  # the others lie close by


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
    roofs = [("DGEMM", peak, "-")] + [("SGEMM", float(context[key]), "--") for key in ["sgemm_GFLOP/s"] if key in context]
    for name, rate, style in roofs:
        x = [0.05, rate / memory, 1000]
        axes.plot(x, [min(rate, memory * v) for v in x], color="black", linestyle=style)
        axes.annotate(f"{name} {rate:.3g} GFLOP/s", (1000, rate), ha="right", va="bottom")
    axes.annotate(f"copy {memory:.3g} GB/s", (0.06, 0.06 * memory), rotation=38, ha="left", va="bottom")
    for family, marker in FAMILIES.items():
        own = [p for p in points(result) if p[0] == family]
        for mixed in (False, True):
            part = [p for p in own if p[1].endswith("/mixed") == mixed]
            axes.scatter([p[2] for p in part], [p[3] for p in part], marker=marker, s=60 if marker == "*" else 25, alpha=0.8, color=COLOURS[family],
                         facecolors="none" if mixed else COLOURS[family], label=family if part and not mixed else None)
        for _, name, intensity, rate in own:
            if family in ("round", "encoder") and not name.endswith("/mixed") or name in EPOCHS:
                text = name.replace("step/local_epoch/", "epoch ").replace("encoder/", "")
                axes.annotate(text, (intensity, rate), xytext=(4, -8 if name in EPOCHS else -3), textcoords="offset points", fontsize=7)
    most = max(rate for _, rate, _ in roofs)
    axes.set(xscale="log", yscale="log", xlabel="operations a byte (arrays moved once)", ylabel="GFLOP/s", xlim=(0.05, 1000), ylim=(peak / 100, most * 2))
    axes.set_title(f"{context['device']}, {context['backend']}\n{context['git']}, {context['date'][:10]}", fontsize=10)
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(loc="lower right", fontsize=8)
    out = sys.argv[2] if len(sys.argv) == 3 else path.with_suffix(".png")
    figure.savefig(out, dpi=130)
    print(f"roofline: {out}")


if __name__ == "__main__":
    main()
