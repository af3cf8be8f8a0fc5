"""Runs of fedpp as NumPy arrays, and figures of them.

    import fedpp
    run = fedpp.Run("out")                    # a folder that 'fedpp train' wrote
    run.rounds["validation"]                  # one array a column of result.json's rounds
    run.curves(0)["median"]                   # posterior intensity of client 0
    state = fedpp.Checkpoint(run.checkpoints()[-1])
    state.theta.mean, state.client(3).weights.sd
    fedpp.figures.convergence(run.result, None).savefig("convergence.png")

What is not there or damaged raises fedpp.UserError, FileNotFoundError or LookupError, whose text names the file and the remedy.
Runs and checkpoints need NumPy and h5py, figures and the report (python3 -m fedpp.report DIR) Matplotlib.
"""

from .checkpoints import Checkpoint, Gaussian
from .errors import UserError
from .results import Run

__version__ = "0.1.0"  # pyproject.toml takes it from here; the program's is in CMakeLists.txt

__all__ = ["Run", "Checkpoint", "Gaussian", "UserError", "figures", "report"]


def __getattr__(name):
    # Matplotlib is loaded where it is used only.
    if name in ("figures", "report"):
        import importlib

        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'fedpp' has no attribute '{name}'")
