"""What long work says on a terminal while it goes on, and that its results hold none of it where they are read by programs.

Needs the environment of tests/federation/CMakeLists.txt.
"""
import os
import pty
import re
import subprocess
import unittest

from runs import Run
from program import FEDPP, MPIEXEC

PREDICT = ["--clients", "all", "--out", "curves.h5", "--next-events"]
RENEW = "\033[A\033[K"  # one line up, which is then empty


class ProgressOfScores(Run):
    def on_a_terminal(self, ranks, *arguments, output=subprocess.PIPE):
        """Standard output as a program reads it, and what a terminal sees: of standard error, and of both with output=None. 0 ranks: the arguments are
        the command."""
        ours, theirs = pty.openpty()
        try:
            process = subprocess.Popen(self.on_ranks(ranks, *arguments) if ranks else arguments, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=output or theirs, stderr=theirs)
        finally:
            os.close(theirs)
        seen = b""
        try:
            while part := os.read(ours, 4096):
                seen += part
        except OSError:  # the other end is closed
            pass
        os.close(ours)
        said = (process.communicate()[0] or b"").decode()
        self.assertEqual(process.returncode, 0, said + seen.decode())
        return said, seen.decode()

    def test_evaluate_and_predict(self):
        # One client a block of scores; 6 clients: 3 of them on each of two ranks.
        self.deck(evaluation__next_event=True, evaluation__trivial_models=True, backend__workspace_mb=1e-3)
        self.train(1, "out", "--set", "federation.rounds=1")
        plain = self.start(self.on_ranks(1, "evaluate", "out"))
        self.assertEqual((plain.returncode, plain.stderr), (0, ""))
        for ranks, clients in [(1, "6 clients"), (2, "3 clients of rank 0")]:
            output, seen = self.on_a_terminal(ranks, "evaluate", "out")
            self.assertEqual(output, plain.stdout)
            for what in ["scores", "scores of trivial models", "next events"]:
                said = re.findall(rf"(?:^|\n|\x1b\[K){what}: (\d+) of {clients}, (.*?) left\r\n", seen)
                self.assertEqual([done for done, _ in said], [str(k) for k in range(1, int(clients[0]))], seen)
                self.assertTrue(all(re.fullmatch(r"\d+ s", left) for _, left in said), seen)
            self.assertTrue(seen.endswith(f"{RENEW}\033[A\r\n"), "the line is taken away at the end")
            self.assertEqual(seen.count(RENEW), len(seen.split("\n")) - 1 - 3, "each pass but for its first line renews")
            output, seen = self.on_a_terminal(ranks, "predict", "out", *PREDICT)
            self.assertNotIn("left", output)
            for what in ["curves", "forecasts"]:
                self.assertIn(f"{RENEW}{what}: 2 of {clients}, ", seen)
        output, seen = self.on_a_terminal(2, "evaluate", "out", "--set", "output.progress=false")
        self.assertEqual(seen, "")

    def test_train_after_its_rounds(self):
        self.deck(backend__workspace_mb=1e-3)
        for ranks, clients in [(1, "6 clients"), (2, "3 clients of rank 0")]:
            _, seen = self.on_a_terminal(ranks, "train", "run.toml", "--out", f"out{ranks}", output=None)
            self.assertEqual(re.findall(r"round +(\d)/4 .*\r\n", seen), ["1", "2", "3", "4"], seen)
            self.assertEqual(re.findall(r"\x1b\[A\x1b\[Kround +(\d)/4 ", seen), ["2", "3", "4"], seen)
            after = seen[seen.index("round    4/4"):]
            for k in range(1, int(clients[0])):
                self.assertIn(f"scores: {k} of {clients}, ", after)
            self.assertNotRegex((self.folder / f"out{ranks}/train.log").read_text(), r"\d of \d clients")  # a short pass

    def test_a_pipe_below_mpirun_is_no_terminal(self):
        self.deck(backend__workspace_mb=1e-3)
        below = ["sh", "-c", f"{FEDPP} train run.toml --out out 2>&1 | cat"]
        _, seen = self.on_a_terminal(0, *[MPIEXEC, "-n", "1", *below], output=None)
        self.assertIn("round    4/4", seen)
        self.assertNotIn("\033[K", seen)

    def test_lost_output_is_a_failure(self):
        self.deck(federation__rounds=1)
        with open("/dev/full", "w") as full:
            onto_full = lambda *command: subprocess.run([FEDPP, *command], cwd=self.folder, stdout=full, stderr=subprocess.PIPE, text=True)
            lost = onto_full("train", "run.toml", "--out", "out")  # its lines are flushed one by one
            self.assertEqual((lost.returncode, lost.stderr), (1, "fedpp: error: cannot write to standard output\n"))
            self.assertTrue((self.folder / "out/result.json").exists())
            self.newest("out").write_bytes(b"no checkpoint")
            lost = onto_full("checkpoint", "verify", "out")  # a code that says more stays
            self.assertEqual((lost.returncode, lost.stderr), (2, "fedpp: error: cannot write to standard output\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
