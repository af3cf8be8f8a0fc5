"""What figures, captions and the page compute from a run's results: scores with hostile clients or without, calibration, similarities of clients."""

import math

import numpy as np


def hostile_clients(result):
    """Those of a simulated attack ([attack] in the configuration)."""
    return (result.get("honest") or {}).get("hostile_clients") or []


def log_likelihood(client):
    """Of a client's test windows in nats, of those without events, too; None where it has none or no finite one."""
    if "log_likelihood" in client:
        return client["log_likelihood"]
    return None if client["headline"] is None else client["headline"] * client["events"]  # of a version that did not write it


def headline_without(model, clients):
    """A model's headline score per event over all clients but these."""
    kept = [c for c in model["per_client"] if c["client"] not in clients and log_likelihood(c) is not None]
    events = sum(c["events"] for c in kept)
    return sum(map(log_likelihood, kept)) / events if events else math.nan


def clients_above(ours, others, clients):
    """On how many clients but these `ours` is above all `others`, and of how many with something to score: as src/evaluation/paired_difference.cpp counts. A rival's null is minus infinity where ours is a number."""
    theirs = [{c["client"]: log_likelihood(c) for c in other["per_client"]} for other in others]
    kept = [c for c in ours["per_client"] if c["client"] not in clients and (c["events"] or log_likelihood(c) is not None)]
    beats = lambda client, rival: rival is None or log_likelihood(client) > rival
    above = [c for c in kept if log_likelihood(c) is not None and all(beats(c, rival.get(c["client"])) for rival in theirs)]
    return len(above), len(kept)


def ks_limit(increments):
    """What the Kolmogorov-Smirnov distance of so many increments stays below in 95 % of cases under the true model (src/evaluation/calibration.hpp)."""
    if not increments:
        return math.nan
    root = math.sqrt(increments)
    return min(0.975, 1.358 / (root + 0.12 + 0.11 / root))  # Stephens 1970; of one increment 0.975 is exact


def client_distances(calibration):
    """(client, its KS distance, its limit) where there is a distance; the limit is NaN in runs of versions that did not count a client's increments."""
    return [(c["client"], c["ks"], ks_limit(c.get("increments"))) for c in calibration.get("clients", [])
            if isinstance(c, dict) and "client" in c and c.get("ks") is not None]


def mean_similarities(community, weights):
    """Mean edge weight over the pairs of clients of one community, and of two; NaN without a pair."""
    pairs = np.triu(np.ones(weights.shape, dtype=bool), 1)
    together = community[:, None] == community[None, :]
    return tuple(weights[pairs & chosen].mean() if (pairs & chosen).any() else math.nan for chosen in (together, ~together))


def similarity_text(value):
    return f"{value:.3f}" if math.isfinite(value) else "–"
