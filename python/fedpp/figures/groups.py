"""Which clients learn from each other: communities, and the graph of similarities in which they are found."""

import matplotlib.colors
import matplotlib.patches
import matplotlib.pyplot as plt
import numpy as np

from ..scores import mean_similarities, similarity_text
from .data import Missing
from .labels import client_label
from .style import OURS, TEST, from_zero, styled, whole_numbers


@styled
def communities(result, _):
    rounds = [r for r in result.get("rounds") or [] if r.get("communities")]
    if not rounds:
        raise Missing("clients share one prior: no communities in result.json")
    table = np.array([r["communities"] for r in rounds]).T  # [client][round]; -1: not in the graph
    count = int(table.max()) + 1
    order = np.lexsort(table.T)  # clients that end together stand together
    colours = matplotlib.colors.ListedColormap(["#eeeeee"] + [plt.get_cmap("tab20")(k % 20) for k in range(max(count, 1))])
    figure, (axis, below) = plt.subplots(2, 1, figsize=(8.5, 2.4 + 0.2 * min(max(len(table), 8), 60)), sharex=True,
                                         gridspec_kw={"height_ratios": [0.2 * min(max(len(table), 8), 60), 1.4]})
    first, last = rounds[0]["round"], rounds[-1]["round"]
    axis.imshow(table[order], aspect="auto", interpolation="nearest", cmap=colours, vmin=-1.5, vmax=max(count, 1) - 0.5,
                extent=(first - 0.5, last + 0.5, len(table) - 0.5, -0.5))
    step = max(1, -(-len(table) // 40))
    axis.set_yticks(range(0, len(table), step))
    axis.set_yticklabels([client_label(result, order[k]) for k in range(0, len(table), step)], fontsize=8)
    axis.set_ylabel("client, by its\nlast community")
    axis.grid(False)
    axis.set_title("Communities: one colour each within a round, numbered by first appearance", loc="left", fontweight="bold")
    numbers = [len(set(r["communities"]) - {-1}) for r in rounds]
    below.plot([r["round"] for r in rounds], numbers, color=OURS, lw=1.4, marker="o", ms=3)
    below.set(xlabel="communication round", ylabel="number")
    from_zero(below, numbers)
    for side in (below.xaxis, below.yaxis):
        whole_numbers(side)
    return figure


@styled
def graph(result, h5):
    if h5 is None or "graph" not in h5:
        raise Missing("clients share one prior: result.h5 has no graph")
    clients, community, weights = (h5["graph"][name][()] for name in ("clients", "community", "weights"))
    order = np.lexsort((clients, community))  # members of a community stand together
    within, between = mean_similarities(community, weights)
    shown = np.ma.masked_array(weights, np.eye(len(clients), dtype=bool))[np.ix_(order, order)]  # no edge from a client to itself
    figure, axis = plt.subplots(figsize=(7, 6))
    # The same colours in every run: stretched over what occurs, a thousandth would look like a group.
    image = axis.imshow(shown, cmap="viridis", interpolation="nearest", vmin=0, vmax=1)
    ends = np.flatnonzero(np.diff(community[order])) + 0.5
    for first, last in zip([-0.5, *ends], [*ends, len(clients) - 0.5]):
        axis.add_patch(matplotlib.patches.Rectangle((first, first), last - first, last - first, fill=False, edgecolor=TEST, lw=1.5))
    step = max(1, -(-len(clients) // 40))
    for side in (axis.xaxis, axis.yaxis):
        side.set_ticks(range(0, len(clients), step))
        side.set_ticklabels([client_label(result, clients[order[k]]) for k in range(0, len(clients), step)], fontsize=8)
    axis.tick_params(axis="x", rotation=90)
    axis.set(xlabel="client, by community", ylabel="client, by community")
    axis.grid(False)
    figure.colorbar(image, ax=axis, label="similarity (edge weight)", shrink=0.8)
    # Of the figure: beside long names the axes are too narrow for it.
    figure.suptitle("Client graph after the last round; communities framed\n"
                    f"mean similarity within communities {similarity_text(within)}, between them {similarity_text(between)}", x=0.02, ha="left",
                    fontweight="bold", fontsize=plt.rcParams["axes.titlesize"])
    return figure
