"""The figure of an experiment: scores beside the trivial models, and what is left of them when the seed is taken out."""
import textwrap

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from experiment import running
from tables import cells, trivial_models

OURS = "#0b5fa5"
TRIVIAL = ["#9a9a9a", "#b8860b", "#5f9ea0", "#c2457e", "#7a7a7a", "#556b2f"]
STYLE = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#e4e4e4",
         "grid.linewidth": 0.7, "axes.axisbelow": True, "legend.frameon": False, "figure.constrained_layout.use": True}


def bar(axis, x, mean, half, **more):
    axis.errorbar(x, mean, half, fmt="o", color=OURS, capsize=3, **more)


def panel(experiment, top, bottom, of_label, names):
    """One data set and one level of every axis but the first. of_label: label of the first axis -> {seed: row}, in order."""
    def scores(of_seed, column="headline"):
        return [experiment.score(row, column) for row in of_seed.values() if row.get(column)]

    reference = next(iter(of_label.values()))
    for x, of_seed in enumerate(of_label.values()):
        ours = scores(of_seed)
        several = len(ours) > 1
        top.plot([x + 0.1] * len(ours), ours, ".", color=OURS, alpha=0.35, ms=5)
        bar(top, x, np.mean(ours), np.std(ours, ddof=1) if several else 0, label="fedpp" if x == 0 else None)
        pairs = [(experiment.score(row), experiment.score(reference[seed])) for seed, row in of_seed.items() if seed in reference]
        if pairs:
            gain, error = running.paired(pairs)
            bar(bottom, x, gain, 2 * error if len(pairs) > 1 else 0)
    for t, model in enumerate(names):
        means = [np.mean(scores(of_seed, model) or [np.nan]) for of_seed in of_label.values()]
        line = {"color": TRIVIAL[t % len(TRIVIAL)], "ls": ["--", ":", "-."][t % 3], "lw": 1.3, "label": model}
        if len(means) == 1:
            top.axhline(means[0], **line)
        else:
            top.plot(range(len(means)), means, **line)
    bottom.axhline(0, color="#777777", lw=0.8)
    for axis, labels in ((top, [""] * len(of_label)), (bottom, list(of_label))):
        axis.set_xticks(range(len(of_label)), labels, rotation=30 if max(map(len, labels)) > 8 else 0)
        axis.set_xlim(-0.5, len(of_label) - 0.5)


def draw(experiment, rows, path):
    """Columns are data sets and levels of the axes after the first. Top: mean and sd over seeds, each seed a dot, trivial models
    as lines. Bottom: paired difference to the first label with two standard errors: what is outside seed noise does not touch 0."""
    panels = {}
    for (data, levels), of_seed in cells(experiment, rows).items():
        panels.setdefault((data, levels[1:]), {})[levels[0]] = of_seed
    first, labels = next(iter(experiment.axes)), {data.name: data.entry.get("label", data.name) for data in experiment.data}
    wide = 1.2 + 0.7 * max(map(len, panels.values()))
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(3, len(panels), figsize=(max(6.0, max(3.4, wide) * len(panels)), 7.2), squeeze=False,
                                    gridspec_kw={"height_ratios": [1, 0.8, 0.1 + 0.4 / len(panels)]})
        for column, ((data, group), of_label) in enumerate(panels.items()):
            panel(experiment, axes[0, column], axes[1, column], of_label, trivial_models(experiment, rows))
            axes[0, column].set_title(", ".join([labels[data], *group]), loc="left")
            axes[1, column].set_xlabel(first)
            axes[2, column].axis("off")
        axes[0, 0].set_ylabel("test log-likelihood per event" + (f"\nover {experiment.over}" if experiment.over else ""))
        axes[1, 0].set_ylabel(f"difference to {first} {next(iter(next(iter(panels.values()))))}\n(paired, two standard errors)")
        handles = {label: handle for axis in axes[0] for handle, label in zip(*axis.get_legend_handles_labels())}
        legend = axes[2, 0].legend(handles.values(), handles.keys(), loc="upper left", bbox_to_anchor=(-0.1, 1),
                                   ncol=int(figure.get_figwidth() / 2.3))
        legend.set_in_layout(False)  # it may be wider than its column
        figure.suptitle("\n".join(textwrap.wrap(experiment.title, int(figure.get_figwidth() * 11))), x=0.01, ha="left", fontsize=12)
        figure.savefig(path, dpi=110)
        plt.close(figure)
