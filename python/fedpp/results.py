"""What a run leaves in its folder (docs/file-formats.md), as NumPy arrays."""

import csv
import functools
import json
import math
import operator
import os
import pathlib
import stat

import h5py
import numpy as np

from .errors import UserError

AGAIN = "write it anew with 'fedpp train --resume'"


def number(value):
    """JSON's null is a number that was not finite or not computed."""
    return math.nan if value is None else value


def parse_json(text, path, remedy):
    """The value of a text that stands in `path`."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise UserError(f"{path}, line {error.lineno}: not valid JSON ({error.msg}): {remedy}") from None
    except RecursionError:
        raise UserError(f"{path}: not the JSON that fedpp writes (nested without end): {remedy}") from None


def read_json(path, remedy):
    """The object in a JSON file."""
    try:
        value = parse_json(pathlib.Path(path).read_text(encoding="utf-8"), path, remedy)
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error}): {remedy}") from None
    if not isinstance(value, dict):
        raise UserError(f"{path}: holds no JSON object, as fedpp writes there: {remedy}")
    return value


@functools.lru_cache
def leads_outside(path, *version):
    """What of an HDF5 file leads to another file of the account or to another place in it; None where nothing does.

    `version`: a file is looked through once until it changes."""
    with h5py.File(path, "r") as file:
        def dataset_outside(name, info):
            if info.type == h5py.h5o.TYPE_DATASET:
                creation = h5py.h5d.open(file.id, name).get_create_plist()
                if creation.get_layout() == h5py.h5d.VIRTUAL or creation.get_external_count() > 0:
                    return name

        link = file.id.links.visit(lambda name, info: None if info.type == h5py.h5l.TYPE_HARD else name, info=True)
        return link or h5py.h5o.visit(file.id, dataset_outside, info=True)


def open_arrays(path, remedy):
    """An HDF5 file, to read. One that leads to other files is refused, as the program does."""
    try:
        status = os.stat(path)
        if stat.S_ISFIFO(status.st_mode):
            raise OSError("is a pipe, which would wait for its writer")
        name = leads_outside(path, status.st_ino, status.st_size, status.st_mtime_ns)
        file = h5py.File(path, "r")
    except FileNotFoundError:
        raise FileNotFoundError(f"{path} is not there") from None
    except OSError as error:
        raise UserError(f"{path}: not readable as fedpp's HDF5 file ({error}): {remedy}") from None
    if name is not None:
        file.close()
        raise UserError(f"{path}: /{os.fsdecode(name)} leads to another place or file, as nothing does that fedpp writes: {remedy}")
    return file


def client_key(client):
    """A client's number as fedpp's HDF5 files spell it."""
    try:
        return f"{operator.index(client):06d}"
    except TypeError:
        raise UserError(f"client {client!r} is no whole number: name clients by their numbers, as 0") from None


def read_json_lines(path):
    """The objects of a file with one JSON object a line; lines that are half-written or none are passed over."""
    objects = []
    if pathlib.Path(path).is_file():
        for line in pathlib.Path(path).read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                value = json.loads(line)
            except (json.JSONDecodeError, RecursionError):
                continue
            if isinstance(value, dict):
                objects.append(value)
    return objects


def read_table(path, remedy):
    """{column: array} of a table: numbers and counters are integers, names text, dates datetime64 (NaT where the cell is empty)."""
    kinds = {**dict.fromkeys(("client", "file", "sequence", "future", "futures"), np.int64), "client_name": str, "sequence_name": str}
    try:
        with open(path, newline="", encoding="utf-8") as file:
            head, *rows = csv.reader(file)
        return {name: np.array([row[k] for row in rows]).astype(kinds.get(name, "datetime64[s]" if name == "date" or name.endswith("_date") else float)) for k, name in enumerate(head)}
    except (OSError, ValueError, IndexError, csv.Error) as error:
        raise UserError(f"{path}: not a table as fedpp writes it ({error}): {remedy}") from None


class Run:
    """A folder that 'fedpp train' writes to, finished or not."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        if not self.directory.is_dir():
            raise FileNotFoundError(f"{directory} is no folder: name one that 'fedpp train' wrote")
        self.records = read_json_lines(self.directory / "status.jsonl")
        source = self.directory / "result.json"
        self.finished = source.is_file()
        if self.finished:
            self.result = read_json(source, AGAIN)
        else:  # what the rounds so far have said
            rounds = {}
            for record in self.records:
                if record.get("event") == "start":
                    rounds = {k: v for k, v in rounds.items() if k <= record.get("done", 0)}
                elif record.get("event") == "round" and "round" in record:
                    rounds[record["round"]] = record
            self.result = {"rounds": [rounds[k] for k in sorted(rounds)]}
            if rounds:
                self.result["best_round"] = rounds[max(rounds)].get("best_round")

    @property
    def rounds(self):
        """{column: array over the rounds} of the columns that are numbers."""
        rounds = self.result.get("rounds", [])
        columns = {}
        for name in {key for r in rounds for key in r}:
            values = [number(r.get(name)) for r in rounds]
            if all(isinstance(v, (int, float)) for v in values):
                columns[name] = np.array(values)
        return columns

    @property
    def theta(self):
        """(mean, sd) of the global distribution after the last round, [P] each."""
        theta = self._results("theta")
        return np.array(theta["mean"]), np.array(theta["sd"])

    def scores(self, protocol_table=None):
        """{model: (headline per event over all clients, array of the clients' headlines in their order)}"""
        table = protocol_table or self._results("scores")
        if isinstance(table, list):
            names = ", ".join(str(t.get("protocol")) for t in table)
            raise UserError(f"{self.directory / 'result.json'}: holds a table of scores a protocol ({names}): name one, as scores(run.result[\"scores\"][0])")
        return {m["name"]: (number(m["headline"]), np.array([number(c["headline"]) for c in m["per_client"]])) for m in table["models"]}

    def curves(self, client, source="result.h5"):
        """{name: array} of a client's posterior intensity in a file of the folder ("prediction.h5": of 'fedpp predict'); attributes
        under their own names."""
        path = self._written(source, "fedpp predict" if source != "result.h5" else "fedpp train")
        with open_arrays(path, AGAIN if source == "result.h5" else "write it anew with 'fedpp predict'") as file:
            curves = file["curves"] if "curves" in file else {}
            name = f"client_{client_key(client)}"
            if name not in curves:
                there = ", ".join(str(int(key.split("_")[-1])) for key in curves) or "none"
                raise LookupError(f"{path} holds no curve of client {client}, but of: {there}. 'fedpp predict {self.directory} --clients {client}' writes it to prediction.h5")
            group = curves[name]
            return {**{key: group[key][()] for key in group}, **dict(group.attrs)}

    @property
    def evaluation(self):
        """What 'fedpp evaluate' wrote: scores, calibration, state."""
        return read_json(self._written("evaluation.json", "fedpp evaluate"), "write it anew with 'fedpp evaluate'")

    @property
    def next_events(self):
        """{column: array over the sequences} of 'fedpp predict --next-events'."""
        return self._table("next_events.csv", "fedpp predict --next-events")

    @property
    def futures(self):
        """{column: array over the drawn events} of 'fedpp predict --futures'."""
        return self._table("futures.csv", "fedpp predict --futures")

    @property
    def futures_summary(self):
        """{column: array over the sequences} of 'fedpp predict --futures': how many events their futures have."""
        return self._table("futures_summary.csv", "fedpp predict --futures")

    def _results(self, key):
        """What only a finished run has."""
        if key not in self.result:
            path = self.directory / "result.json"
            raise UserError(f"{path}: holds no {key}, as 'fedpp train' writes there: {AGAIN}" if self.finished else
                            f"{path} is not there, so that the run has no {key} yet: it is going on, or it was stopped and 'fedpp train --resume' finishes it")
        return self.result[key]

    def _table(self, name, command):
        return read_table(self._written(name, command), f"write it anew with '{command}'")

    def _written(self, name, command):
        path = self.directory / name
        if not path.is_file():
            raise FileNotFoundError(f"{path} is not there: '{command}' writes it")
        return path

    def checkpoints(self):
        """Paths, oldest first."""
        return sorted(self.directory.glob("checkpoint-[0-9]*.h5"))
