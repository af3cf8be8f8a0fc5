#!/usr/bin/env python3
"""gather.py OUT - the runs of a sweep (OUT/grid.txt, OUT/001, OUT/002, ...) as one table, OUT/table.csv, and on the terminal.

A column for every key that the grid sets, then the state, rounds, best round, validation and test scores (nats per event), how far above the best
simple model, and seconds. Runs that have not finished have their state and no scores, and so has a run whose result.json is of "other settings" than
its line's. Needs Python alone.
"""

import csv
import json
import math
import os
import pathlib
import sys


def read_json(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def records(folder):
    lines = []
    for line in (folder / "status.jsonl").read_text(encoding="utf-8", errors="replace").splitlines() if (folder / "status.jsonl").is_file() else []:
        try:
            lines.append(json.loads(line))
        except ValueError:
            pass
    return [line for line in lines if isinstance(line, dict)]


def same(value, setting):
    """Whether a key's value in result.json is what the text after --set KEY= means."""
    if isinstance(value, list):
        items = [item.strip() for item in setting.strip("[]").split(",") if item.strip()]
        return len(items) == len(value) and all(map(same, value, items))
    if isinstance(value, bool):
        return setting == str(value).lower()
    if isinstance(value, (int, float)):
        try:
            return float(setting.replace("_", "")) == value
        except ValueError:
            return False
    wanted = setting.strip("\"'")
    return value == wanted or os.path.isabs(str(value)) and value == os.path.abspath(wanted)


def of_other_settings(config, settings):
    def differs(name, setting):
        section, _, key = name.partition(".")
        known = config.get(section, {})
        return key in known and not same(known[key], setting)
    return any(differs(name, setting) for name, setting in settings.items())


def row_of(folder, line):
    settings = dict(setting.partition("=")[::2] for setting in line.split())
    row = dict(settings)
    said = records(folder)
    result = read_json(folder / "result.json")
    if result is not None and of_other_settings(result.get("config", {}), settings):
        row["state"] = "other settings"
        return row
    if result is None:
        row["state"] = "not started" if not said else {"stopped": "stopped"}.get(said[-1].get("event"), "not finished")
        row["rounds"] = max((r.get("round", 0) for r in said), default=0)
        return row
    rounds = result["rounds"]
    validations = [r["validation"] for r in rounds if r.get("validation") is not None]
    models = result["scores"]["models"]
    rivals = [m["headline"] for m in models[1:] if m["headline"] is not None]
    row.update(state="finished", rounds=len(rounds), best_round=result["best_round"], validation=max(validations, default=math.nan),
               test=models[0]["headline"], above_best_simple=models[0]["headline"] - max(rivals) if rivals else math.nan,
               seconds=sum(r["seconds"] for r in rounds), starts=sum(r.get("event") == "start" for r in said))
    return row


def main():
    if len(sys.argv) != 2 or not (pathlib.Path(sys.argv[1]) / "grid.txt").is_file():
        print("usage: gather.py OUT, the folder that sweep.sh made", file=sys.stderr)
        return 2
    sys.stdout.reconfigure(errors="backslashreplace")  # the grid may have words that the terminal's locale lacks
    out = pathlib.Path(sys.argv[1])
    rows = []
    for k, line in enumerate((out / "grid.txt").read_text(encoding="utf-8").splitlines(), start=1):
        rows.append({"run": f"{k:03d}", **row_of(out / f"{k:03d}", line)})
    last = ["state", "rounds", "best_round", "validation", "test", "above_best_simple", "seconds", "starts"]
    columns = list(dict.fromkeys(c for row in rows for c in row if c not in last)) + last
    shown = [[f"{row[c]:.6g}" if isinstance(row.get(c), float) else str(row.get(c, "")) for c in columns] for row in rows]
    with open(out / "table.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([columns] + shown)
    widths = [max(len(cells[i]) for cells in [columns] + shown) for i in range(len(columns))]
    for cells in [columns] + shown:
        print("  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip())
    finished = sum(row["state"] == "finished" for row in rows)
    print(f"{finished} of {len(rows)} finished; {out}/table.csv")
    return 0 if finished == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
