"""Words of the axes: units, names from the data, counts."""

import re

from .fonts import drawable

LONGEST_NAME = 24


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def unit_name(unit):
    """The unit of time with its powers raised: 10^4 s."""
    return re.sub(r"\^(-?\d+)", r"$^{\1}$", text(unit).replace("$", "")) or "file unit"


def name_label(name):
    """A name from the data as matplotlib shows it: as text, where "$" would begin a formula, and not too long for an axis."""
    name = " ".join(str(name).split())
    return drawable(name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME - 1] + "…").replace("$", r"\$")


def client_label(result, client):
    """A client's number, and its name where the run's data have one."""
    names = (result.get("names") or {}).get("clients") or []
    return f"{client} {name_label(names[client])}" if client < len(names) else str(client)


def type_label(result, kind):
    """A type of event by its name where the run's data have one, else by its number."""
    names = (result.get("names") or {}).get("types") or []
    return name_label(names[int(kind)]) if kind.isdigit() and int(kind) < len(names) else kind


def counted(count, noun):
    return f"{count} {noun}{'' if count == 1 else 's'}"


def bytes_text(value):
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return f"{value:.3g} {unit}"
        value /= 1000
