"""Many clients, and threads within a rank."""
import os
import subprocess
import unittest

from runs import Run, SameBits, data_set, settings
from program import FEDPP


class ManyClients(Run):
    def bytes_of_last_round(self, out):
        return self.result(out)["rounds"][-1]["bytes_rank_0"]

    def test_200_clients_on_8_ranks(self):
        self.write("train.csv", data_set(200, fewest=16, most=18))
        self.write("run.toml", settings(data__clients=200, data__types_per_client=4, federation__rounds=2, federation__participants=20, training__samples=1,
                                        model__inducing=4, model__width=3, evaluation__samples=1, training__epochs=1))
        self.train(8, "many")
        self.assertEqual(len(self.result("many")["scores"]["models"][0]["per_client"]), 200)
        self.assertEqual([len(set(r["participants"])) for r in self.result("many")["rounds"]], [20, 20])
        self.train(8, "few", "--set", "data.clients=16", "--set", "federation.participants=16")
        self.train(8, "more_participants", "--set", "federation.participants=160")
        self.assertEqual(self.bytes_of_last_round("many"), self.bytes_of_last_round("few"))
        self.assertEqual(self.bytes_of_last_round("many"), self.bytes_of_last_round("more_participants"))
        self.assertGreater(self.bytes_of_last_round("many"), 0)


class Threads(SameBits):
    """One process that is given two cores at most; backends without threads have nothing to say."""

    def said(self, threads, cores, **environment):
        self.deck(federation__rounds=1)
        result = subprocess.run([FEDPP, "train", "run.toml", "--out", "out", "--auto-resume"], cwd=self.folder, text=True, capture_output=True,
                                env={**os.environ, "OMP_NUM_THREADS": str(threads), **environment}, preexec_fn=lambda: os.sched_setaffinity(0, cores))
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_more_than_cores_are_said(self):
        allowed = sorted(os.sched_getaffinity(0))
        said = self.said(3, allowed[:1])
        crowded = f"1 of 1 ranks with more threads than cores, which then wait for each other (rank 0: 3 threads, cores {allowed[0]})"
        self.assertEqual(crowded in said, "3 threads" in self.result("out")["backend"], said)
        self.assertEqual("OMP_NUM_THREADS = 3, but a rank of this build computes with one thread" in said, "1 thread" in self.result("out")["backend"], said)
        if len(allowed) > 1:  # bound, the main thread has one core, and the process two
            self.assertNotIn("more threads than cores", self.said(2, allowed[:2], OMP_PROC_BIND="spread", OMP_PLACES="threads"))

    def test_ranks_that_share_a_core_are_said(self):
        self.deck(federation__rounds=1, federation__participants=1)
        core = sorted(os.sched_getaffinity(0))[0]
        for ranks in (1, 2):
            result = subprocess.run(self.on_ranks(ranks, "train", "run.toml", "--out", f"out{ranks}"), cwd=self.folder, text=True, capture_output=True,
                                    env={**os.environ, "OMP_NUM_THREADS": "1"}, preexec_fn=lambda: os.sched_setaffinity(0, [core]))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(f"2 ranks with 2 threads on 1 core ({core}), where they wait for each other" in result.stdout, ranks == 2, result.stdout)
            self.assertEqual("2 ranks, but 1 participant a round: at most one rank works at a time" in result.stdout, ranks == 2, result.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
