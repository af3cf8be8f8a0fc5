"""The encoders of the peer (docs/encoders.md): from weights w [R, S, P] to the embeddings [., S, D, .] of the points of all
realisations [R] and of the inducing points of those whose K(z,z) is formed.
"""
import torch


class DeepKernel:
    """h = tanh(W tau + b), of time alone."""

    def __init__(self, realisations, columns, options, device):
        self.width, window = options["width"], options["window"]
        times = [r["events"] + r["nodes"] for r in realisations]
        self.tau = 2 * torch.tensor([t + [0.0] * (columns - len(t)) for t in times], device=device) / window - 1  # [R, n]
        self.z = 2 * torch.tensor([r["inducing"] for r in realisations], device=device) / window - 1  # [R, M]
        self.inducing = [tuple(r["inducing"]) for r in realisations]  # equal: equal K(z,z) within a client

    def embed(self, w, x):
        d = self.width
        return torch.tanh(w[..., :d, None] * x[:, None, None, :] + w[..., d : 2 * d, None])

    def __call__(self, w, formed):
        return self.embed(w, self.tau), self.embed(w[formed], self.z[formed])


class Lstm:
    """A step of the LSTM for every point from the state after the tokens before it.

    The weights differ by client and sample, so nn.LSTM is of no use: batched products do a step of all clients. The states
    ("slots") of a realisation's streams stand behind each other by their number of tokens, longest stream first, so that the
    streams that go on are the first ones of each step. Layer after layer, what does not depend on the step before it is one
    product over all tokens, slots or points.
    """

    def __init__(self, realisations, columns, options, device):
        self.width, self.layers, self.inputs = options["width"], options["layers"], len(realisations[0]["points"][0])
        lengths = [sorted((len(t) for t in r["tokens"]), reverse=True) for r in realisations]
        longest = max(own[0] for own in lengths)
        # Streams that have a slot j in any realisation, and the first slot of each j.
        self.streams = [max(sum(n >= j for n in own) for own in lengths) for j in range(longest + 1)]
        begin = torch.tensor([0] + self.streams).cumsum(0).tolist()
        tokens = torch.zeros(len(realisations), begin[-1] - self.streams[0], self.inputs)
        points = torch.zeros(len(realisations), columns + len(realisations[0]["inducing"]), self.inputs)
        slots = torch.zeros(points.shape[:2], dtype=torch.long)
        for row, r in enumerate(realisations):
            order = sorted(range(len(r["tokens"])), key=lambda s: -len(r["tokens"][s]))
            for place, stream in enumerate(order):
                for j, x in enumerate(r["tokens"][stream]):
                    tokens[row, begin[j + 1] - self.streams[0] + place] = torch.tensor(x)
            known = len(r["events"]) + len(r["nodes"])
            at = [*range(known), *range(columns, points.shape[1])]  # padding between nodes and inducing points
            points[row, at] = torch.tensor(r["points"])
            slots[row, at] = torch.tensor([begin[before] + order.index(stream) for stream, before in r["slots"]])
        self.columns, self.tokens, self.points = columns, tokens.to(device)[:, None], points.to(device)[:, None]
        of_problem = torch.arange(len(realisations) * options["samples"]).view(-1, options["samples"], 1) * begin[-1]
        self.slots = (of_problem + slots[:, None]).flatten().to(device)  # of points, in all problems' slots
        self.inducing = list(range(len(realisations)))  # each has its own history

    def matrices(self, w):
        """W_x, W_h, b of each layer, [B, inputs, 4H], gates i, f, o, g: one sigmoid takes the first three."""
        d, first = self.width, 0
        for layer in range(self.layers):
            below = self.inputs if layer == 0 else d
            last = first + 4 * d * (below + d + 1)
            i, f, g, o = w[:, first:last].view(len(w), below + d + 1, 4 * d).chunk(4, -1)
            yield torch.cat([i, f, o, g], -1).split([below, d, 1], 1)
            first = last

    def cell(self, z, c):
        """h and c after a step, from the gates' arguments and c before it."""
        sigmoid, g = z.split([3 * self.width, self.width], -1)
        i, f, o = torch.sigmoid(sigmoid).chunk(3, -1)
        c = torch.addcmul(f * c, i, torch.tanh(g))
        return o * torch.tanh(c), c

    def states(self, z, w_h):
        """h and c [B, slots, H] from the part of the tokens' gates that the inputs give."""
        h = c = z.new_zeros(len(z), self.streams[0], self.width)
        all_h, all_c = [h], [c]
        for part, going_on in zip(z.split(self.streams[1:], 1), self.streams[1:]):
            h, c = self.cell(torch.baddbmm(part, h[:, :going_on], w_h), c[:, :going_on])
            all_h.append(h)
            all_c.append(c)
        return torch.cat(all_h, 1), torch.cat(all_c, 1)

    def at_points(self, x):
        """[B, slots, .] to [B, points, .]."""
        return x.flatten(0, 1).index_select(0, self.slots).view(len(x), -1, x.shape[-1])

    def __call__(self, w, formed):
        assert len(formed) == len(w)
        samples = w.shape[1]
        tokens, points = (x.expand(-1, samples, -1, -1).flatten(0, 1) for x in (self.tokens, self.points))
        for w_x, w_h, b in self.matrices(w.flatten(0, 1)):
            h, c = self.states(torch.baddbmm(b, tokens, w_x), w_h)
            hidden = torch.baddbmm(b, h, w_h)  # once a slot, where several points stand
            points, _ = self.cell(self.at_points(hidden).baddbmm_(points, w_x), self.at_points(c))
            tokens = h[:, self.streams[0] :]
        h = points.transpose(1, 2).unflatten(0, (-1, samples))
        return h[..., : self.columns], h[..., self.columns :]
