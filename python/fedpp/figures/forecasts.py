"""When sequences go on, by 'fedpp predict --next-events'."""

import matplotlib.pyplot as plt
import numpy as np

from .data import Missing
from .labels import client_label, name_label, unit_name
from .style import OURS, styled

MOST_SEQUENCES = 60


@styled
def next_events(result, table):
    """When each sequence goes on: quantiles of the time to its next event, of what `Run.next_events` holds."""
    wait = {q: table[q] - table["observed_until"] for q in ("q05", "q25", "q50", "q75", "q95")}
    order = np.argsort(wait["q50"], kind="stable")
    if not len(order):
        raise Missing("next_events.csv has no sequence")
    order = order[np.unique(np.linspace(0, len(order) - 1, min(len(order), MOST_SEQUENCES)).round().astype(int))]
    rows = np.arange(len(order))
    figure, axis = plt.subplots(figsize=(8.5, 1.07 + 0.2 * len(order)))  # rows of one height, however many there are
    axis.hlines(rows, wait["q05"][order], wait["q95"][order], color=OURS, lw=1, label="5 to 95 %")
    axis.hlines(rows, wait["q25"][order], wait["q75"][order], color=OURS, lw=4, alpha=0.45, label="25 to 75 %")
    axis.plot(wait["q50"][order], rows, "o", color=OURS, ms=4, label="median")
    low = wait["q05"][order]
    if low.min() > 0 and wait["q95"][order].max() > 30 * low.min():
        axis.set_xscale("log")
        axis.xaxis.set_major_formatter("{x:g}")
    axis.set_yticks(rows)
    sequences = table.get("sequence_name", table["sequence"])
    axis.set_yticklabels([f"{client_label(result, table['client'][k])} / {name_label(sequences[k])}" for k in order], fontsize=7)
    data = (result.get("config") or {}).get("data") or {}
    axis.set(xlabel=f"time from the end of observation to the next event ({unit_name(data.get('time_unit', ''))})", ylim=(-0.7, len(order) - 0.3))
    shown = "" if len(order) == len(table["q50"]) else f", {len(order)} of {len(table['q50'])} sequences"
    # Of the figure: beside long names the axes are too narrow for it and the legend.
    figure.suptitle(f"Next event by client / sequence, sorted by the median{shown}", x=0.02, ha="left", fontweight="bold", fontsize=plt.rcParams["axes.titlesize"])
    axis.legend(loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0.2, ncol=3)
    return figure
