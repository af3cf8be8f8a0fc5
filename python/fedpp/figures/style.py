"""Colours and settings of Matplotlib that all figures share."""

import functools

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator

from .fonts import fallbacks

OURS, TRAIN, VALIDATION, TEST, GREY = "#0b5fa5", "#7a7a7a", "#b8860b", "#c8442b", "#9a9a9a"
TRIVIAL = [("#e08214", "s"), ("#1b9e77", "D"), ("#8450a0", "^"), ("#b8860b", "v"), ("#c2457e", "P"), ("#555555", "X")]

STYLE = {
    "font.size": 10, "axes.titlesize": 10.5, "axes.labelsize": 10, "legend.fontsize": 9, "axes.spines.top": False,
    "axes.spines.right": False, "axes.grid": True, "grid.color": "#e4e4e4", "grid.linewidth": 0.7, "axes.axisbelow": True,
    "legend.frameon": False, "figure.constrained_layout.use": True,
}


def styled(draw):
    """`draw` with STYLE for its figure alone, in the notebook's font, beside it those for other scripts: the settings of the notebook around it stay as they are."""
    @functools.wraps(draw)
    def inside(*arguments, **named):
        with plt.rc_context({**STYLE, "font.family": [*plt.rcParams["font.family"], *fallbacks()]}):
            figure = draw(*arguments, **named)
            # Matplotlib makes ticks, and counts how many have room, when it draws, by the settings of then: but all take after an axis's first.
            for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
                axis.set_tick_params(which="both", labelsize=axis.get_major_ticks(1)[0].label1.get_fontsize())
        return figure
    return inside


def whole_numbers(side):
    """Ticks at integers alone, and at one where there is only one: an x axis or a y axis of rounds or counts."""
    side.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def from_zero(axis, values):
    """Up to a little above the largest value; the margin of Matplotlib's own limits is a share of the values' range, which may be narrow."""
    top = np.max(values, initial=0.0)
    axis.set_ylim(0, 1.08 * top if top > 0 else 1)
