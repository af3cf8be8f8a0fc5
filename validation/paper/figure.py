"""The figure of an experiment: scores beside the trivial models, and what is left of them when the seed is taken out."""
import textwrap

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from experiment import running
from tables import cells, trivial_models

OURS = ["#0b5fa5", "#c8442b", "#1b9e77", "#8450a0", "#e08214", "#555555"]
TRIVIAL = ["#9a9a9a", "#b8860b", "#5f9ea0", "#c2457e", "#7a7a7a", "#556b2f"]
STYLE = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#e4e4e4",
         "grid.linewidth": 0.7, "axes.axisbelow": True, "legend.frameon": False, "figure.constrained_layout.use": True}


def draw(experiment, rows, path):
    """Columns are data sets. Top: mean and sd over seeds, each seed a dot, trivial models as lines. Bottom: paired difference to
    the first level of the first axis, with two standard errors (what is outside seed noise does not touch zero)."""
    def scores_of(of_seed, column="headline"):
        return [experiment.score(row, column) for row in of_seed.values() if row.get(column)]

    found, names = cells(experiment, rows), trivial_models(experiment, rows)
    first = next(iter(experiment.axes))
    labels = list(experiment.axes[first])
    groups = list(dict.fromkeys(levels[1:] for _, levels in found))
    data = [d for d in experiment.data if any(name == d.name for name, _ in found)]
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(3, len(data), figsize=(max(4.6, 1.0 + 0.75 * len(labels)) * len(data), 7), squeeze=False,
                                    gridspec_kw={"height_ratios": [1, 0.8, 0.01]})
        for column, dataset in enumerate(data):
            top, bottom, legend = axes[:, column]
            legend.axis("off")
            top.set_xticks(range(len(labels)), [""] * len(labels))
            for axis in (top, bottom):
                axis.set_xlim(-0.5, len(labels) - 0.5)
            for g, group in enumerate(groups):
                shift = 0.16 * (g - (len(groups) - 1) / 2)
                name = ", ".join(group) or "fedpp"
                reference = found.get((dataset.name, (labels[0], *group)), {})
                for x, label in enumerate(labels):
                    of_seed = found.get((dataset.name, (label, *group)))
                    if not of_seed:
                        continue
                    scores, colour = scores_of(of_seed), OURS[g % len(OURS)]
                    top.plot([x + shift + 0.05] * len(scores), scores, ".", color=colour, alpha=0.35, ms=5, lw=0)
                    top.errorbar(x + shift, np.mean(scores), np.std(scores, ddof=1) if len(scores) > 1 else 0, fmt="o", color=colour,
                                 capsize=3, label=name if name not in top.get_legend_handles_labels()[1] else None)
                    pairs = [(experiment.score(of_seed[s]), experiment.score(reference[s])) for s in of_seed if s in reference]
                    if pairs:
                        gain, error = running.paired(pairs)
                        bottom.errorbar(x + shift, gain, 2 * error if len(pairs) > 1 else 0, fmt="o", color=colour, capsize=3)
            for t, model in enumerate(names):
                means = [np.mean([v for (d, levels), of_seed in found.items() if d == dataset.name and levels[0] == label
                                  for v in scores_of(of_seed, model)] or [np.nan]) for label in labels]
                if np.isfinite(means).any():
                    line = {"color": TRIVIAL[t % len(TRIVIAL)], "ls": ["--", ":", "-."][t % 3], "lw": 1.2}
                    if len(labels) == 1:
                        top.axhline(means[0], label=model, **line)
                    else:
                        top.plot(range(len(labels)), means, label=model, **line)
            bottom.axhline(0, color="#777777", lw=0.8)
            top.set_title(dataset.entry.get("label", dataset.name), loc="left")
            bottom.set_xticks(range(len(labels)), labels, rotation=30 if max(map(len, labels)) > 6 else 0)
            bottom.set_xlabel(first)
        axes[0, 0].set_ylabel("test log-likelihood per event" + (f"\nover {experiment.over}" if experiment.over else ""))
        axes[1, 0].set_ylabel(f"difference to {first} {labels[0]}\n(paired, two standard errors)")
        handles = {label: handle for axis in axes[0] for handle, label in zip(*axis.get_legend_handles_labels())}
        legend = axes[2, 0].legend(handles.values(), handles.keys(), loc="lower left", bbox_to_anchor=(0, -1), ncol=min(4, 2 * len(data)))
        legend.set_in_layout(True)
        width = int(figure.get_figwidth() * 13)
        figure.suptitle("\n".join(textwrap.wrap(experiment.title, width)), x=0.01, ha="left", fontsize=12)
        figure.savefig(path, dpi=110)
        plt.close(figure)
