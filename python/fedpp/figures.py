"""Figures of a run, each from result.json as a dictionary and result.h5 as an open h5py file (or None).

  convergence     evidence lower bound and validation score over the rounds
  intensities     posterior intensities with 5/50/95 % bands, with a histogram and the events as ticks where the run has them
  scores          each client's test score against the trivial models
  calibration     rescaled test increments against Exp(1): quantiles and probabilities
  phases          where the time went
  communication   what left the ranks
  communities     which clients learn from each other, over the rounds
  graph           how similar the server finds them, and their communities after the last round
  starts          lambda of the clients' starts, over the rounds

Beside these, of other files: gains (another run's result.json), next_events (the table of 'fedpp predict --next-events'); intensities draws
prediction.h5 as well.

Each returns a Matplotlib figure and raises Missing where its data are not in the run. Needs Matplotlib and NumPy.
"""

import datetime
import math
import re

import matplotlib

matplotlib.use("Agg")
import matplotlib.colors
import matplotlib.dates
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from .scores import client_distances, headline_without, hostile_clients, ks_limit, mean_similarities, similarity_text

OURS, TRAIN, VALIDATION, TEST, GREY = "#0b5fa5", "#7a7a7a", "#b8860b", "#c8442b", "#9a9a9a"
TRIVIAL = [("#e08214", "s"), ("#1b9e77", "D"), ("#8450a0", "^"), ("#b8860b", "v"), ("#c2457e", "P"), ("#555555", "X")]

plt.rcParams.update({
    "font.size": 10, "axes.titlesize": 10.5, "axes.labelsize": 10, "legend.fontsize": 9, "axes.spines.top": False,
    "axes.spines.right": False, "axes.grid": True, "grid.color": "#e4e4e4", "grid.linewidth": 0.7, "axes.axisbelow": True,
    "legend.frameon": False, "figure.constrained_layout.use": True,
})


LONGEST_NAME = 24


class Missing(Exception):
    """A figure's data are not in the run; the text says what."""


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def unit_name(unit):
    """The unit of time with its powers raised: 10^4 s."""
    return re.sub(r"\^(-?\d+)", r"$^{\1}$", text(unit).replace("$", "")) or "file unit"


def name_label(name):
    """A name from the data as matplotlib shows it: as text, where "$" would begin a formula, and not too long for an axis."""
    name = " ".join(str(name).split())
    return (name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME - 1] + "…").replace("$", r"\$")


def client_label(result, client):
    """A client's number, and its name where the run's data have one."""
    names = (result.get("names") or {}).get("clients") or []
    return f"{client} {name_label(names[client])}" if client < len(names) else str(client)


def number(value):
    """JSON's null is a number that was not finite or not computed."""
    return math.nan if value is None else float(value)


def counted(count, noun):
    return f"{count} {noun}{'' if count == 1 else 's'}"


def drawable(values):
    """An array in which what is not finite is not drawn."""
    values = np.asarray(values, float)
    return np.where(np.isfinite(values), values, np.nan)


def series(rounds, key):
    """Rounds and values where the values were computed."""
    pairs = [(r["round"], number(r.get(key))) for r in rounds]
    pairs = [(x, y) for x, y in pairs if math.isfinite(y)]
    return np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])


def from_zero(axis, values):
    """Up to a little above the largest value; the margin of Matplotlib's own limits is a share of the values' range, which may be narrow."""
    top = np.max(values, initial=0.0)
    axis.set_ylim(0, 1.08 * top if top > 0 else 1)


# --- convergence -------------------------------------------------------------------------------------------------------

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
    axes[-1, 0].xaxis.set_major_locator(MaxNLocator(integer=True))
    axes[0, 0].set_title("Convergence", loc="left", fontweight="bold")
    return figure


# --- intensities -------------------------------------------------------------------------------------------------------

def rug(axis, row, times, colour):
    """Events as ticks in their own strip below the curves; many ticks become translucent."""
    if len(times):
        alpha = float(np.clip(150 / len(times), 0.12, 0.9))
        axis.vlines(times, row, row + 0.8, color=colour, lw=0.7, alpha=alpha)


ABOVE = "histogram is higher"


def event_strip(axis, events):
    """Ticks at the events below the curves, a row a split: those for training above those for the test."""
    for row, (_, times, colour) in enumerate(reversed(events)):
        rug(axis, row, times, colour)
    axis.set_ylim(-0.1, len(events))
    axis.set_yticks([row + 0.4 for row in range(len(events))])
    axis.set_yticklabels([f"{name} ({len(times)})" for name, times, _ in reversed(events)], fontsize=7.5)
    axis.tick_params(axis="y", length=0)
    axis.grid(False)
    axis.spines["left"].set_visible(False)


BEYOND = matplotlib.colors.LinearSegmentedColormap.from_list("beyond", ["#ffffff", "#d3d8de"])


def shade(axis, ends, start, end, times_of):
    """Behind the curves: half dark where a sequence is past its training windows, dark where past its validation windows; the mean of the sequences shown."""
    edges = np.unique(np.clip(np.concatenate([[start, end], *ends]), start, end))
    if len(edges) > 200:  # of many sequences
        edges = np.linspace(start, end, 201)
    middles = (edges[:-1] + edges[1:]) / 2
    dark = np.mean([np.searchsorted(np.sort(e), middles) / len(e) for e in ends], axis=0)
    # One image: neighbours that are drawn alone have seams.
    axis.pcolormesh(times_of(edges), [0, 1], dark[None], cmap=BEYOND, vmin=0, vmax=1, transform=axis.get_xaxis_transform(), zorder=0, rasterized=True)
    for e, style in zip(ends, (":", "--")):
        if len(e) == 1:
            axis.axvline(times_of(e)[0], color="#4d5966", lw=1.1, ls=style, zorder=0.6)


UNITS = {"s": 1, "min": 60, "hour": 3600, "day": 86400, "week": 604800}


def calendar(result, group):
    """A function from file time to dates, or None where the run does not know any."""
    data = (result.get("config") or {}).get("data") or {}
    if not data.get("time_origin") or text(group.attrs.get("clock", "")) != "calendar":
        return None
    try:
        origin = datetime.datetime.fromisoformat(data["time_origin"])
    except ValueError:  # of a version that took impossible dates
        raise Missing(f"data.time_origin = {data['time_origin']} of the run is no date that exists: give one to "
                      "'fedpp train --resume --set data.time_origin=2019-03-01'") from None
    scale, shift = UNITS[data["time_unit"]], data["drop_before"] if data.get("drop") else 0
    return lambda times: np.datetime64(origin, "ms") + np.asarray((np.asarray(times, float) + shift) * scale * 1000).astype("timedelta64[ms]")


def histogram(axis, edges, rate):
    """Steps; where they leave the panel at the top, a mark there."""
    heights = np.concatenate([[0.0], np.repeat(rate, 2), [0.0]])
    axis.plot(np.repeat(edges, 2), heights, color=GREY, lw=1.0, alpha=0.9)
    top = axis.get_ylim()[1]
    above = np.flatnonzero(rate > top)
    if len(above):
        axis.plot(edges[above] + (edges[above + 1] - edges[above]) / 2, np.full(len(above), top), ls="", marker="^", ms=5, color="#555555", clip_on=False, label=ABOVE)


def intensity_panel(cell, group, label, label_x, dates):
    """The curves of a client, above ticks at its events where the run wrote these."""
    ticks = "train_events" in group
    if ticks:
        axis, bottom = cell.subplots(2, 1, sharex=True, gridspec_kw={"height_ratios": [5, 1.6], "hspace": 0.02})
        axis.tick_params(labelbottom=False, length=0, axis="x")
    else:
        axis = bottom = cell.subplots()
    times_of = dates or (lambda times: times)
    on_time_axis = ("time", "histogram_edges", "train_events", "validation_events", "test_events")
    read = lambda key: drawable(group[key]) if key in group else np.array([])
    get = lambda key: times_of(read(key)) if key in on_time_axis and len(read(key)) else read(key)
    time, unit = get("time"), unit_name(group.attrs.get("unit", ""))
    rate, edges = get("histogram_rate"), get("histogram_edges")
    if len(get("lower")):
        axis.fill_between(time, get("lower"), get("upper"), color=OURS, alpha=0.22, lw=0)
    if len(get("median")):
        axis.plot(time, get("median"), color=OURS, lw=1.6)
    if len(get("mean")):
        axis.plot(time, get("mean"), color=OURS, lw=1.0, ls=":")
    # A histogram's spikes must not squeeze the band: the axis follows the band, and the histogram may leave it.
    tops = [np.nanmax(get(k)) for k in ("upper", "median", "mean") if np.isfinite(get(k)).any()]
    if np.isfinite(rate).any():
        tops.append(np.nanquantile(rate, 0.97))
    axis.set_ylim(0, 1.12 * max(tops) if tops and max(tops) > 0 else 1)
    if len(rate):
        histogram(axis, edges, rate)
    axis.set_ylabel(f"intensity\n(per {unit})", fontsize=9)
    axis.yaxis.set_major_locator(MaxNLocator(4))
    types, sequence = group.attrs.get("types"), group.attrs.get("sequence")
    title = f"client {label}" + ("" if sequence is None else f"  ·  its sequence {sequence} alone")
    types = text(types).split() if types is not None else []
    if types:
        title += f"  ·  type{'s' if len(types) > 1 else ''} {', '.join(types[:8])}" + (", …" if len(types) > 8 else "")
    axis.set_title(title, loc="left", fontsize=10)
    if ticks:
        rows = (("train", TRAIN), ("validation", VALIDATION), ("test", TEST))
        event_strip(bottom, [(split, get(f"{split}_events"), colour) for split, colour in rows if f"{split}_events" in group])
    shown, ends = np.isfinite(read("time")), [read("train_ends"), read("validation_ends")]
    if shown.any():
        first, last = read("time")[shown][[0, -1]]
        if all(map(len, ends)):
            for panel in {axis, bottom}:
                shade(panel, ends, first, last, times_of)
        bottom.set_xlim(time[shown][0], time[shown][-1])
    if label_x:
        clock = text(group.attrs.get("clock", ""))
        since = "since the sequence's start, " if clock == "elapsed" else "of the file, " if clock else ""
        bottom.set_xlabel("date" if dates else f"time ({since}{unit})")
    if dates:
        locator = matplotlib.dates.AutoDateLocator(maxticks=7)
        bottom.xaxis.set_major_locator(locator)
        bottom.xaxis.set_major_formatter(matplotlib.dates.ConciseDateFormatter(locator))


def intensities(result, h5):
    if h5 is None or "curves" not in h5 or not len(h5["curves"]):
        raise Missing("there are no curves: 'fedpp train' writes those of the first evaluation.curve_clients clients, 'fedpp predict' others")
    names = sorted(h5["curves"])
    columns = 1 if len(names) <= 3 else 2
    rows = -(-len(names) // columns)
    figure = plt.figure(figsize=(8.5 if columns == 1 else 13, 0.35 + 2.7 * rows))
    figure.get_layout_engine().set(h_pad=0.03, hspace=0.0)
    header, body = figure.subfigures(2, 1, height_ratios=[0.35, 2.7 * rows])
    cells = np.atleast_1d(body.subfigures(rows, columns)).reshape(rows, columns)
    for i, name in enumerate(names):
        group = h5["curves"][name]
        intensity_panel(cells[i // columns, i % columns], group, client_label(result, int(name.split("_")[-1])), i + columns >= len(names),
                        calendar(result, group))
    header.text(0.01, 0.5, "Posterior intensity", va="center", fontsize=11, fontweight="bold")
    keys = [Line2D([], [], color=OURS, lw=1.6, label="median"), Line2D([], [], color=OURS, lw=1, ls=":", label="mean"),
            Patch(color=OURS, alpha=0.22, lw=0, label="5 to 95 %")]
    if any("histogram_rate" in h5["curves"][name] for name in names):
        keys.append(Line2D([], [], color=GREY, lw=1, label="histogram"))
    if any("train_ends" in h5["curves"][name] for name in names):
        keys += [Patch(color=BEYOND(0.5), lw=0, label="validation"), Patch(color=BEYOND(1.0), lw=0, label="test")]
    drawn = [line for axis in figure.axes for line in axis.lines]
    keys += [line for line in drawn if line.get_label() == ABOVE][:1]
    header.legend(handles=keys, loc="center right", ncol=len(keys), fontsize=8.5, columnspacing=0.9, handlelength=1.4, handletextpad=0.5)
    return figure


# --- scores ------------------------------------------------------------------------------------------------------------

def scores_of(result):
    """The tables of scores that hold a finite one of ours: one object, or a list with one object a protocol."""
    scores = result.get("scores") or []
    tables = [s for s in (scores if isinstance(scores, list) else [scores]) if s.get("models")]
    return [t for t in tables if any(math.isfinite(number(c.get("headline"))) for c in t["models"][0].get("per_client", []))]


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
    honest = [c for c in order if c not in hostile]
    above = sum(score[c] > best[c] for c in honest)
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
    spread = max(np.ptp(core), 0.1)
    low = max(values.min(), core.min() - 0.7 * spread)
    hidden = int((values < low).sum())
    axis.set_xlim(low - 0.06 * spread, values.max() + 0.06 * spread)
    axis.set_ylim(-0.7, len(order) - 0.3)
    step = max(1, -(-len(order) // 50))
    axis.set_yticks(range(0, len(order), step))
    axis.set_yticklabels([label(order[i]) for i in range(0, len(order), step)])
    axis.set_ylabel("client, sorted by our score")
    label = f"test log-likelihood per event (nats, time in {unit_name(table.get('unit', ''))})"
    axis.set_xlabel(label + (f"\n{counted(hidden, 'point')} further left not shown" if hidden else ""))
    title = f"Protocol {table.get('protocol', '?')}"
    if trivial:
        title += f": above every trivial model on {above} of {counted(len(honest), 'honest client' if hostile else 'client')}"
    axis.set_title(title, loc="left", fontweight="bold")
    handles, labels = axis.get_legend_handles_labels()
    handles, labels = handles[-1:] + handles[:-1], labels[-1:] + labels[:-1]
    for client in set(hostile) & set(order):
        axis.axhspan(row[client] - 0.5, row[client] + 0.5, color=TEST, alpha=0.13, lw=0, zorder=0)
    if hostile:
        handles, labels = [*handles, Patch(color=TEST, alpha=0.13, lw=0)], [*labels, "hostile client, not counted"]
    axis.legend(handles, labels, loc="upper left", bbox_to_anchor=(1.01, 1.0), alignment="left",
                title=f"headline ({'honest' if hostile else 'all'} clients)")


def scores(result, _):
    tables = scores_of(result)
    if not tables:
        raise Missing("result.json has no scores of clients")
    heights = [1.6 + 0.24 * min(max(len(t["models"][0].get("per_client", [])), 6), 50) for t in tables]
    figure, axes = plt.subplots(len(tables), 1, figsize=(10.5, sum(heights)), squeeze=False, gridspec_kw={"height_ratios": heights})
    for axis, table in zip(axes[:, 0], tables):
        score_panel(axis, table, hostile_clients(result), lambda client: client_label(result, client))
    return figure


# --- calibration -------------------------------------------------------------------------------------------------------

def calibration(result, h5):
    if h5 is None or "calibration" not in h5 or not len(h5["calibration/observed"]):
        raise Missing("result.h5 has no calibration")
    observed, expected = np.asarray(h5["calibration/observed"]), np.asarray(h5["calibration/expected"])
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
    axis.set_title("Quantiles of test increments", loc="left", fontweight="bold")
    axis = axes[1]
    axis.plot([0, 1], [0, 1], color=GREY, lw=1, ls="--")
    if math.isfinite(limit):
        axis.fill_between(share, low, high, **band)
        axis.legend(loc="upper left")
    axis.plot(-np.expm1(-expected), -np.expm1(-observed), color=OURS, lw=1.8)
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
        axis.set_title("By client" + (f"\n{beyond.sum()} of {known} beyond chance (expected: {0.05 * known:.1f})" if known else ""), loc="left", fontweight="bold")
    return figure


# --- where the time went -----------------------------------------------------------------------------------------------

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


# --- what left the ranks -----------------------------------------------------------------------------------------------

def bytes_text(value):
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return f"{value:.3g} {unit}"
        value /= 1000


def communication(result, _):
    kinds = {e["kind"]: e["bytes"] for e in result.get("communication") or [] if e.get("bytes")}
    x, y = series(result.get("rounds") or [], "bytes_rank_0")
    if not kinds and not (len(y) and y.max() > 0):
        raise Missing("one rank: nothing left it" if result.get("ranks") == 1 else "result.json has no bytes")
    figure, axes = plt.subplots(1, 1 + bool(kinds), figsize=(10.5 if kinds else 7.5, max(3.0, 1.0 + 0.3 * len(kinds))), squeeze=False)
    axis = axes[0, 0]
    axis.plot(x, y / 1e3, color=OURS, lw=1.4, marker="o" if len(x) <= 40 else None, ms=3.5)
    axis.set(xlabel="communication round", ylabel="leaves rank 0 in the round (kB)")
    from_zero(axis, y / 1e3)
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
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


# --- communities -------------------------------------------------------------------------------------------------------

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
    axis.set_yticklabels([str(order[k]) for k in range(0, len(table), step)], fontsize=8)
    axis.set_ylabel("client, by its\nlast community")
    axis.grid(False)
    axis.set_title("Communities: one colour each within a round, numbered by first appearance", loc="left", fontweight="bold")
    numbers = [len(set(r["communities"]) - {-1}) for r in rounds]
    below.plot([r["round"] for r in rounds], numbers, color=OURS, lw=1.4, marker="o", ms=3)
    below.set(xlabel="communication round", ylabel="number")
    from_zero(below, numbers)
    for side in (below.xaxis, below.yaxis):
        side.set_major_locator(MaxNLocator(integer=True))
    return figure


# --- client graph ------------------------------------------------------------------------------------------------------

def graph(_, h5):
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
        side.set_ticklabels([str(clients[order[k]]) for k in range(0, len(clients), step)], fontsize=8)
    axis.tick_params(axis="x", rotation=90)
    axis.set(xlabel="client, by community", ylabel="client, by community")
    axis.grid(False)
    figure.colorbar(image, ax=axis, label="similarity (edge weight)", shrink=0.8)
    axis.set_title("Client graph after the last round; communities framed\n"
                   f"mean similarity within communities {similarity_text(within)}, between them {similarity_text(between)}", loc="left", fontweight="bold")
    return figure


# --- starts ------------------------------------------------------------------------------------------------------------

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
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.set_title("Where local epochs start", loc="left", fontweight="bold")
    axis.legend(loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0.2)
    return figure


# --- next events -------------------------------------------------------------------------------------------------------

MOST_SEQUENCES = 60


def next_events(result, table):
    """When each sequence goes on: quantiles of the time to its next event, of what `Run.next_events` holds."""
    wait = {q: table[q] - table["observed_until"] for q in ("q05", "q25", "q50", "q75", "q95")}
    order = np.argsort(wait["q50"], kind="stable")
    if not len(order):
        raise Missing("next_events.csv has no sequence")
    order = order[np.unique(np.linspace(0, len(order) - 1, min(len(order), MOST_SEQUENCES)).round().astype(int))]
    rows = np.arange(len(order))
    figure, axis = plt.subplots(figsize=(8.5, 1.5 + 0.17 * max(len(order), 6)))
    axis.hlines(rows, wait["q05"][order], wait["q95"][order], color=OURS, lw=1, label="5 to 95 %")
    axis.hlines(rows, wait["q25"][order], wait["q75"][order], color=OURS, lw=4, alpha=0.45, label="25 to 75 %")
    axis.plot(wait["q50"][order], rows, "o", color=OURS, ms=4, label="median")
    low = wait["q05"][order]
    if low.min() > 0 and wait["q95"][order].max() > 30 * low.min():
        axis.set_xscale("log")
    axis.set_yticks(rows)
    sequences = table.get("sequence_name", table["sequence"])
    axis.set_yticklabels([f"{client_label(result, table['client'][k])} / {name_label(sequences[k])}" for k in order], fontsize=7)
    data = (result.get("config") or {}).get("data") or {}
    axis.set(xlabel=f"time to the next event ({unit_name(data.get('time_unit', ''))})", ylabel="client / sequence, sorted", ylim=(-0.7, len(order) - 0.3))
    shown = "" if len(order) == len(table["q50"]) else f", {len(order)} of {len(table['q50'])} sequences"
    axis.set_title(f"When sequences go on{shown}", loc="left", fontweight="bold")
    axis.legend(loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0.2, ncol=3)
    return figure


# --- gains on another run ----------------------------------------------------------------------------------------------

def per_client(result):
    """Client -> our headline score per test event."""
    tables = scores_of(result)
    if not tables:
        raise Missing("a run without scores of clients")
    rows = tables[0]["models"][0]["per_client"]
    return {c["client"]: number(c["headline"]) for c in rows if math.isfinite(number(c["headline"]))}


def gains(result, before, name):
    """Each client's score less that in the run whose result.json `before` is and whose folder is called `name`, by community where there are some."""
    old, new = per_client(before), per_client(result)
    clients = sorted(set(old) & set(new), key=lambda c: new[c] - old[c])
    if not clients:
        raise Missing("the two runs have no client in common")
    last = next((r["communities"] for r in reversed(result.get("rounds") or []) if r.get("communities")), None)
    group = [last[c] if last and c < len(last) else 0 for c in clients]
    figure, axis = plt.subplots(figsize=(7.5, 1.4 + 0.22 * max(6, min(len(clients), 60))))
    for k in sorted(set(group)):
        mine = [i for i, g in enumerate(group) if g == k]
        axis.barh(mine, [new[clients[i]] - old[clients[i]] for i in mine], color=GREY if k < 0 else plt.get_cmap("tab20")(k % 20),
                  label=None if last is None else "outside" if k < 0 else f"community {k}")
    axis.axvline(0, color="black", lw=0.8)
    step = max(1, -(-len(clients) // 60))
    axis.set_yticks(range(0, len(clients), step))
    axis.set_yticklabels([str(clients[i]) for i in range(0, len(clients), step)], fontsize=8)
    axis.set(xlabel="gain in headline score per test event (nats)", ylabel="client, sorted")
    name = name.replace("$", r"\$")  # no mathematics
    axis.set_title(f"{sum(new[c] > old[c] for c in clients)} of {counted(len(clients), 'client')} {'gains' if len(clients) == 1 else 'gain'} on “{name}”", loc="left", fontweight="bold")
    if last is not None:
        axis.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))  # bars reach into every corner
    return figure


ALL = {"convergence": convergence, "intensities": intensities, "scores": scores, "calibration": calibration, "phases": phases,
       "communication": communication, "communities": communities, "graph": graph, "starts": starts}


def close(figure):
    """Frees a figure's memory."""
    plt.close(figure)
