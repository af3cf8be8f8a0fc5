"""Colours and settings of Matplotlib that all figures share."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

OURS, TRAIN, VALIDATION, TEST, GREY = "#0b5fa5", "#7a7a7a", "#b8860b", "#c8442b", "#9a9a9a"
TRIVIAL = [("#e08214", "s"), ("#1b9e77", "D"), ("#8450a0", "^"), ("#b8860b", "v"), ("#c2457e", "P"), ("#555555", "X")]

plt.rcParams.update({
    "font.size": 10, "axes.titlesize": 10.5, "axes.labelsize": 10, "legend.fontsize": 9, "axes.spines.top": False,
    "axes.spines.right": False, "axes.grid": True, "grid.color": "#e4e4e4", "grid.linewidth": 0.7, "axes.axisbelow": True,
    "legend.frameon": False, "figure.constrained_layout.use": True,
})


def from_zero(axis, values):
    """Up to a little above the largest value; the margin of Matplotlib's own limits is a share of the values' range, which may be narrow."""
    top = np.max(values, initial=0.0)
    axis.set_ylim(0, 1.08 * top if top > 0 else 1)
