"""What changes over the rounds: the objective and the validation score, where local epochs start."""

import matplotlib.pyplot as plt
import numpy as np

from .data import Missing, number, scores_of, series
from .labels import unit_name
from .style import GREY, OURS, TEST, styled, whole_numbers


@styled
def convergence(result, _):
    rounds = result.get("rounds") or []
    # The sum over the participants shows above all who they were; each client's latest above a constant rate shows convergence.
    gain = ("elbo_gain", "ELBO above a constant rate,\neach client's latest\n(nats per training event)", OURS)
    whole = ("elbo", "ELBO of the participants (nats)", OURS)  # of a run by an older version
    curves = [gain if any("elbo_gain" in r for r in rounds) else whole, ("validation", "validation score (nats per event)", TEST)]
    curves = [(series(rounds, key), label, colour) for key, label, colour in curves]
    curves = [c for c in curves if len(c[0][0])]
    if not curves:
        raise Missing("result.json has no rounds with an ELBO or a validation score")
    unit = unit_name(scores_of(result)[0].get("unit", "")) if scores_of(result) else ""
    figure, axes = plt.subplots(len(curves), 1, figsize=(7.5, 0.6 + 2.5 * len(curves)), sharex=True, squeeze=False)
    best = result.get("best_round")
    for axis, ((x, y), label, colour) in zip(axes[:, 0], curves):
        axis.plot(x, y, color=colour, lw=1.6, marker="o" if len(x) <= 40 else None, ms=3.5)
        if "validation" in label and unit:
            label = f"validation score\n(nats per event, time in {unit})"
        axis.set_ylabel(label)
        if best is not None and best in x:
            axis.axvline(best, color=GREY, lw=1, ls="--", zorder=0)
            axis.plot(best, y[list(x).index(best)], "o", ms=8, mfc="none", mec="black", mew=1.3, label=f"best validated round: {best}")
    handles, labels = axes[-1, 0].get_legend_handles_labels()
    if handles:
        axes[-1, 0].legend(handles, labels, loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0.2)  # curves end at the right, low or high
    axes[-1, 0].set_xlabel("communication round")
    whole_numbers(axes[-1, 0].xaxis)
    axes[0, 0].set_title("Convergence", loc="left", fontweight="bold")
    return figure


@styled
def starts(result, _):
    rounds = [(r["round"], [number(x) for x in r["lambda"] if x is not None]) for r in result.get("rounds") or [] if r.get("lambda")]
    rounds = [(r, x) for r, x in rounds if x]
    if not rounds:
        raise Missing("local epochs started at the clients' own posteriors or at their priors: no lambda in result.json")
    figure, axis = plt.subplots(figsize=(8.5, 3.2))
    for round_number, values in rounds:
        axis.plot(np.full(len(values), round_number), values, "o", color=OURS, ms=4, alpha=float(np.clip(4 / len(values), 0.15, 0.8)), mew=0)
    axis.plot([r for r, _ in rounds], [np.median(x) for _, x in rounds], color=TEST, lw=1.6, label="median of the participants")
    axis.set(xlabel="communication round", ylabel="lambda (1: own posterior, 0: prior)", ylim=(None, 1.02))
    whole_numbers(axis.xaxis)
    axis.set_title("Where local epochs start", loc="left", fontweight="bold")
    axis.legend(loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0.2)
    return figure
