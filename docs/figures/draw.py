#!/usr/bin/env python3
"""Draws the figures of the manual beside this file: model.svg, round.svg, windows.svg.

Needs Matplotlib alone. The same version of it writes the same bytes.
"""

import pathlib

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Polygon, Rectangle

HERE = pathlib.Path(__file__).resolve().parent
INK, SHARED, OBSERVED, PLATE = "#222222", "#1f5fa8", "#c9c9c9", "#777777"
TRAINING, VALIDATION, TEST = "#9ecae1", "#fdd0a2", "#f4a3a0"


def page(width, height, right, top):
    """Axes without frame; the units of x and y are equally long."""
    figure = plt.figure(figsize=(width, height), facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, right)
    axes.set_ylim(0, top)
    axes.axis("off")
    return figure, axes


def save(figure, name):
    figure.savefig(HERE / name, metadata={"Date": None, "Creator": None})
    plt.close(figure)


def arrow(axes, start, end, colour=INK, bend=0.0, dashed=False, shrink=(0, 0)):
    axes.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=11, lw=1.2, color=colour,
                                   connectionstyle=f"arc3,rad={bend}", linestyle="--" if dashed else "-",
                                   shrinkA=shrink[0], shrinkB=shrink[1], zorder=3))


# --- the model of one client ---------------------------------------------------------------------------------------

RADIUS = 0.36


def latent(axes, x, y, text, colour=INK, fill="white"):
    axes.add_patch(Circle((x, y), RADIUS, fc=fill, ec=colour, lw=1.5, zorder=4))
    axes.text(x, y, text, ha="center", va="center", fontsize=13, color=colour, zorder=5)


def fitted(axes, x, y, text, colour=INK):
    axes.add_patch(Rectangle((x - 0.3, y - 0.3), 0.6, 0.6, fc="white", ec=colour, lw=1.5, zorder=4))
    axes.text(x, y, text, ha="center", va="center", fontsize=13, color=colour, zorder=5)


def function(axes, x, y, text):
    axes.add_patch(Polygon([(x - 0.62, y), (x, y + 0.45), (x + 0.62, y), (x, y - 0.45)], fc="white", ec=INK, lw=1.5, zorder=4))
    axes.text(x, y, text, ha="center", va="center", fontsize=12, color=INK, zorder=5)


def plate(axes, x, y, width, height, text):
    axes.add_patch(FancyBboxPatch((x, y), width, height, boxstyle="round,pad=0,rounding_size=0.15", fc="none", ec=PLATE, lw=1.2, zorder=1))
    axes.text(x + width - 0.12, y + 0.1, text, ha="right", va="bottom", fontsize=9.5, color=PLATE)


def edge(axes, start, end, colour=INK, near=0.42, far=0.45, **more):
    """From centre to centre, less what the shapes there take."""
    (x0, y0), (x1, y1) = start, end
    length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
    dx, dy = (x1 - x0) / length, (y1 - y0) / length
    arrow(axes, (x0 + near * dx, y0 + near * dy), (x1 - far * dx, y1 - far * dy), colour, **more)


def draw_model():
    figure, axes = page(8.4, 5.6, 12.0, 8.0)
    theta, w, h, f = (1.1, 6.5), (3.3, 6.5), (5.7, 6.5), (8.4, 5.0)
    nu, m, rate, events, windows = (10.9, 6.5), (10.9, 3.6), (8.4, 3.6), (8.4, 2.15), (5.6, 2.15)

    plate(axes, 2.2, 0.75, 9.6, 6.95, r"clients $c = 1 \dots C$")
    plate(axes, 4.45, 1.05, 5.6, 4.55, "realisations: a client's latent functions")
    plate(axes, 7.55, 1.5, 2.35, 1.25, "sequences")

    fitted(axes, *theta, r"$\theta$", SHARED)
    latent(axes, *w, r"$w$", SHARED)
    function(axes, *h, r"$h(t)$")
    latent(axes, *f, r"$f$")
    fitted(axes, *nu, r"$\nu$")
    fitted(axes, *m, r"$m$")
    function(axes, *rate, r"$\lambda(t)$")
    latent(axes, *events, r"$t_i$", fill=OBSERVED)
    latent(axes, *windows, r"$e(t)$", fill=OBSERVED)

    edge(axes, theta, w, SHARED)
    edge(axes, w, h, far=0.66)
    edge(axes, h, f, near=0.5)
    edge(axes, w, f, bend=0.1)
    edge(axes, nu, f)
    edge(axes, f, rate, far=0.5)
    edge(axes, m, rate, far=0.66)
    edge(axes, rate, events, near=0.47)
    edge(axes, windows, events)
    arrow(axes, (8.02, 2.32), (5.66, 6.03), bend=-0.22, dashed=True)

    def note(x, y, text, **more):
        axes.text(x, y, text, **{"fontsize": 9, "color": INK, "ha": "center", "va": "center", **more})

    note(theta[0], 5.75, "prior of the weights,\n$(\\mu, \\sigma)$ from the server", color=SHARED)
    note(w[0], 7.2, "weights of the kernel", color=SHARED)
    note(h[0], 7.2, "embedding")
    note(8.85, 4.75, r"$\mathrm{GP}(\nu, \kappa_w)$", ha="left")
    note(nu[0], 7.05, "prior mean")
    note(m[0], 4.15, "upper bound")
    note(8.72, 3.02, r"$m\,\sigma(f(t))$", ha="left")
    note(8.9, 2.15, "events", ha="left")
    note(windows[0], 1.6, "how many are observed")
    note(4.57, 3.9, "what came\nbefore in the\nsequence (lstm,\nattention, decay)", ha="left", style="italic", fontsize=8.5)

    y, key = 0.35, dict(fontsize=9, va="center", color=INK)
    axes.add_patch(Circle((0.45, y), 0.16, fc="white", ec=INK, lw=1.2))
    axes.text(0.75, y, "has a posterior", **key)
    axes.add_patch(Rectangle((2.75, y - 0.15), 0.3, 0.3, fc="white", ec=INK, lw=1.2))
    axes.text(3.2, y, "a number, fitted", **key)
    axes.add_patch(Polygon([(5.2, y), (5.45, y + 0.18), (5.7, y), (5.45, y - 0.18)], fc="white", ec=INK, lw=1.2))
    axes.text(5.85, y, "a function of what points at it", **key)
    axes.add_patch(Circle((9.1, y), 0.16, fc=OBSERVED, ec=INK, lw=1.2))
    axes.text(9.4, y, "data", **key)
    axes.add_patch(Circle((10.25, y), 0.16, fc="white", ec=SHARED, lw=1.5))
    axes.text(10.55, y, "exchanged", fontsize=9, va="center", color=SHARED)
    save(figure, "model.svg")


# --- one round of the federation -----------------------------------------------------------------------------------


def box(axes, x, y, width, height, text, colour=INK, fill="white", size=9):
    axes.add_patch(FancyBboxPatch((x - width / 2, y - height / 2), width, height, boxstyle="round,pad=0,rounding_size=0.12",
                                  fc=fill, ec=colour, lw=1.2, zorder=4))
    axes.text(x, y, text, ha="center", va="center", fontsize=size, color=INK, zorder=5, linespacing=1.35)


def draw_round():
    figure, axes = page(8.4, 6.3, 12.0, 9.0)
    server, first, second, other = 1.6, 5.4, 8.3, 10.95
    for x, name in ((server, "server (rank 0)"), (first, "participant"), (second, "participant"), (other, "not drawn")):
        axes.plot([x, x], [0.85, 8.25], color=PLATE, lw=1, ls=":", zorder=0)
        axes.text(x, 8.5, name, ha="center", va="center", fontsize=10.5, color=INK, weight="bold")
    axes.plot([3.75, 3.75], [0.85, 8.8], color=PLATE, lw=1, zorder=0)
    for number, y in enumerate((7.75, 6.95, 5.35, 3.6, 2.4, 1.3)):
        axes.text(0.12, y, str(number + 1), fontsize=10, weight="bold", va="center", color=INK)
    beside = dict(fontsize=9, color=SHARED)

    box(axes, 6.2, 7.75, 11.2, 0.55, "participants are drawn by the seed: all ranks know who, and nothing is sent", PLATE, "#f4f4f4")

    for x in (first, second, other):
        arrow(axes, (server, 6.95), (x, 6.95), SHARED)
    axes.text(1.75, 7.06, r"$\theta = (\mu, \sigma)$: $2P$ numbers", va="bottom", **beside)

    for x in (first, second):
        box(axes, x, 5.35, 2.75, 2.4, "")
        for line, text in enumerate(("local epochs", "on its own events:", r"$q(v)$, $m$, $\nu$ in closed form,",
                                     r"$q(w)$ by Adam under", r"the prior $p_\theta(w)$")):
            axes.text(x, 6.05 - 0.35 * line, text, ha="center", va="center", fontsize=9, color=INK, zorder=5)
    box(axes, other, 5.35, 1.85, 2.4, "keeps\nits state", PLATE, "#f4f4f4")

    for x in (first, second):
        axes.plot([x, x], [4.15, 3.6], color=SHARED, lw=1.3)
        axes.text(x + 0.1, 3.88, r"$\mathrm{N}(r, \delta^2)$", va="center", **beside)
    arrow(axes, (second, 3.6), (server, 3.6), SHARED)
    axes.text(1.75, 3.48, r"$2P$ sums over" "\n" "the participants", va="top", linespacing=1.3, **beside)

    box(axes, server, 2.4, 2.3, 0.75, "barycentre of the\nuploads: the new $\\theta$", SHARED)

    axes.plot([first, other], [1.3, 1.3], color=PLATE, lw=1.2, zorder=2)
    arrow(axes, (first, 1.3), (server, 1.3), PLATE)
    for x in (first, second, other):
        box(axes, x, 1.3, 1.85, 0.7, "validation on\nheld-out windows", PLATE, size=8.5)
    axes.text(1.75, 1.41, "sums of scores", fontsize=9, color=INK, va="bottom")

    axes.text(6.0, 0.4, r"Events, $q(v)$, $m$ and $\nu$ are sent to nobody. Blue: distributions of the weights.",
              fontsize=9, ha="center", va="center", color=INK)
    save(figure, "round.svg")


# --- the windows of training, validation and test ------------------------------------------------------------------


def sequence(axes, y, events, windows, hollow=()):
    """Windows (start, end, colour) with a tick an event; `hollow`: events that are conditioned on."""
    for start, end, colour in windows:
        axes.add_patch(Rectangle((start, y - 0.2), end - start, 0.4, fc=colour, ec="none", zorder=1))
    for t in events:
        axes.plot([t, t], [y - 0.2, y + 0.2], color=INK, lw=1.2, zorder=3)
    for t in hollow:
        axes.plot([t], [y], marker="o", mfc="white", mec=INK, ms=5, zorder=4)


def chronological(axes, y, times):
    """Cut after 60 and 80 % of the events that count, half-way to the next."""
    counted = times[1:]
    n = len(counted)
    cuts = [(counted[k - 1] + counted[k]) / 2 for k in (int(0.6 * n + 1e-9), int(0.8 * n + 1e-9))]
    ends = [times[0], *cuts, times[-1]]
    sequence(axes, y, counted, [(ends[k], ends[k + 1], colour) for k, colour in enumerate((TRAINING, VALIDATION, TEST))], times[:1])


def draw_windows():
    figure, axes = page(8.4, 5.4, 12.0, 7.7)
    axes.text(0.2, 7.35, "chronological", fontsize=11, weight="bold", va="center")
    axes.text(2.6, 7.35, "the later events of the same sequences are scored (cut after 60 and 80 % of the events)", fontsize=9, va="center")
    left = 2.6
    sequences = [[0.0, 0.5, 0.8, 1.5, 1.9, 2.6, 2.9, 3.9, 4.3, 5.6, 6.4],
                 [0.0, 0.9, 1.4, 2.6, 3.6, 4.1, 5.4, 6.2, 7.6, 8.3, 9.0],
                 [0.0, 0.3, 0.5, 1.2, 1.4, 1.8, 2.5, 2.7, 3.2, 3.6, 4.1]]
    for k, times in enumerate(sequences):
        y = 6.7 - 0.62 * k
        axes.text(0.2, y, f"sequence {k + 1}", fontsize=9, va="center")
        chronological(axes, y, [left + t for t in times])
    arrow(axes, (left, 4.85), (11.8, 4.85))
    axes.text(left, 4.62, "each sequence begins at 0 (clock elapsed)", fontsize=8.5, va="top")

    axes.text(0.2, 3.95, "population", fontsize=11, weight="bold", va="center")
    axes.text(2.6, 3.95, "other sequences over the same calendar window are scored", fontsize=9, va="center")
    right = 11.6
    rows = [("data.train: 4 of 5", TRAINING, [0.4, 1.1, 1.3, 3.0, 3.4, 5.1, 5.5, 7.9]),
            ("", TRAINING, [0.9, 2.9, 3.3, 5.4, 8.3]),
            ("data.train: 1 of 5", VALIDATION, [1.0, 1.2, 3.1, 5.2, 6.9]),
            ("data.test", TEST, [0.7, 1.4, 3.2, 5.0, 5.3, 8.1]),
            ("", TEST, [1.1, 3.5, 5.6, 7.2])]
    for k, (name, colour, times) in enumerate(rows):
        y = 3.4 - 0.5 * k
        axes.text(0.2, y, name, fontsize=9, va="center")
        sequence(axes, y, [left + t for t in times], [(left, right, colour)])
    arrow(axes, (left, 0.95), (11.8, 0.95))
    axes.text(left, 0.8, "file time (clock calendar)", fontsize=8.5, va="top")

    y = 0.22
    for x, colour, text in ((0.3, TRAINING, "training"), (2.3, VALIDATION, "validation"), (4.5, TEST, "test: scored")):
        axes.add_patch(Rectangle((x, y - 0.13), 0.4, 0.26, fc=colour, ec="none"))
        axes.text(x + 0.5, y, text, fontsize=9, va="center")
    axes.plot([6.95, 6.95], [y - 0.15, y + 0.15], color=INK, lw=1.2)
    axes.text(7.1, y, "event", fontsize=9, va="center")
    axes.plot([8.5], [y], marker="o", mfc="white", mec=INK, ms=5)
    axes.text(8.7, y, "first event: given, not counted", fontsize=9, va="center")
    save(figure, "windows.svg")


if __name__ == "__main__":
    plt.rcParams.update({"svg.hashsalt": "fedpp", "svg.fonttype": "path", "font.family": "DejaVu Sans", "mathtext.fontset": "cm"})
    draw_model()
    draw_round()
    draw_windows()
