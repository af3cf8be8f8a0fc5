"""fedpp compare on finished runs: which scores are of the same events, and which only seem to be."""
import unittest

from runs import PER_SEQUENCE, Run
from program import FEDPP


class Comparison(Run):
    def compare(self, *outs, code=0):
        result = self.start([FEDPP, "compare", *outs])
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def clients(self, out):
        return self.result(out)["scores"]["models"][0]["per_client"]

    def test_runs_of_one_cut_compare_and_of_another_with_as_many_events_do_not(self):
        self.deck(data__split_at="event", **PER_SEQUENCE)
        self.train(2, "a")
        self.train(1, "b", "--set", "federation.rounds=1")
        self.train(1, "halfway", "--set", "data.split_at=halfway", "--set", "federation.rounds=1")
        text = self.compare("a", "b")
        events = sum(client["events"] for client in self.clients("a"))
        sums = [sum(client["log_likelihood"] for client in self.clients(out)) for out in "ab"]
        for out, nats in zip("ab", sums):
            self.assertAlmostEqual(nats / events, self.result(out)["scores"]["models"][0]["headline"], places=12)
        self.assertIn(f"{(sums[1] - sums[0]) / events:+.4f}", text)
        row = next(line.split() for line in text.splitlines() if line.startswith("  federation.rounds "))
        self.assertEqual(row, ["federation.rounds", "4", "1"])

        self.assertEqual([c["events"] for c in self.clients("a")], [c["events"] for c in self.clients("halfway")])
        text = self.compare("a", "halfway", code=2)
        self.assertIn("not scored on the same test data", text)
        self.assertIn('data.split_at = "event" in a, "halfway" in halfway', text)

        self.assertEqual(self.start([FEDPP, "evaluate", "a", "--state", "last", "--set", "evaluation.samples=4"]).returncode, 0)
        text = self.compare("b", "a/evaluation.json")
        self.assertIn("evaluation.samples", text)
        row = next(line.split() for line in text.splitlines() if line.startswith("  a/evaluation.json "))
        self.assertEqual(row[-3:], ["4", "-", "-"])  # the round it scores; its file knows no rounds nor seconds


if __name__ == "__main__":
    unittest.main(verbosity=2)
