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
    name = " ".join(text(name).split())
    if len(name) > LONGEST_NAME:  # many begin alike and differ at their ends
        half = (LONGEST_NAME - 1) // 2
        name = f"{name[:half]}…{name[half + 1 - LONGEST_NAME:]}"
    return drawable(name).replace("$", r"\$")


def client_label(result, client):
    """A client's number, and its name where the run's data have one."""
    names = (result.get("names") or {}).get("clients") or []
    return f"{client} {name_label(names[client])}" if client < len(names) else str(client)


def types_label(result, kinds):
    """Types of events by their names where the run's data have some, else by their numbers."""
    names = (result.get("names") or {}).get("types") or []
    if len(kinds) == len(names) > 1:
        return "all types"
    labels = [name_label(names[int(kind)]) if kind.isdigit() and int(kind) < len(names) else kind for kind in kinds]
    return f"type{'s' if len(labels) > 1 else ''} {', '.join(labels)}" if labels else ""


def counted(count, noun):
    return f"{count} {noun}{'' if count == 1 else 's'}"


def bytes_text(value):
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return f"{value:.3g} {unit}"
        value /= 1000
