#!/usr/bin/env python3
"""gather.py OUT - the runs of a sweep (OUT/grid.txt, OUT/001, OUT/002, ...) as one table, OUT/table.csv, and on the terminal.

A column for every key that the grid sets, then the state, rounds, best round, validation and test scores (nats per event), how far above the best
simple model, and seconds. Runs that have not finished have their state and no scores. Needs Python alone.
"""

import csv
import json
import math
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


def row_of(folder, line):
    row = dict(setting.partition("=")[::2] for setting in line.split())
    said = records(folder)
    result = read_json(folder / "result.json")
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
