"""The program from outside, for the tests in Python: a folder of one's own, and how to start the executable there.

Needs FEDPP_EXECUTABLE in the environment, and FEDPP_MPIEXEC for several ranks (tests/CMakeLists.txt).
"""
import os
import pathlib
import subprocess
import tempfile
import unittest

FEDPP = os.environ["FEDPP_EXECUTABLE"]
MPIEXEC = os.environ.get("FEDPP_MPIEXEC") or "mpirun"


class Case(unittest.TestCase):
    """A folder of its own as current folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def start(self, command, env=None):
        return subprocess.run(list(map(str, command)), cwd=self.folder, env={**os.environ, **(env or {})}, capture_output=True,
                              text=True, timeout=400)

    @staticmethod
    def on_ranks(ranks, *arguments):
        """The command that starts the program under mpirun."""
        return [MPIEXEC, "-n", str(ranks), FEDPP, *map(str, arguments)]
