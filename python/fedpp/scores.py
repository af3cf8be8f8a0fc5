"""Scores in result.json, with hostile clients or without."""

import math


def hostile_clients(result):
    """Those of a simulated attack ([attack] in the configuration)."""
    return (result.get("honest") or {}).get("hostile_clients") or []


def headline_without(model, clients):
    """A model's headline score per event over all clients but these."""
    kept = [c for c in model["per_client"] if c["client"] not in clients and c["headline"] is not None]
    events = sum(c["events"] for c in kept)
    return sum(c["headline"] * c["events"] for c in kept) / events if events else math.nan
