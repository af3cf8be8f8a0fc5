"""Independent reference of `fedpp probe` (docs/probe.md): plain NumPy from the formulas, with the gradient by complex steps.

Nothing here follows the program's way of computing: kernels are formed densely, inverses explicitly, dJ/dw by differentiating
J(w) numerically to rounding (an imaginary step of 1e-30).
"""
import numpy as np

STEP = 1e-30


def embedding(w, t, window):
    """h(t) = tanh(W (2t/T - 1) + b): (len(t), D). w = [W, b, log r, log l], may be complex."""
    d = len(w) // 2 - 1
    return np.tanh(np.outer(2 * t / window - 1, w[:d]) + w[d:2 * d])


def kernel(w, a, b, window):
    ha, hb = embedding(w, a, window), embedding(w, b, window)
    distance = ((ha[:, None, :] - hb[None, :, :]) ** 2).sum(-1)
    return np.exp(w[-2]) * np.exp(-distance / (2 * np.exp(2 * w[-1])))


def cholesky(k):
    """Lower factor by columns; without conjugation, so that complex steps go through."""
    k, factor = k.copy(), np.zeros_like(k)
    for j in range(len(k)):
        factor[j:, j] = (k[j:, j] - factor[j:, :j] @ factor[j, :j]) / np.sqrt(k[j, j] - factor[j, :j] @ factor[j, :j])
    return factor


def moments(case, w):
    """Mean and variance of f, features V and K(z,z) for one sample of w."""
    points = np.concatenate([case["events"], case["quad_t"]])
    z = case["z"]
    k = kernel(w, z, z, case["T"]) + case["jitter"] * np.exp(w[-2]) * np.eye(len(z))
    v = np.linalg.solve(cholesky(k), kernel(w, z, points, case["T"]))
    mean = case["nu"] + v.T @ case["q_mean"]
    variance = np.exp(w[-2]) - (v * v).sum(0) + (v * (case["q_cov"] @ v)).sum(0)
    return mean, variance, v, k


def client_step(case):
    n = len(case["events"])
    mean, variance, v, k = (np.array(x) for x in zip(*[moments(case, w) for w in case["w"]]))
    c = np.sqrt((mean ** 2 + variance).mean(0))
    average = mean.mean(0)
    xi = np.tanh(c / 2) / (2 * c)
    log_cosh = c / 2 + np.log1p(np.exp(-c))
    g = np.exp(-average[n:] / 2 - log_cosh[n:])
    rate = case["m"] * g
    alpha = np.concatenate([xi[:n], case["quad_w"] * rate * xi[n:]])
    beta = np.concatenate([np.full(n, 0.5), -0.5 * case["quad_w"] * rate])
    m = len(case["z"])
    cov_next = np.linalg.inv(np.eye(m) + np.mean([vs @ np.diag(alpha) @ vs.T for vs in v], 0))
    mean_next = cov_next @ np.mean([vs @ (beta - alpha * case["nu"]) for vs in v], 0)
    exposure = case["quad_w"].sum()
    elbo = n * np.log(case["m"]) + (average[:n] / 2 - log_cosh[:n]).sum() + case["quad_w"] @ rate - case["m"] * exposure
    elbo -= 0.5 * (np.trace(case["q_cov"]) + case["q_mean"] @ case["q_mean"] - np.linalg.slogdet(case["q_cov"])[1] - m)

    def surrogate(w):
        mu, s, _, _ = moments(case, w)
        return (beta * mu - 0.5 * alpha * (mu ** 2 + s)).sum()

    grad = np.empty_like(case["w"])
    for s, w in enumerate(case["w"]):
        for j in range(len(w)):
            stepped = w.astype(complex)
            stepped[j] += 1j * STEP
            grad[s, j] = surrogate(stepped).imag / STEP
    return {
        "Kzz": k, "f_mean": mean, "f_var": variance, "c": c, "xi": xi, "alpha": alpha, "beta": beta, "lambda": rate,
        "q_mean_next": mean_next, "q_cov_next": cov_next,
        "m_next": max(n, 0.5) / (case["quad_w"] @ (1 - g)) if n else 0.5 / exposure,
        "nu_next": (beta - alpha * (v.mean(0).T @ case["q_mean"])).sum() / alpha.sum(), "elbo": elbo,
        "surrogate": np.array([surrogate(w) for w in case["w"]]), "grad_w": grad,
    }


def mmd_objective(mu, log_sd, r, delta, weight, d):
    """Per parameter, without what does not depend on the barycentre."""
    variance = np.exp(2 * log_sd)
    v = d * d + 2 * delta ** 2 + 2 * variance
    return 1 / np.sqrt(d * d + 4 * variance) - 2 * (weight[:, None] * np.exp(-(r - mu) ** 2 / v) / np.sqrt(v)).sum(0)


def aggregate(case):
    r, delta, weight = case["r"], case["delta"], case["weight"] / case["weight"].sum()
    mean = weight @ r
    return {
        "kl_mean": mean, "kl_sd": np.sqrt(weight @ (delta ** 2 + (r - mean) ** 2)), "w2_mean": mean, "w2_sd": weight @ delta,
        "fedavg_mean": mean, "fedavg_sd": np.sqrt(weight @ delta ** 2),
    }


def predict(case):
    """Expectations by a fine trapezoid rule over +- 14 standard deviations."""
    z = np.linspace(-14, 14, 20001)
    weight = np.exp(-z * z / 2) / np.sqrt(2 * np.pi) * (z[1] - z[0])
    x = case["mean"][:, None] + np.sqrt(case["var"])[:, None] * z
    log_sigmoid = -np.logaddexp(0, -x)
    return {"expected_log_intensity": np.log(case["m"]) + log_sigmoid @ weight,
            "expected_intensity": case["m"] * (np.exp(log_sigmoid) @ weight)}


def entropy(weight, partition):
    """H of the graph with these edge weights (zero diagonal) under a partition, from the definition."""
    degree, total = weight.sum(1), weight.sum()
    if total == 0:
        return 0.0
    h = 0.0
    for label in set(partition):
        inside = np.array(partition) == label
        volume, cut = degree[inside].sum(), weight[np.ix_(inside, ~inside)].sum()
        h -= sum(d / total * np.log2(d / volume) for d in degree[inside] if d > 0)
        h -= cut / total * np.log2(volume / total) if cut > 0 else 0.0
    return h


def communities(case):
    """The greedy merges of sets, H computed anew for each."""
    similarity = np.array(case["similarity"])
    weight = np.where(similarity > 0, similarity, 0.0)
    np.fill_diagonal(weight, 0.0)
    n = len(weight)
    partition, now = list(range(n)), entropy(weight, range(n))
    while True:
        best, chosen = -1e-12, None
        for s in sorted(set(partition)):
            for t in sorted(set(partition)):
                merged = [s if label == t else label for label in partition]
                change = entropy(weight, merged) - now if s < t else 0.0
                if change < best - (1e-12 if chosen else 0.0):
                    best, chosen = change, merged
        if chosen is None:
            break
        partition, now = chosen, now + best
    score = np.where(np.eye(n, dtype=bool), 1.0, np.maximum(similarity, 0.0))
    exponential = np.exp(score) * (np.array(partition)[:, None] == np.array(partition)[None, :])
    first = {label: k for k, label in enumerate(dict.fromkeys(partition))}
    return {"partition": np.array([first[label] for label in partition]), "entropy": entropy(weight, partition),
            "weight": exponential / exponential.sum(1, keepdims=True)}
