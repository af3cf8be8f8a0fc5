"""Seconds of the phases, and bytes that left the ranks."""

import matplotlib.pyplot as plt

from .data import Missing, number, series
from .labels import bytes_text
from .style import OURS, from_zero, styled, whole_numbers


@styled
def phases(result, _):
    seconds = {k: number(v) for k, v in (result.get("phases") or {}).items()}
    seconds = dict(sorted(((k, v) for k, v in seconds.items() if v > 0), key=lambda item: item[1]))
    if not seconds:
        raise Missing("result.json has no phases")
    figure, axis = plt.subplots(figsize=(7.5, 0.9 + 0.33 * len(seconds)))
    values = list(seconds.values())
    axis.barh(range(len(values)), values, color=OURS, alpha=0.85, height=0.65)
    for row, value in enumerate(values):
        axis.annotate(f"{value:.3g} s  ({value / sum(values):.1%})", (value, row), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8.5)
    axis.set_yticks(range(len(values)))
    axis.set_yticklabels(seconds)
    axis.set(xlim=(0, 1.3 * max(values)), xlabel="seconds of the slowest rank in this start of the run")
    axis.set_title("Phases", loc="left", fontweight="bold")
    axis.grid(False, axis="y")
    return figure


@styled
def communication(result, _):
    kinds = {e["kind"]: e["bytes"] for e in result.get("communication") or [] if e.get("bytes")}
    x, y = series(result.get("rounds") or [], "bytes_rank_0")
    if not kinds and not (len(y) and y.max() > 0):
        raise Missing("one rank: nothing left it" if result.get("ranks") == 1 else "result.json has no bytes")
    figure, axes = plt.subplots(1, 1 + bool(kinds), figsize=(10.5 if kinds else 7.5, max(3.0, 1.0 + 0.3 * len(kinds))), squeeze=False)
    axis = axes[0, 0]
    axis.plot(x, y / 1e3, color=OURS, lw=1.4, marker="o" if len(x) <= 40 else None, ms=3.5)
    axis.set(xlabel="communication round\n(a start's first one with what came before it)", ylabel="leaves rank 0 in the round (kB)")
    from_zero(axis, y / 1e3)
    whole_numbers(axis.xaxis)
    axis.set_title("Communication", loc="left", fontweight="bold")
    if kinds:
        axis = axes[0, 1]
        kinds = dict(sorted(kinds.items(), key=lambda item: item[1]))
        axis.barh(range(len(kinds)), [v / 1e3 for v in kinds.values()], color=OURS, alpha=0.85, height=0.65)
        for row, value in enumerate(kinds.values()):
            axis.annotate(bytes_text(value), (value / 1e3, row), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8.5)
        axis.set_yticks(range(len(kinds)))
        axis.set_yticklabels(kinds)
        axis.set(xlim=(0, 1.25 * max(kinds.values()) / 1e3), xlabel="leaves all ranks in this start of the run (kB)")
        axis.grid(False, axis="y")
        axis.set_title("By kind", loc="left", fontweight="bold")
    return figure
