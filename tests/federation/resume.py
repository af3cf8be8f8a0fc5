"""Stopped, killed and resumed runs end with the bits of one that was left alone."""
import json
import os
import pathlib
import signal
import shutil
import subprocess
import time
import unittest

from runs import HISTORY, PER_SEQUENCE, POOLED, SameBits

REQUEUE = 75  # stopped by a signal after a checkpoint


def kill_with_ranks(process):
    """The ranks first: without mpirun they would go on for a while and write into the folder."""
    for rank in pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
        os.kill(int(rank), signal.SIGKILL)
    process.kill()


class Resume(SameBits):
    def test_other_rounds_and_ranks(self):
        self.deck(federation__validate_every=3, aggregation__divergence="mmd", federation__rounds=7, **PER_SEQUENCE)
        self.train(2, "whole")
        self.train(2, "parts", "--set", "federation.rounds=2")  # validates round 2 as its last: seen in rounds, not in theta
        self.train(1, "parts", "--resume", "--set", "federation.rounds=5")
        self.train(4, "parts", "--resume")
        whole, parts = self.result("whole"), self.result("parts")
        self.assertEqual(whole["theta"], parts["theta"])
        self.assertEqual([r["elbo"] for r in whole["rounds"]], [r["elbo"] for r in parts["rounds"]])
        self.assertEqual(whole["rounds"][-1]["validation"], parts["rounds"][-1]["validation"])
        self.assertEqual(whole["rounds"][2]["validation"], parts["rounds"][2]["validation"])

    def test_history_encoder(self):
        self.deck(model__encoder="lstm", model__mean="linear", federation__validate_every=2, **HISTORY)
        self.train(2, "whole")
        self.train(2, "parts", "--set", "federation.rounds=2")
        self.train(1, "parts", "--resume")
        self.assertEqual(self.result("whole")["theta"], self.result("parts")["theta"])
        self.assertEqual(self.result("whole")["scores"]["models"], self.result("parts")["scores"]["models"])

    def test_communities_and_optimised_starts(self):
        self.deck(federation__rounds=7, aggregation__scope="structural-entropy", federation__client_start="optimised",
                  aggregation__keep_uploads=2, **PER_SEQUENCE)
        self.train(2, "whole")
        self.train(2, "parts", "--set", "federation.rounds=3")
        self.train(1, "parts", "--resume", "--set", "federation.rounds=5")
        self.train(4, "parts", "--resume")
        self.assert_same("whole", "parts")
        for state in ["best", "last"]:  # every client with its own prior, read back
            for out in ["whole", "parts"]:
                self.assertEqual(self.start(self.on_ranks(2, "evaluate", out, "--state", state)).returncode, 0)
            one, other = (json.loads((self.folder / out / "evaluation.json").read_text()) for out in ["whole", "parts"])
            self.assertEqual(one["scores"], other["scores"])
            if state == "best":
                self.assertEqual(one["scores"], self.result("whole")["scores"])

    def test_alignment(self):
        self.deck(training__alignment=1, federation__rounds=5, aggregation__scope="structural-entropy", **PER_SEQUENCE)
        self.train(2, "whole")
        self.train(2, "parts", "--set", "federation.rounds=2")
        self.train(1, "parts", "--resume", "--set", "federation.rounds=4")
        self.train(4, "parts", "--resume")
        self.assert_same("whole", "parts")

    def test_strategies_that_weigh_models(self):
        self.deck(federation__rounds=5, federation__mode="fedala", aggregation__divergence="fedavg", **PER_SEQUENCE)
        self.train(2, "whole")
        self.train(2, "parts", "--set", "federation.rounds=2")
        self.train(1, "parts", "--resume", "--set", "federation.rounds=3")
        self.train(4, "parts", "--resume")
        self.assert_same("whole", "parts")

    def test_a_strategy_that_looks_at_the_last_round(self):
        """More rounds would be another course: apple's penalty falls over a tenth of them."""
        self.deck(federation__rounds=5, federation__mode="apple", aggregation__divergence="fedavg", **PER_SEQUENCE)
        self.train(2, "whole")
        for ranks, left in [(1, 3), (4, 4)]:
            parts = f"parts{ranks}"
            shutil.copytree(self.folder / "whole", self.folder / parts)
            for round in range(left + 1, 6):
                (self.folder / parts / f"checkpoint-{round:06d}.h5").unlink()
            self.train(ranks, parts, "--resume")
            self.assert_same("whole", parts)
        result = self.train(1, "whole", "--resume", "--set", "federation.rounds=60", code=2)
        self.assertIn("federation.rounds = 60 (checkpoint: 5)", result.stderr)

    def stopped_in_the_middle(self, ranks, out, stop):
        """Starts a training of many rounds, waits for its second checkpoint, calls stop(process)."""
        with open(self.folder / "log", "w") as log:
            process = subprocess.Popen(self.on_ranks(ranks, "train", "run.toml", "--out", out), cwd=self.folder, stdout=log,
                                       stderr=log, start_new_session=True)
            deadline = time.time() + 120
            while time.time() < deadline and process.poll() is None:
                if (self.folder / out).is_dir() and len(self.checkpoints(out)) >= 2:
                    break
                time.sleep(0.01)
            self.assertIsNone(process.poll(), "the run ended before it could be stopped:\n" + (self.folder / "log").read_text())
            stop(process)
            process.wait(timeout=120)
        self.assertFalse((self.folder / out / "result.json").exists(), "the run ended before it could be stopped")
        return process.returncode

    def test_killed(self):
        self.deck(federation__rounds=60, federation__validate_every=4, output__checkpoint_every=3, **PER_SEQUENCE)
        self.train(2, "whole")
        self.assertNotEqual(self.stopped_in_the_middle(2, "parts", kill_with_ranks), 0)
        self.train(4, "parts", "--resume")
        self.assert_same("whole", "parts")

    def test_signal_writes_a_checkpoint_and_asks_for_requeueing(self):
        self.deck(federation__rounds=60, output__checkpoint_every=7, federation__straggling_period=3, **POOLED)
        self.train(2, "whole")
        code = self.stopped_in_the_middle(2, "parts", lambda process: process.send_signal(signal.SIGUSR1))
        self.assertEqual(code, REQUEUE, (self.folder / "log").read_text())
        self.assertIn("--resume", (self.folder / "log").read_text())
        self.train(1, "parts", "--resume")
        self.assert_same("whole", "parts")

    def test_best_round_and_patience_survive(self):
        self.deck(federation__rounds=12, federation__patience=1, training__learning_rate=1.0, **PER_SEQUENCE)
        self.train(1, "whole")
        self.assertLess(len(self.result("whole")["rounds"]), 12, "patience ended nothing: the test tests nothing")
        done = len(self.result("whole")["rounds"])
        self.assertIn(f"stopped after round {done} of 12: federation.patience = 1 ", (self.folder / "whole/train.log").read_text())
        self.train(1, "parts", "--set", f"federation.rounds={done - 1}")
        self.train(2, "parts", "--resume")
        self.assert_same("whole", "parts")
        # After the best round's scores the last round's are of its own states.
        self.assertEqual(self.start(self.on_ranks(1, "evaluate", "whole", "--state", "last")).returncode, 0)
        last = json.loads((self.folder / "whole/evaluation.json").read_text())["scores"]["models"][0]
        self.assertEqual({key: last[key] for key in ["headline", "plug_in"]}, self.result("whole")["last_round"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
