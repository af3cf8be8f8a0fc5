"""fedpp report DIR: one HTML page about a run, with its figures inside, that opens without a network.

    python3 -m fedpp.report DIR [--out FILE]

For a run that is not finished the page shows what its rounds have said so far.
"""

import argparse
import base64
import datetime
import html
import io
import json
import pathlib
import re
import sys

from . import files
from .captions import caption, title
from .errors import UserError
from .scores import clients_above, headline_without, hostile_clients

SUFFIXES = (".html", ".htm")
ELSEWHERE = "name another page with --out"
TITLE = "<title>fedpp run "
MARK = TITLE.encode()  # of a page that may be replaced
LARGEST_SVG = 600_000  # bytes; above it (thousands of events as ticks) the figure goes in as PNG

STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif; color: #1c2733; background: #fff; margin: 0 auto; max-width: 62rem; padding: 1.5rem; }
h1 { font-size: 1.7rem; margin: 0 0 .2rem; } h2 { font-size: 1.2rem; margin: 2.2rem 0 .4rem; border-top: 1px solid #dde3e9; padding-top: 1.2rem; }
p { margin: .4rem 0 .8rem; } .lead { color: #4a5a6a; } .note { background: #fff6e0; border-left: 4px solid #d9a400; padding: .5rem .8rem; }
table { border-collapse: collapse; margin: .6rem 0 1rem; } th, td { text-align: left; padding: .28rem .9rem .28rem 0; border-bottom: 1px solid #e7ecf0; vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; } tr.ours td { font-weight: 600; color: #0b5fa5; }
figure { margin: .8rem 0; overflow-x: auto; } figure svg, figure img { max-width: 100%; height: auto; display: block; }
code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .88em; overflow-wrap: anywhere; } summary { cursor: pointer; color: #0b5fa5; }
"""

def escape(value):
    return html.escape(str(value))


def table(rows, head=None, numbers=(), ours=None):
    lines = ["<table>"]
    if head:
        lines.append("<tr>" + "".join(f'<th{" class=n" if i in numbers else ""}>{escape(h)}</th>' for i, h in enumerate(head)) + "</tr>")
    for k, row in enumerate(rows):
        cells = "".join(f'<td{" class=n" if i in numbers else ""}>{escape(c)}</td>' for i, c in enumerate(row))
        lines.append(f'<tr{" class=ours" if k == ours else ""}>{cells}</tr>')
    return "\n".join(lines + ["</table>"])


def image(figure, name):
    """The figure as inline SVG, or as PNG in the page where that is smaller by far."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    svg = buffer.getvalue().decode()
    if len(svg) <= LARGEST_SVG:
        svg = svg[svg.index("<svg"):]
        # Identifiers are shared by all figures of a page.
        svg = re.sub(r'(\bid="|url\(#|xlink:href="#|href="#)', lambda m: m.group(1) + name + "-", svg)
        return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(title(name))}" ', 1)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=150)
    return f'<img alt="{escape(title(name))}" src="data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}">'


def value(x, digits=4):
    return "–" if x is None else f"{x:.{digits}f}"


def attack(result):
    """A banner where clients were hostile on purpose."""
    hostile = hostile_clients(result)
    if not hostile:
        return ""
    kind = result["config"]["attack"]["kind"]
    return (f'<p class="note">This run simulates an attack (<code>attack.kind = "{escape(kind)}"</code>): of {escape(str(result["config"]["data"]["clients"]))} clients '
            f'{"these are" if len(hostile) > 1 else "this one is"} hostile: {escape(", ".join(map(str, hostile)))}. What counts are the scores of the honest clients; '
            "the best round was chosen by theirs. An upload of a hostile client that is left out is the defence at work, not a setting to change.</p>")


def headline(result):
    """The tables of scores: one a protocol. In an attack the honest clients have a column of their own, which counts."""
    scores = result.get("scores") or []
    hostile = hostile_clients(result)
    counted = lambda model: headline_without(model, hostile) if hostile else model["headline"]
    parts = []
    for scored in scores if isinstance(scores, list) else [scores]:
        models = scored.get("models") or []
        if not models:
            continue
        above = lambda m: "" if m is models[0] else "{} of {}".format(*clients_above(models[0], [m], hostile))
        rows = [(m["name"], *([value(counted(m))] if hostile else []), value(m["headline"]), value(m.get("plug_in")), above(m)) for m in models]
        columns = ("model", "honest clients", "headline, all clients", "plug-in, all clients", "honest clients ours is above") if hostile else \
                  ("model", "headline", "plug-in", "clients ours is above")
        parts.append(f"<p>Protocol <b>{escape(scored.get('protocol', '?'))}</b>, {scored.get('events', 0):,.0f} test events, nats per test event with time in "
                     f"{escape(scored.get('unit', 'file unit'))}. Higher is better; scores compare within this table only, as they shift with the unit of time.</p>"
                     + table(rows, columns, numbers=range(1, len(columns)), ours=0))
        verdict = (result.get("honest") if hostile else scored).get("verdict")
        if verdict:
            parts.append(f"<p>{escape(verdict['text'])}{' These are the honest clients.' if hostile else ''}</p>")
    return "\n".join(parts)


def forecast_errors(result):
    """RMSE and MAE of the time of the next event, ours and the simple predictors'; None where the run has none."""
    scored = result.get("next_event")
    if not scored:
        return None
    validation, test = scored["validation"], scored["test"]
    digits = lambda x: "–" if x is None else f"{x:.6g}"
    rows = [(a["name"], *(digits(x) for x in (a["rmse"], a["mae"], b["rmse"], b["mae"]))) for a, b in zip(validation["predictors"], test["predictors"])]
    cut = (" Only gaps that were observed whole are scored. Where windows are not much longer than gaps, long ones are missing, and even the true expectation is too long "
           "for those that are left." if scored.get("cut") else "")
    return (f"<p>One step ahead over {validation['events']:,.0f} validation and {test['events']:,.0f} test events, unit of time: {escape(scored['unit'])}. Lower is better; "
            f"the median is made for the absolute error, the expectation for the squared one.{cut}</p>"
            + table(rows, ("predictor", "RMSE, validation", "MAE, validation", "RMSE, test", "MAE, test"), numbers=range(1, 5)))


def configuration_rows(config):
    """Section.key and value of every key."""
    return [(f"{section}.{key}", json.dumps(v)) for section, keys in config.items() for key, v in keys.items()]


def page(run, figures):
    result, records = run.result, run.records
    starts = [r for r in records if r.get("event") == "start"]
    ends = [r for r in records if r.get("event") in ("finished", "stopped")]
    rounds = result.get("rounds") or []
    total = starts[-1].get("rounds") if starts else len(rounds)
    facts = [("program", f"fedpp {result.get('version', starts[-1].get('version', '?') if starts else '?')} ({result.get('git', starts[-1].get('git', '?') if starts else '?')})"),
             ("rounds", f"{len(rounds)} of {total}" + (f", best by validation: {result['best_round']}" if result.get("best_round") else ""))]
    config = result.get("config") or {}
    if config:
        facts += [("clients", f"{config['data']['clients']}, of which {config['federation']['participants'] or 'all'} take part in a round"),
                  ("model", f"{config['model']['encoder']}, {config['model']['inducing']} inducing points, {config['data']['protocol']}, {config['data']['realisation']}"),
                  ("aggregation", config["aggregation"]["divergence"] if config["federation"]["mode"] != "local"
                   else f"none: fitted under theta of {result['prior_from']}" if result.get("prior_from") else "none: every client alone")]
    if "ranks" in result:
        facts.append(("machine", f"{result['ranks']} rank{'s' if result['ranks'] != 1 else ''}, {result['backend']}" + (f"; {starts[-1]['where']}" if starts else "")))
    if starts:
        facts.append(("time", f"started {starts[0].get('time', '?')}" + (f", {len(starts)} times" if len(starts) > 1 else "") + (f"; ended {ends[-1]['time']}" if ends else "")))
    seconds = [r["seconds"] for r in rounds if isinstance(r.get("seconds"), (int, float))]
    if seconds:
        facts.append(("a round", f"{sorted(seconds)[len(seconds) // 2]:.3g} s (median)"))
    left_out = [text for r in rounds for text in (r["left_out"] if isinstance(r.get("left_out"), list) else [])]
    together = ("New clients have been fitted, each by itself, under the prior of another run" if result.get("prior_from")
                else "Clients have trained models of their event rates, each by itself" if config and config["federation"]["mode"] == "local"
                else "A federation of clients has trained a model of their event rates together")
    name = escape(run.directory.resolve().name)
    parts = [f"<h1>Run {name}</h1>",
             f'<p class="lead">{together}; its rounds exchanged no event times. '
             f"Written {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC by <code>fedpp report</code>.</p>"]
    if not run.finished:
        parts.append('<p class="note">This run has no results yet: it is going on, or it was stopped. What its rounds have said so far follows.</p>')
    parts.append(attack(result))
    if left_out:
        parts.append(f'<p class="note">{len(left_out)} upload{" was" if len(left_out) == 1 else "s were"} left out. The first: {escape(left_out[0])}</p>')
    parts.append(table(facts))
    scores = headline(result)
    if scores:
        parts += ["<h2>Scores</h2>", scores]
    absent = []
    errors = forecast_errors(result)
    if errors:
        parts += ["<h2>Errors of the next event's time</h2>", errors]
    else:
        absent.append("errors of the next event's time (evaluation.next_event = true writes them, under data.protocol = \"chronological\")")
    for key, draw in figures:
        try:
            drawn, meaning = draw()
        except LookupError as missing:
            absent.append(f"{title(key).lower()} ({missing.args[0]})")
            continue
        parts.append(f"<h2>{title(key)}</h2><p>{escape(meaning)}</p><figure>{drawn}</figure>")
    if absent:
        parts.append(f'<p class="lead">Not shown: {escape("; ".join(absent))}.</p>')
    if config:
        parts.append("<h2>Configuration</h2><details><summary>Every key</summary>" + table(configuration_rows(config), ("key", "value")) + "</details>"
                     "<p>To run it again: <code>fedpp train config.toml --out ANOTHER_FOLDER</code> with the <code>config.toml</code> beside the results.</p>")
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
            f"{TITLE}{name}</title><style>{STYLE}</style></head><body>\n" + "\n".join(parts) + "\n</body></html>\n")


def refuse(text):
    print(f"fedpp report: {text}", file=sys.stderr)
    sys.exit(2)


def main():
    parser = argparse.ArgumentParser(prog="fedpp report", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", metavar="DIR", type=pathlib.Path, help="folder that 'fedpp train' writes to")
    parser.add_argument("--out", metavar="FILE", type=pathlib.Path, help="the page (.html; default: DIR/report.html)")
    arguments = parser.parse_args()
    try:
        import matplotlib

        from . import figures
        from .results import AGAIN, Run, open_arrays
    except ImportError as missing:
        refuse(f"{missing}. On Debian and Ubuntu: apt-get install python3-matplotlib python3-h5py; FEDPP_PYTHON names another Python")
    matplotlib.use("Agg")  # no display
    if sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")  # the folder's name may be any bytes
    try:
        run = Run(arguments.directory)
    except (OSError, UserError) as error:
        refuse(error)
    if not run.finished and not run.records:
        refuse(f"{arguments.directory} holds neither result.json nor status.jsonl: name a folder that 'fedpp train' writes to")
    target = arguments.out or arguments.directory / "report.html"
    try:
        files.check_writable(target, SUFFIXES, ELSEWHERE, MARK)
    except UserError as error:
        refuse(error)
    arrays = arguments.directory / "result.h5"
    try:
        h5 = open_arrays(arrays, AGAIN) if run.finished and arrays.is_file() else None
    except UserError as error:
        refuse(error)

    def draw(key):
        """The figure as markup, and how to read it."""
        try:
            figure = figures.next_events(run.result, run.next_events) if key == "next_events" else figures.ALL[key](run.result, h5)
        except (figures.Missing, FileNotFoundError) as missing:
            raise LookupError(str(missing)) from None
        drawn = image(figure, key)
        figures.close(figure)
        return drawn, caption(key, run.result, h5)

    try:
        text = page(run, [(key, lambda key=key: draw(key)) for key in [*figures.ALL, "next_events"]])
    except UserError as error:
        refuse(error)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        refuse(f"{arguments.directory}: its results are not what 'fedpp train' and 'fedpp predict' write ({type(error).__name__}: {error})")
    try:
        files.write(target, text.encode("utf-8", "surrogateescape"), SUFFIXES, ELSEWHERE, MARK)  # the folder's name may be any bytes
    except UserError as error:
        refuse(error)
    print(f"Report: {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
