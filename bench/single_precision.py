#!/usr/bin/env python3
"""single_precision.py - why V = L^-1 k is formed in double (docs/profiling.md): its error and that of kappa - V'V if it were not. RBF kernel, r = 1."""
import numpy as np

inducing, times = np.linspace(0, 100, 50), np.linspace(0, 100, 777)


def kernel(a, b, lengthscale):
    return np.exp(-0.5 * ((a[:, None] - b) / lengthscale) ** 2)


for lengthscale in (5, 10, 20):
    inverse = np.linalg.inv(np.linalg.cholesky(kernel(inducing, inducing, lengthscale) + 1e-6 * np.eye(len(inducing))))
    k = kernel(inducing, times, lengthscale)
    v = inverse @ k
    left = 1 - (v**2).sum(0)
    print(f"l = {lengthscale}: L^-1 up to {np.abs(inverse).max():.0f}, kappa - V'V {left.min():.1e} to {left.max():.1e} (median {np.median(left):.1e})")
    for name, single in (("multiplied in single", inverse.astype(np.float32) @ k.astype(np.float32)), ("rounded to single", v.astype(np.float32))):
        error = np.abs(1 - (single.astype(float) ** 2).sum(0) - left)
        print(f"  V {name}: off by up to {np.abs(v - single).max():.1e}; kappa - V'V off by up to {error.max():.1e}, {(error / left).max():.2g} of itself")
