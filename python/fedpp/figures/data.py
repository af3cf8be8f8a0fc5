"""What the figures take from a run, and Missing where it is not there."""

import math

import numpy as np

from ..results import number


class Missing(Exception):
    """A figure's data are not in the run; the text says what."""


def drawable(values):
    """An array in which what is not finite is not drawn."""
    values = np.asarray(values, float)
    return np.where(np.isfinite(values), values, np.nan)


def series(rounds, key):
    """Rounds and values where the values were computed."""
    pairs = [(r["round"], number(r.get(key))) for r in rounds]
    pairs = [(x, y) for x, y in pairs if math.isfinite(y)]
    return np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])


def scores_of(result):
    """The tables of scores that hold a finite one of ours: one object, or a list with one object a protocol."""
    scores = result.get("scores") or []
    tables = [s for s in (scores if isinstance(scores, list) else [scores]) if s.get("models")]
    return [t for t in tables if any(math.isfinite(number(c.get("headline"))) for c in t["models"][0].get("per_client", []))]
