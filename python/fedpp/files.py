"""Files that are there whole or not at all, and take no other kind's place: the rules of src/federation/result_file.cpp and io/atomic_file.cpp."""

import errno
import itertools
import os
import pathlib
import stat

from .errors import UserError

REMEDIES = {errno.ENOENT: "make its folder first", errno.ENOSPC: "free some space", errno.EDQUOT: "delete files of yours, or have the quota raised"}


def fail(path, error, instead):
    remedy = REMEDIES.get(error.errno)
    raise UserError(f"{path}: cannot be written ({error.strerror or error}): {f'{remedy}, or ' if remedy else ''}{instead}") from None


def open_beside(path):
    """A new file in the same folder, named and closed to others as io/partial_file.hpp says, and its descriptor. It is never one that is there already."""
    try:
        before = path.lstat().st_mode
    except OSError:
        before = 0
    mode = before & 0o777 | 0o600 if stat.S_ISREG(before) else 0o666
    for number in itertools.count(os.getpid()):
        beside = path.with_name(f"{path.name}.{number}.partial")
        try:
            return beside, os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        except FileExistsError:
            continue


def check_writable(path, suffixes, instead, mark=b""):
    """Refuses, before work is done in vain, what `write` cannot write, and what it must not replace. None of what training keeps (config.toml, result.json,
    result.h5, status.jsonl, train.log, checkpoints) has a suffix of a page or a figure, so that the suffix protects these with all other data.
    `instead`: what the user can do where there is no room or no right to write. `mark`: what a file that may be replaced has near its beginning, unless it is
    empty."""
    path = pathlib.Path(path)
    if path.suffix.lower() not in suffixes:
        raise UserError(f"{path}: the name must end in {' or '.join(suffixes)}, the kind of file that is written there")
    try:
        kind = path.lstat().st_mode
    except OSError:
        kind = None
    if kind is not None and not stat.S_ISREG(kind):
        what = "a folder" if stat.S_ISDIR(kind) else "a symbolic link" if stat.S_ISLNK(kind) else "a device, pipe or socket"
        raise UserError(f"{path}: cannot be written (it is {what}, which would be replaced): rename it, or {instead}")
    try:
        if mark and kind is not None:
            with open(path, "rb") as file:
                begin = file.read(4096)
            if begin and mark not in begin:
                raise UserError(f"{path}: fedpp did not write it, and it would be replaced: delete it, or {instead}")
        beside, descriptor = open_beside(path)
        os.close(descriptor)
        beside.unlink()
    except OSError as error:
        fail(path, error, instead)


def write(path, content, suffixes, instead, mark=b""):
    """Replaces `path` by a file with these bytes: written beside, flushed to disk, renamed. Where that fails the old file stays, and nothing beside it."""
    path = pathlib.Path(path)
    check_writable(path, suffixes, instead, mark)
    beside = None
    try:
        beside, descriptor = open_beside(path)
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        os.replace(beside, path)
    except BaseException as error:
        if beside is not None:
            beside.unlink(missing_ok=True)
        if isinstance(error, OSError):
            fail(path, error, instead)
        raise
