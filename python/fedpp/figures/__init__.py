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

Each returns a Matplotlib figure and raises Missing where its data are not in the run. The figures have a style of their own; Matplotlib's settings
and its backend stay as they are. Needs Matplotlib and NumPy.
"""

import matplotlib.pyplot as plt

from .comparisons import gains, scores
from .costs import communication, phases
from .curves import ABOVE, intensities
from .data import Missing
from .forecasts import next_events
from .groups import communities, graph
from .residuals import calibration
from .rounds import convergence, starts

ALL = {"convergence": convergence, "intensities": intensities, "scores": scores, "calibration": calibration, "phases": phases,
       "communication": communication, "communities": communities, "graph": graph, "starts": starts}

__all__ = ["ABOVE", "ALL", "Missing", "close", "gains", "next_events", *ALL]


def close(figure):
    """Frees a figure's memory."""
    plt.close(figure)
