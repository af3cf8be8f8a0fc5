#!/usr/bin/env python3
"""The peer: local rounds of a fixed workload in PyTorch, as a user who knows it well would write them.

    fedpp_workload a /tmp/a && python bench/peer/client_step.py /tmp/a/clients.json

Vectorised over clients, realisations and samples of the weights: padded batches, distances by matrix products, cholesky_ex,
triangular solves, autograd for the gradient, one Adam over all clients. Ties come merged, as fedpp merges them. fp64, one
thread unless --threads, or --device cuda. The batch (how many clients go together) that is fastest on this machine is
found first: --chunk fixes it. Prints seconds a round (processor time of this process on one CPU thread, wall time
otherwise), the median of --rounds after one that is not counted, as JSON.
"""
import argparse
import json
import statistics
import time

import torch

import encoders

torch.set_default_dtype(torch.float64)


class Chunk:
    """Realisations [R] of some clients [C], padded to the largest number of columns: weight 0 is padding."""

    def __init__(self, clients, first, prior_mean, prior_sd, options, device):
        rows = [(c, r) for c, client in enumerate(clients) for r in client["realisations"]]
        columns = max(len(r["events"]) + len(r["nodes"]) for _, r in rows)

        def padded(of):
            return torch.tensor([of(r) + [0.0] * (columns - len(of(r))) for _, r in rows], device=device)

        self.count = padded(lambda r: r["multiplicities"] + [0.0] * len(r["nodes"]))
        self.omega = padded(lambda r: [0.0] * len(r["events"]) + r["node_weights"])
        encoder = {"deep-kernel": encoders.DeepKernel, "lstm": encoders.Lstm}[options["encoder"]]
        self.encoder = encoder([r for _, r in rows], columns, options, device)
        # K(z,z) and its factor once for a client's realisations with the same z.
        places = {}
        index = [places.setdefault((c, z), row) for row, ((c, _), z) in enumerate(zip(rows, self.encoder.inducing))]
        self.formed = torch.tensor(list(places.values()), device=device)
        self.formed_by = torch.tensor([list(places.values()).index(row) for row in index], device=device)
        self.client = torch.tensor([c for c, _ in rows], device=device)
        self.clients, self.inducing = len(clients), len(rows[0][1]["inducing"])
        self.samples, self.jitter = options["samples"], options["jitter"]
        self.rate = torch.tensor([c["rate"] for c in clients], device=device)
        self.offset = torch.zeros(self.clients, device=device)
        self.eye = torch.eye(self.inducing, device=device)
        self.factor = self.eye.expand(len(rows), -1, -1).clone()  # F, Sigma_v = F'F
        self.v_mean = torch.zeros(len(rows), self.inducing, device=device)
        self.prior_mean, self.prior_sd = prior_mean, prior_sd
        self.mean = prior_mean.expand(self.clients, -1).clone().requires_grad_()
        self.raw = torch.log(torch.expm1(prior_sd)).expand(self.clients, -1).clone().requires_grad_()
        self.adam = torch.optim.Adam([self.mean, self.raw], lr=options["learning_rate"])
        self.generator = torch.Generator(device=device).manual_seed(1 + first)
        self.failed = torch.tensor(False, device=device)
        self.elbo = 0.0

    def by_client(self, x):
        """Sums [R] -> [C]."""
        return torch.zeros(self.clients, device=x.device).index_add_(0, self.client, x)

    def features(self, w):
        """V [R, S, M, n] and r [R, S, 1] by the kernel's weights w [R, S, P]."""
        variance, scale = torch.exp(w[..., -2]), 0.5 * torch.exp(-2 * w[..., -1])
        formed = self.formed
        h, hz = self.encoder(w, formed)
        norm, norm_z = (h * h).sum(-2), (hz * hz).sum(-2)

        def kappa(a, norm_a, b, norm_b, variance, scale):
            squared = norm_a[..., :, None] + norm_b[..., None, :] - 2 * a.transpose(-1, -2) @ b
            return variance[..., None, None] * torch.exp(-scale[..., None, None] * squared.clamp(min=0))

        kzz = kappa(hz, norm_z, hz, norm_z, variance[formed], scale[formed])
        factor, info = torch.linalg.cholesky_ex(kzz + self.jitter * variance[formed][..., None, None] * self.eye)
        self.failed = self.failed | (info != 0).any()  # looked at once a round: to look is to wait for the device
        if len(formed) < len(w):
            hz, norm_z, factor = hz[self.formed_by], norm_z[self.formed_by], factor[self.formed_by]
        k = kappa(hz, norm_z, h, norm, variance, scale)
        return torch.linalg.solve_triangular(factor, k, upper=False), variance[..., None]

    def moments(self, v, variance):
        projection = (self.v_mean[:, None, None, :] @ v).squeeze(-2)  # [R, S, n]
        posterior = self.factor[:, None] @ v
        return projection, variance - (v * v).sum(-2) + (posterior * posterior).sum(-2)

    def augment(self, projection, variance):
        mu = self.offset[self.client][:, None, None] + projection
        mean, square = mu.mean(1), (mu * mu + variance).mean(1)  # [R, n]
        c = square.clamp(min=1e-12).sqrt()
        e = torch.exp(-c)
        xi = (1 - e) / ((1 + e) * 2 * c)
        sigmoid = torch.exp(-0.5 * (mean + c)) / (1 + e)
        thinned = self.omega * sigmoid * self.rate[self.client][:, None]
        return (self.count + thinned) * xi, 0.5 * (self.count - thinned), sigmoid, mean, c

    @torch.no_grad()
    def e_step(self, v, variance):
        alpha, beta, *_ = self.augment(*self.moments(v, variance))
        precision = self.eye + (v * alpha[:, None, None, :] @ v.transpose(-1, -2)).mean(1)
        right = (v @ (beta - alpha * self.offset[self.client][:, None])[:, None, :, None]).mean(1).squeeze(-1)
        factor, _ = torch.linalg.cholesky_ex(precision)
        self.factor = torch.linalg.solve_triangular(factor, self.eye.expand_as(precision), upper=False)
        self.v_mean = (self.factor.transpose(-1, -2) @ (self.factor @ right[..., None])).squeeze(-1)
        moments = self.moments(v, variance)
        *_, sigmoid, mean, c = self.augment(*moments)
        events = self.by_client(self.count.sum(-1))
        self.rate = (events / self.by_client((self.omega * (1 - sigmoid)).sum(-1))).clamp(min=1e-9)
        alpha, beta, *_ = self.augment(*moments)
        self.offset = self.by_client((beta - alpha * moments[0].mean(1)).sum(-1)) / self.by_client(alpha.sum(-1))
        alpha, beta, sigmoid, mean, c = self.augment(*moments)
        bound = (self.count * (0.5 * mean - 0.5 * c - torch.log1p(torch.exp(-c)))).sum(-1)
        bound = bound + (self.omega * sigmoid).sum(-1) * self.rate[self.client]
        trace = (self.factor * self.factor).sum((-1, -2)) + (self.v_mean * self.v_mean).sum(-1)
        logdet = 2 * torch.log(torch.diagonal(self.factor, dim1=-1, dim2=-2)).sum(-1)
        bound = self.by_client(bound - 0.5 * (trace - logdet - self.inducing))
        self.elbo = bound + events * self.rate.log() - self.rate * self.by_client(self.omega.sum(-1))
        return alpha, beta

    def epoch(self):
        noise = torch.randn(self.clients, self.samples, self.mean.shape[1], generator=self.generator, device=self.mean.device)
        sd = torch.nn.functional.softplus(self.raw)
        w = (self.mean[:, None] + sd[:, None] * noise)[self.client]  # [R, S, P]
        v, variance = self.features(w)
        alpha, beta = self.e_step(v.detach(), variance.detach())
        projection, spread = self.moments(v, variance)
        mu = self.offset[self.client][:, None, None] + projection
        surrogate = (beta[:, None] * mu - 0.5 * alpha[:, None] * (mu * mu + spread)).sum((0, 2)).mean()
        ratio = sd / self.prior_sd
        divergence = (0.5 * (((self.mean - self.prior_mean) / self.prior_sd) ** 2 + ratio * ratio - 1) - torch.log(ratio)).sum()
        self.adam.zero_grad(set_to_none=True)
        (divergence - surrogate).backward()
        self.adam.step()


def clock(device, threads):
    if device == "cuda":
        torch.cuda.synchronize()
    return time.process_time() if device == "cpu" and threads == 1 else time.perf_counter()


def time_round(chunks, epochs, device, threads):
    start = clock(device, threads)
    for chunk in chunks:
        for _ in range(epochs):
            chunk.epoch()
        if bool(chunk.failed):
            raise RuntimeError("a Cholesky factorisation failed")
    return clock(device, threads) - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clients")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--chunk", type=int, default=0, help="clients in a batch (0: what is fastest of 1, 5, all)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    with open(arguments.clients, encoding="utf-8") as file:
        options = json.load(file)
    clients, device = options["clients"], arguments.device
    mean = torch.tensor(options["prior_mean"], device=device)
    sd = torch.tensor(options["prior_sd"], device=device)

    def chunks_of(size):
        return [Chunk(clients[k : k + size], k, mean, sd, options, device) for k in range(0, len(clients), size)]

    def gigabytes(size):
        """Of V, of which autograd and the step keep about a dozen of its size."""
        columns = max(len(r["events"]) + len(r["nodes"]) for c in clients for r in c["realisations"])
        problems = max(len(c["realisations"]) for c in clients) * size * options["samples"]
        return 8e-9 * problems * columns * len(clients[0]["realisations"][0]["inducing"])

    sizes = [arguments.chunk] if arguments.chunk else sorted({1, min(5, len(clients)), len(clients)})
    sizes = [s for s in sizes if s == sizes[0] or device == "cuda" or gigabytes(s) < 0.5]
    tried = {}
    for size in sizes:
        try:
            chunks = chunks_of(size)
            time_round(chunks[:1], 1, device, arguments.threads)
            tried[size] = min(time_round(chunks, 1, device, arguments.threads) for _ in range(2))
        except torch.OutOfMemoryError:
            continue
    if not tried:
        raise SystemExit("client_step: not even the smallest batch fits into the device's memory")
    size = min(tried, key=tried.get)
    chunks = chunks_of(size)
    seconds = [time_round(chunks, options["epochs"], device, arguments.threads) for _ in range(arguments.rounds + 1)]
    name = torch.cuda.get_device_name() if device == "cuda" else "cpu"
    print(json.dumps({"peer": f"PyTorch {torch.__version__}", "device": name, "threads": arguments.threads, "chunk": size,
                      "seconds": statistics.median(seconds[1:]), "all_seconds": seconds,
                      "elbo": sum(float(c.elbo.sum()) for c in chunks),
                      "device_MB": 1e-6 * torch.cuda.max_memory_allocated() if device == "cuda" else 0.0}))


if __name__ == "__main__":
    main()
