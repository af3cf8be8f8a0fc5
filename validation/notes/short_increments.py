#!/usr/bin/python3
"""What a cut by events does to increments when windows have an end of their own (docs/results.md, `calibration`).

Poisson sequences of rate 1 over (0, 25), so that an increment is a gap. The first 60 % of a sequence's events train, the next 20 % validate.
A window with many events has short gaps and gives more of them: the gaps among the last 20 % are too short for Exp(1)."""
import numpy as np

LENGTH, SEQUENCES = 25.0, 40_000
draw = np.random.default_rng(1)


def distance(gaps):
    """Kolmogorov-Smirnov distance from Exp(1)."""
    expected, n = 1 - np.exp(-np.sort(gaps)), len(gaps)
    return max((np.arange(1, n + 1) / n - expected).max(), (expected - np.arange(n) / n).max())


kept = []
for _ in range(SEQUENCES):
    times = np.sort(draw.uniform(0, LENGTH, draw.poisson(LENGTH)))
    begin = int(0.8 * len(times))
    if len(times) >= 5:
        kept.append(np.diff(times[begin:]))
gaps = np.concatenate(kept)
print(f"{len(gaps)} gaps of mean {gaps.mean():.3f}: KS {distance(gaps):.3f} (of as many Exp(1): {distance(draw.exponential(size=len(gaps))):.3f})")
