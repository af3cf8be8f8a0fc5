#!/usr/bin/python3
"""Figures of a run: reads DIR/result.json and DIR/result.h5, writes PNG files into DIR.

  convergence.png     evidence lower bound and validation score over the rounds
  intensities.png     posterior intensities with 5/50/95 % bands, with a histogram and the events as ticks where the run has them
  scores.png          each client's test score against the trivial models
  calibration.png     rescaled test increments against Exp(1): quantiles and probabilities
  phases.png          where the time went
  communication.png   what left the ranks
  communities.png     which clients learn from each other, over the rounds
  graph.png           how similar the server finds the clients, and their communities after the last round
  starts.png          lambda of the clients' starts, over the rounds
  gains.png           each client's test score less that in another run on the same test data (--before)
  prediction.png      intensities of the clients that 'fedpp predict' was asked for (--prediction)
  next_events.png     when sequences go on, by 'fedpp predict --next-events' (--prediction)

A figure whose data are missing is skipped, and that is said. 'fedpp report DIR' puts all of them into one page.
Needs Python 3, NumPy, Matplotlib and h5py (Debian: python3-matplotlib python3-h5py).
"""

import argparse
import io
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
try:
    import h5py
    import matplotlib
    from fedpp import figures, files
    from fedpp.errors import UserError
    from fedpp.results import AGAIN, Run, read_json
except ImportError as missing:
    print(f"plot.py: {missing}. On Debian and Ubuntu: apt-get install python3-matplotlib python3-h5py, then run it with /usr/bin/python3.", file=sys.stderr)
    sys.exit(2)


def refuse(what):
    """One line, exit code 2."""
    print(f"plot.py: {what}", file=sys.stderr)
    sys.exit(2)


def say(what):
    """A line, at once. Where nobody reads any more ('plot.py DIR | head -1') the figures go on."""
    try:
        print(f"plot.py: {what}", flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def table_of_next_events(directory):
    try:
        return Run(directory).next_events
    except FileNotFoundError as missing:
        raise figures.Missing(str(missing)) from None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", metavar="DIR", type=pathlib.Path, help="output directory of a run")
    parser.add_argument("--dpi", type=int, default=130, help="resolution of the PNG files (default: 130)")
    parser.add_argument("--before", metavar="DIR", type=pathlib.Path, help="another run, for gains.png")
    parser.add_argument("--prediction", action="store_true", help="draw what 'fedpp predict DIR' wrote instead: prediction.png, next_events.png")
    arguments = parser.parse_args()
    matplotlib.use("Agg")  # no display
    if sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")  # the folder's name may be any bytes
    drawn = dict(figures.ALL)
    if arguments.prediction:
        drawn = {"prediction": figures.intensities, "next_events": lambda result, _: figures.next_events(result, table_of_next_events(arguments.directory))}
    if arguments.before is not None:
        try:
            before = read_json(arguments.before / "result.json", "name the folder of a finished run")
        except UserError as error:
            refuse(f"--before {error}")
        drawn["gains"] = lambda result, _: figures.gains(result, before, arguments.before.resolve().name)
    source = arguments.directory / "result.json"
    if not source.is_file():
        refuse(f"{source} does not exist: give the output directory of a finished 'fedpp train'; 'fedpp report {arguments.directory}' draws a run that is going on or was stopped")
    try:
        result = read_json(source, AGAIN)
    except UserError as error:
        refuse(error)
    arrays = arguments.directory / ("prediction.h5" if arguments.prediction else "result.h5")
    writer = "fedpp predict" if arguments.prediction else "fedpp train --resume"
    damaged = f"{arrays}: not readable as fedpp's HDF5 file: write it anew with '{writer}', or delete it for the other figures"
    try:
        h5 = h5py.File(arrays, "r") if arrays.is_file() else None
    except OSError as error:
        refuse(f"{damaged} ({error})")
    written = 0
    for name, draw in drawn.items():
        target = arguments.directory / f"{name}.png"
        try:
            figure = draw(result, h5)
        except figures.Missing as missing:
            say(f"{target.name} skipped: {missing}.")
            continue
        except UserError as error:
            refuse(error)
        except (AttributeError, IndexError, KeyError, OSError, RuntimeError, TypeError, ValueError) as error:
            # Figures of the curves read from result.h5 alone; scores and convergence from result.json.
            if name in ("intensities", "calibration", "prediction"):
                refuse(f"{damaged} ({type(error).__name__}: {error})")
            refuse(f"{source}: not what 'fedpp train' writes ({type(error).__name__}: {error}): {AGAIN}")
        try:
            picture = io.BytesIO()
            figure.savefig(picture, format="png", dpi=arguments.dpi)
            files.write(target, picture.getvalue(), (".png",), "copy result.json and result.h5 to a folder that is writable, and has room")
        except UserError as error:
            refuse(error)
        figures.close(figure)
        say(f"wrote {target}")
        written += 1
    return 0 if written else 1


if __name__ == "__main__":
    sys.exit(main())
