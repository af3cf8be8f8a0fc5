"""Rescaled test increments against what they would be under a true model."""

import math

import matplotlib.pyplot as plt
import numpy as np

from ..scores import client_distances, ks_limit
from .data import Missing, number
from .labels import client_label, counted
from .style import GREY, OURS, TEST, styled


def quantiles(group):
    """Of the increments those at which their share rises, what Exp(1) has there, and how many increments are above the last."""
    observed, expected = group["observed"][()], group["expected"][()]
    rises = np.unique(expected, return_index=True)[1]  # files of older versions have the points between two increments as well
    return observed[rises], expected[rises], int(group.attrs.get("beyond", 0))


@styled
def calibration(result, h5):
    if h5 is None or "calibration" not in h5 or not len(h5["calibration/observed"]):
        raise Missing("result.h5 has no calibration")
    observed, expected, beyond_last = quantiles(h5["calibration"])
    summary = result.get("calibration") or {}
    ks, limit = number(summary.get("ks")), ks_limit(summary.get("increments"))
    clients = sorted(client_distances(summary), key=lambda c: c[1])
    figure, axes = plt.subplots(1, 3 if clients else 2, figsize=(13 if clients else 9, 4.3), gridspec_kw={"width_ratios": [1, 1, 0.9] if clients else [1, 1]})
    band = {"color": GREY, "alpha": 0.25, "lw": 0, "label": f"95 % by chance (± {limit:.3f})"}
    share = np.linspace(0, 1, 501)
    low, high = np.clip(share - limit, 0, 1), np.clip(share + limit, 0, 1)
    axis = axes[0]
    top = 1.04 * max(expected.max(), observed.max())
    axis.plot([0, top], [0, top], color=GREY, lw=1, ls="--")
    if math.isfinite(limit):
        with np.errstate(divide="ignore"):  # the band has no upper end where the limit reaches past the last quantile
            quantile, below, above = (-np.log1p(-p) for p in (share[:-1], low[:-1], high[:-1]))
        axis.fill_between(quantile, below, np.minimum(above, 2 * top), **band)
    axis.plot(expected, observed, ".", color=OURS, ms=5)
    axis.set(xlim=(0, 1.04 * expected.max()), ylim=(0, top), xlabel="quantile of Exp(1)", ylabel="quantile of the rescaled increments")
    if beyond_last:
        axis.text(0.03, 0.97, f"{counted(beyond_last, 'increment')} further up not shown", transform=axis.transAxes, va="top", fontsize=9)
    axis.set_title("Quantiles of test increments", loc="left", fontweight="bold")
    axis = axes[1]
    axis.plot([0, 1], [0, 1], color=GREY, lw=1, ls="--")
    if math.isfinite(limit):
        axis.fill_between(share, low, high, **band)
        axis.legend(loc="upper left")
    axis.plot(-np.expm1(-expected), -np.expm1(-observed), color=OURS, lw=1.8, drawstyle="steps-pre")  # no increment on the way up
    axis.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel="share of increments", ylabel="probability under Exp(1)")
    title = "Probabilities"
    if math.isfinite(ks):
        title += f"\nKS distance {ks:.3f}" + (f", {'beyond' if ks > limit else 'within'} chance" if math.isfinite(limit) else "")
    axis.set_title(title, loc="left", fontweight="bold")
    if clients:
        axis = axes[2]
        limits = np.array([c[2] for c in clients])
        rows = np.arange(len(clients))
        axis.barh(rows, np.nan_to_num(limits), height=0.8, color=GREY, alpha=0.25, lw=0)
        beyond = np.array([c[1] > c[2] for c in clients])  # False where the limit is not known
        distances = np.array([c[1] for c in clients])
        for chosen, colour in ((~beyond, OURS), (beyond, TEST)):
            axis.plot(distances[chosen], rows[chosen], "o", color=colour, ms=5)
        step = max(1, -(-len(clients) // 25))
        axis.set_yticks(range(0, len(clients), step))
        axis.set_yticklabels([client_label(result, clients[i][0]) for i in range(0, len(clients), step)], fontsize=8)
        right = max(distances.max(), np.quantile(np.nan_to_num(limits), 0.9))  # one client of few events must not squeeze the rest
        axis.set(xlim=(0, 1.08 * right), ylim=(-0.7, len(clients) - 0.3), xlabel="KS distance from Exp(1)", ylabel="client, sorted")
        known = int(np.isfinite(limits).sum())
        # In short lines: beside long names the panel is narrow.
        axis.set_title(f"{beyond.sum()} of {counted(known, 'client')} beyond chance\n(expected: {0.05 * known:g})" if known else "By client", loc="left", fontweight="bold")
    return figure
