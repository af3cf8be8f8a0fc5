"""A checkpoint as NumPy arrays. 'fedpp checkpoint verify' checks its checksum; HDF5 may crash on a damaged one."""

import dataclasses

import numpy as np

from .errors import UserError
from .results import client_key, open_arrays, parse_json

REMEDY = "'fedpp checkpoint verify' says whether it is whole; 'fedpp train --resume' goes on from the newest that is"


@dataclasses.dataclass
class Gaussian:
    """N(mean, diag(sd^2)), [P] each."""

    mean: np.ndarray
    sd: np.ndarray


@dataclasses.dataclass
class Client:
    """One client's private state; `weights` is None where it has not taken part.

    Of the best round weights and steps alone are kept: the four of the latent functions are None. So are v_mean and v_factor where inference is at its start, N(0, I)."""

    weights: Gaussian | None
    steps: int  # of Adam
    types: np.ndarray
    sequences: np.ndarray
    rate: float | None = None  # m
    offset: float | None = None  # nu
    v_mean: np.ndarray | None = None  # [realisations, M]
    v_factor: np.ndarray | None = None  # [realisations, M, M]: Sigma_v = F'F


class Checkpoint:
    """`attributes` are as they stand in the file: its best_round counts from 0."""

    def __init__(self, path):
        self.path = path
        with self._open() as file:
            if "next_round" not in file.attrs:
                raise UserError(f"{path} is no checkpoint of fedpp, but holds: {', '.join(file) or 'nothing'}. Name one of those that fedpp.Run(DIR).checkpoints() lists")
            self.attributes = dict(file.attrs)
            self.theta = self._gaussian(file, "theta")
            self.best_theta = self._gaussian(file, "best_theta") if "best_theta_mean" in file else None
            self.configuration, self.rounds = (parse_json(file[name][()], f"{path}: {name}", REMEDY) for name in ("configuration", "rounds"))
            self.clients = int(file.attrs["clients"])

    def _open(self):
        return open_arrays(self.path, REMEDY)

    @staticmethod
    def _gaussian(group, name):
        return Gaussian(group[f"{name}_mean"][()], group[f"{name}_sd"][()])

    @property
    def best_round(self):
        """From 1, as in result.json; 0 before any validation."""
        return int(self.attributes["best_round"]) + 1

    def client(self, number, state="last"):
        """The state after the last round, or after the `best` one by validation."""
        with self._open() as file:
            key = f"clients/{client_key(number)}"
            if key not in file:
                raise LookupError(f"{self.path} holds no client {number}, but 0 to {self.clients - 1}")
            holder = file[key]
            there = [name for name in ("last", "best") if name in holder]
            if state not in there:
                raise LookupError(f"{self.path} holds no state '{state}' of client {number}, but: {', '.join(there)}. A best one is there once a round was validated")
            group = holder[state]
            client = Client(self._gaussian(group, "weights") if group.attrs["started"] else None, int(group.attrs["steps"]), holder["types"][()], holder["sequences"][()])
            if state == "last":
                client.rate, client.offset = float(group["rate"][()]), float(group["offset"][()])
                if "v_mean" in group:
                    client.v_mean, client.v_factor = self._variational(group)
            return client

    def _variational(self, group):
        inducing = self.configuration["model"]["inducing"]
        mean = group["v_mean"][()].reshape(-1, inducing)
        if "v_factor" in group:  # of layouts before 6: columns of whole squares
            return mean, group["v_factor"][()].reshape(-1, inducing, inducing).transpose(0, 2, 1)
        factor = np.zeros((len(mean), inducing, inducing))
        columns, rows = np.triu_indices(inducing)  # a lower triangle's columns, from the diagonal down
        factor[:, rows, columns] = group["v_triangle"][()].reshape(len(mean), -1)
        return mean, factor
