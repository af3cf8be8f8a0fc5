"""Posterior intensities over time, above the events."""

import datetime
import textwrap

import matplotlib.colors
import matplotlib.dates
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from .data import Missing, drawable
from .labels import client_label, name_label, text, types_label, unit_name
from .style import GREY, OURS, TEST, TRAIN, VALIDATION, styled

ABOVE = "higher still"
BEYOND = matplotlib.colors.LinearSegmentedColormap.from_list("beyond", ["#ffffff", "#d3d8de"])
UNOBSERVED = {"facecolor": "none", "edgecolor": "#9aa5b1", "hatch": "////", "lw": 0, "zorder": 0.5}
UNITS = {"s": 1, "min": 60, "hour": 3600, "day": 86400, "week": 604800}


def rug(axis, row, times, colour):
    """Events as ticks in their own strip below the curves; many ticks become translucent."""
    if len(times):
        alpha = float(np.clip(150 / len(times), 0.12, 0.9))
        axis.vlines(times, row, row + 0.8, color=colour, lw=0.7, alpha=alpha)


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


def hatch(axis, gaps, times_of):
    """Over the stretches in which no sequence was observed."""
    for first, last in gaps:
        axis.axvspan(*times_of(np.array([first, last])), **UNOBSERVED)


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


def panel_title(result, group, client, width):
    """What the curves are of, in at most two lines of so many characters."""
    sequence = group.attrs.get("sequence_name", group.attrs.get("sequence"))
    parts = [f"client {client_label(result, client)}", f"its sequence {name_label(sequence)} alone" if sequence is not None else "",
             types_label(result, text(group.attrs.get("types", "")).split())]
    title = "  ·  ".join(part for part in parts if part)
    return "\n".join(textwrap.wrap(title, int(width), max_lines=2, placeholder=" …", break_on_hyphens=False))


def intensity_panel(cell, group, result, client, label_x, dates):
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
    # Beside the axis's labels there is room for 11 characters an inch.
    axis.set_title(panel_title(result, group, client, 11 * cell.bbox.width / cell.dpi), loc="left", fontsize=10)
    if ticks:
        rows = (("train", TRAIN), ("validation", VALIDATION), ("test", TEST))
        event_strip(bottom, [(split, get(f"{split}_events"), colour) for split, colour in rows if f"{split}_events" in group])
    shown, ends = np.isfinite(read("time")), [read("train_ends"), read("validation_ends")]
    if shown.any():
        first, last = read("time")[shown][[0, -1]]
        if all(map(len, ends)):
            for panel in {axis, bottom}:
                shade(panel, ends, first, last, times_of)
        if "gaps" in group:
            for panel in {axis, bottom}:
                hatch(panel, group["gaps"][()], times_of)
        bottom.set_xlim(time[shown][0], time[shown][-1])
    if label_x:
        clock = text(group.attrs.get("clock", ""))
        since = "since the sequence's start, " if clock == "elapsed" else "of the file, " if clock else ""
        bottom.set_xlabel("date" if dates else f"time ({since}{unit})")
    if dates:
        locator = matplotlib.dates.AutoDateLocator(maxticks=7)
        bottom.xaxis.set_major_locator(locator)
        # Days with their month, and what all ticks share at the axis's end.
        bottom.xaxis.set_major_formatter(matplotlib.dates.ConciseDateFormatter(
            locator, formats=["%Y", "%b", "%d %b", "%H:%M", "%H:%M", "%H:%M:%S"], zero_formats=["", "%Y", "%d %b", "%d %b", "%H:%M", "%H:%M"],
            offset_formats=["", "", "%Y", "%d %b %Y", "%d %b %Y", "%d %b %Y"]))


def state_text(result, attributes):
    """Which of the run's states the curves show: not always the last, and those of 'fedpp predict' are older than a run that went on since."""
    if "scored_round" not in attributes:
        return ""  # of an earlier version
    rounds = [r["round"] for r in result.get("rounds") or []]
    return f" after round {attributes['scored_round']}" + (f" of {max(rounds)}" if rounds else "")


@styled
def intensities(result, h5):
    if h5 is None or "curves" not in h5 or not len(h5["curves"]):
        raise Missing("there are no curves: 'fedpp train' writes those of the first evaluation.curve_clients clients, 'fedpp predict' others")
    names = sorted(h5["curves"])
    columns = 1 if len(names) <= 3 else 2
    rows = -(-len(names) // columns)
    wide = columns > 1
    top = 0.35 if wide else 0.6  # inches: the legend has its own line where it does not fit beside the title
    figure = plt.figure(figsize=(13 if wide else 8.5, top + 2.7 * rows))
    figure.get_layout_engine().set(h_pad=0.03, hspace=0.0)
    header, body = figure.subfigures(2, 1, height_ratios=[top, 2.7 * rows])
    cells = np.atleast_1d(body.subfigures(rows, columns)).reshape(rows, columns)
    for i, name in enumerate(names):
        group = h5["curves"][name]
        intensity_panel(cells[i // columns, i % columns], group, result, int(name.split("_")[-1]), i + columns >= len(names), calendar(result, group))
    header.text(0.01, 0.5 if wide else 0.75, "Posterior intensity" + state_text(result, h5.attrs), va="center", fontsize=11, fontweight="bold")
    keys = [Line2D([], [], color=OURS, lw=1.6, label="median"), Line2D([], [], color=OURS, lw=1, ls=":", label="mean"),
            Patch(color=OURS, alpha=0.22, lw=0, label="5 to 95 %")]
    if any("histogram_rate" in h5["curves"][name] for name in names):
        keys.append(Line2D([], [], color=GREY, lw=1, label="histogram"))
    if any("train_ends" in h5["curves"][name] for name in names):
        keys += [Patch(color=BEYOND(0.5), lw=0, label="validation"), Patch(color=BEYOND(1.0), lw=0, label="test")]
    if any("gaps" in h5["curves"][name] for name in names):
        keys.append(Patch(**UNOBSERVED, label="not observed"))
    drawn = [line for axis in figure.axes for line in axis.lines]
    keys += [line for line in drawn if line.get_label() == ABOVE][:1]
    header.legend(handles=keys, loc="center right" if wide else "lower left", ncol=len(keys), fontsize=8 if len(keys) > 7 else 8.5, columnspacing=0.8,
                  handlelength=1.3, handletextpad=0.4)
    return figure
