"""Clients' test scores beside those of the trivial models, and beside another run's."""

import math

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Patch

from ..results import AGAIN
from ..scores import clients_above, headline_without, hostile_clients
from .data import Missing, number, scores_of
from .labels import client_label, counted, name_label, unit_name
from .style import GREY, OURS, TEST, TRIVIAL, styled


def score_panel(axis, table, hostile, label=str):
    """`label`: what a client is called on the axis."""
    ours, trivial = table["models"][0], table["models"][1:]
    total = lambda model: headline_without(model, hostile) if hostile else number(model["headline"])
    score = {c["client"]: number(c["headline"]) for c in ours["per_client"]}
    order = sorted((c for c in score if math.isfinite(score[c])), key=lambda c: score[c])
    row = {client: i for i, client in enumerate(order)}
    best = dict.fromkeys(order, -math.inf)
    for k, model in enumerate(trivial):
        points = [(number(c["headline"]), row[c["client"]], c["client"]) for c in model["per_client"] if c["client"] in row]
        points = [p for p in points if math.isfinite(p[0])]
        for value, _, client in points:
            best[client] = max(best[client], value)
        colour, marker = TRIVIAL[k % len(TRIVIAL)]
        axis.plot([p[0] for p in points], [p[1] for p in points], ls="", marker=marker, ms=4.5, color=colour, alpha=0.85,
                  label=f"{model['name']}  ({total(model):.3f})")
    rivals = [best[c] for c in order]
    above, counting = clients_above(ours, trivial, hostile)
    undrawn = counting - sum(c not in hostile for c in order)  # no event in their windows, or no finite score
    for client in order:  # the lead over the best trivial model, or the lag behind it
        if math.isfinite(best[client]):
            axis.plot([best[client], score[client]], [row[client]] * 2, lw=2.2, zorder=1.5, solid_capstyle="butt",
                      color=OURS if score[client] > best[client] else TEST, alpha=0.45)
    # Open, so that a rival at the same value stays in sight.
    axis.plot([score[c] for c in order], range(len(order)), ls="", marker="o", ms=8, mfc="none", mec=OURS, mew=1.7, zorder=3,
              label=f"{ours['name']}  ({total(ours):.3f})")
    # One hopeless model must not squeeze the rest: the axis spans the interesting values, what lies left of it is said.
    values = [number(c["headline"]) for m in table["models"] for c in m["per_client"] if c["client"] in row]
    values = np.array([v for v in values if math.isfinite(v)])
    core = np.array([v for v in list(score.values()) + rivals if math.isfinite(v)])
    spread = max(np.ptp(core), 0.5)  # one client and its best rival may be a thousandth apart
    low = max(values.min(), core.min() - 0.7 * spread)
    hidden = int((values < low).sum())
    axis.set_xlim(low - 0.06 * spread, values.max() + 0.06 * spread)
    axis.set_ylim(-0.7, len(order) - 0.3)
    step = max(1, -(-len(order) // 50))
    axis.set_yticks(range(0, len(order), step))
    axis.set_yticklabels([label(order[i]) for i in range(0, len(order), step)])
    axis.set_ylabel("client, sorted by our score")
    label = f"test log-likelihood per event (nats, time in {unit_name(table.get('unit', ''))})"
    left_out = [f"{counted(hidden, 'point')} further left"] if hidden else []
    left_out += [f"{counted(undrawn, 'client')} without a score per event"] if undrawn else []
    axis.set_xlabel(label + (f"\n{' and '.join(left_out)} not shown" if left_out else ""))
    title = f"Protocol {table.get('protocol', '?')}"
    if trivial:
        title += f": above every trivial model on {above} of {counted(counting, 'honest client' if hostile else 'client')}"
    axis.set_title(title, loc="left", fontweight="bold")
    handles, labels = axis.get_legend_handles_labels()
    handles, labels = handles[-1:] + handles[:-1], labels[-1:] + labels[:-1]
    for client in set(hostile) & set(order):
        axis.axhspan(row[client] - 0.5, row[client] + 0.5, color=TEST, alpha=0.13, lw=0, zorder=0)
    if hostile:
        handles, labels = [*handles, Patch(color=TEST, alpha=0.13, lw=0)], [*labels, "hostile client, not counted"]
    axis.legend(handles, labels, loc="upper left", bbox_to_anchor=(1.01, 1.0), alignment="left",
                title=f"headline ({'honest' if hostile else 'all'} clients)")


@styled
def scores(result, _):
    tables = scores_of(result)
    if not tables:
        raise Missing("result.json has no scores of clients")
    heights = [1.6 + 0.24 * min(max(len(t["models"][0].get("per_client", [])), 6), 50) for t in tables]
    figure, axes = plt.subplots(len(tables), 1, figsize=(10.5, sum(heights)), squeeze=False, gridspec_kw={"height_ratios": heights})
    for axis, table in zip(axes[:, 0], tables):
        score_panel(axis, table, hostile_clients(result), lambda client: client_label(result, client))
    return figure


def our_scores(result):
    """The table with our scores by which runs are compared."""
    tables = scores_of(result)
    if not tables:
        raise Missing("a run without scores of clients")
    return tables[0]


def per_client(result):
    """Client -> our headline score per test event."""
    rows = our_scores(result)["models"][0]["per_client"]
    return {c["client"]: number(c["headline"]) for c in rows if math.isfinite(number(c["headline"]))}


def expect_same_test_data(result, before, name):
    """As 'fedpp compare' does (src/federation/comparison.cpp): scores on other events or windows do not compare."""
    told = lambda run: {"protocol": our_scores(run).get("protocol"), "number of clients": len(our_scores(run)["models"][0]["per_client"]), "test_data": run.get("test_data")}
    here, there = told(result), told(before)
    for run, whose in ((here, "the run's"), (there, f"{name}'s")):
        if run["test_data"] is None:
            raise Missing(f"{whose} result.json does not say which test data its scores are of: {AGAIN}")
    differing = [f"{key} {here[key]} and in {name} {there[key]}" for key in here if here[key] != there[key]]
    if differing:
        raise Missing(f"the runs are not scored on the same test data, so that their scores do not compare: {', '.join(differing)}. "
                      "'fedpp compare' of both says which keys of [data] differ")


@styled
def gains(result, before, name):
    """Each client's score less that in the run whose result.json `before` is and whose folder is called `name`, by community where there are some."""
    expect_same_test_data(result, before, name)
    old, new = per_client(before), per_client(result)
    clients = sorted(set(old) & set(new), key=lambda c: new[c] - old[c])
    if not clients:
        raise Missing("no client has a score in both runs")
    last = next((r["communities"] for r in reversed(result.get("rounds") or []) if r.get("communities")), None)
    group = [last[c] if last and c < len(last) else 0 for c in clients]
    hostile = set(hostile_clients(result)) | set(hostile_clients(before))
    honest = [c for c in clients if c not in hostile]
    figure, axis = plt.subplots(figsize=(8.5, 1.4 + 0.22 * max(6, min(len(clients), 60))))
    for k in sorted(set(group)):
        mine = [i for i, g in enumerate(group) if g == k]
        axis.barh(mine, [new[clients[i]] - old[clients[i]] for i in mine], color=GREY if k < 0 else plt.get_cmap("tab20")(k % 20),
                  label=None if last is None else "outside" if k < 0 else f"community {k}")
    shaded = [i for i, c in enumerate(clients) if c in hostile]
    for i in shaded:
        axis.axhspan(i - 0.5, i + 0.5, color=TEST, alpha=0.13, lw=0, zorder=0, label="hostile client, not counted" if i == shaded[0] else None)
    axis.axvline(0, color="black", lw=0.8)
    step = max(1, -(-len(clients) // 60))
    axis.set_yticks(range(0, len(clients), step))
    axis.set_yticklabels([client_label(result, clients[i]) for i in range(0, len(clients), step)], fontsize=8)
    axis.set(xlabel="gain in headline score per test event (nats)", ylabel="client, sorted")
    axis.set_title(f"{sum(new[c] > old[c] for c in honest)} of {counted(len(honest), 'honest client' if hostile else 'client')} {'gains' if len(honest) == 1 else 'gain'} on “{name_label(name)}”",
                   loc="left", fontweight="bold")
    if last is not None or shaded:
        axis.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))  # bars reach into every corner
    return figure
