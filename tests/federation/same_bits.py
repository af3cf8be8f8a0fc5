"""The same bits on any number of ranks, for everything that computes differently. FEDPP_TEST_RANKS has other numbers of ranks."""
import os
import unittest

import h5py
import numpy as np

from runs import HISTORY, PER_SEQUENCE, POOLED, Run, SameBits

# Numbers of ranks that must give the same bits; the last leaves ranks without a client.
RANKS = [int(ranks) for ranks in os.environ.get("FEDPP_TEST_RANKS", "1 2 4 8").split()]


class RanksBase(SameBits):
    def same_for_all_ranks(self, **changes):
        self.deck(**changes)
        for ranks in RANKS:
            self.train(ranks, f"ranks{ranks}")
            self.assertEqual(self.result(f"ranks{ranks}")["ranks"], ranks)
        for ranks in RANKS[1:]:
            self.assert_same("ranks1", f"ranks{ranks}")
        rounds = self.result("ranks1")["rounds"]
        self.assertEqual(len(rounds), 4)
        # The comparison means something: the rounds moved theta, and every number is there.
        self.assertNotEqual(rounds[0]["elbo"], rounds[-1]["elbo"])
        self.assertNotEqual(rounds[0]["elbo_gain"], rounds[-1]["elbo_gain"])
        self.assertTrue(all(r["validation"] is not None and not r["left_out"] for r in rounds))


class RanksPerSequence(RanksBase):
    def test_kl(self):
        self.same_for_all_ranks(aggregation__divergence="kl", aggregation__weights="events", **PER_SEQUENCE)

    def test_w2_small_blocks(self):
        self.same_for_all_ranks(aggregation__divergence="w2", backend__workspace_mb=0.01, **PER_SEQUENCE)

    def test_fedavg_team_kernels(self):
        self.same_for_all_ranks(aggregation__divergence="fedavg", backend__dense="team", **PER_SEQUENCE)

    def test_mmd(self):
        self.same_for_all_ranks(aggregation__divergence="mmd", federation__client_start="overwrite", **PER_SEQUENCE)

    def test_mixed_precision(self):
        self.same_for_all_ranks(training__precision="mixed", **PER_SEQUENCE)


class RanksPooled(RanksBase):
    def test_kl(self):
        self.same_for_all_ranks(aggregation__divergence="kl", federation__straggling_period=2, **POOLED)

    def test_w2(self):
        self.same_for_all_ranks(aggregation__divergence="w2", model__tempering="dispersion", **POOLED)

    def test_mmd(self):
        self.same_for_all_ranks(aggregation__divergence="mmd", model__periods=[7.0, 1.5], **POOLED)

    def test_local(self):
        self.same_for_all_ranks(federation__mode="local", model__encoder="rbf", **POOLED)


class RanksHistory(RanksBase):
    def test_lstm(self):
        self.same_for_all_ranks(model__encoder="lstm", **HISTORY)

    def test_decay(self):
        self.same_for_all_ranks(**{**HISTORY, "model__encoder": "decay", "model__type_embedding": 0})

    def test_attention_per_sequence_small_blocks(self):
        self.same_for_all_ranks(model__encoder="attention", model__type_embedding=3, backend__workspace_mb=0.01, **PER_SEQUENCE)


class RanksCommunities(RanksBase):
    def same_with_communities(self, **changes):
        self.same_for_all_ranks(aggregation__scope="structural-entropy", **changes)
        rounds = self.result("ranks1")["rounds"]
        for r in rounds:
            self.assertEqual(len(r["communities"]), 6)
            for client in r["participants"]:
                self.assertGreaterEqual(r["communities"][client], 0)
            self.assertGreaterEqual(r["structural_entropy"], 0)
        self.assertGreater(max(rounds[-1]["communities"]), 0, "all clients alike: the test tests little")
        return rounds

    def test_optimised_starts(self):
        rounds = self.same_with_communities(federation__client_start="optimised", aggregation__keep_uploads=1, **PER_SEQUENCE)
        lambdas = [x for r in rounds for x in r["lambda"]]
        self.assertIsNone(lambdas[0])  # nobody has anything to mix in its first round
        chosen = [x for x in lambdas if x is not None]
        self.assertTrue(all(0.6 <= x <= 1 for x in chosen))
        self.assertGreater(len(set(chosen)), 1)
        self.assertTrue(any(x == -1 for r in rounds for x in r["communities"]), "no upload was ever too old")

    def test_per_sequence_w2_mixed(self):
        rounds = self.same_with_communities(aggregation__divergence="w2", aggregation__similarity="centred-gram",
                                            federation__client_start="mix", federation__mix_lambda=0.7,
                                            backend__workspace_mb=0.01, **PER_SEQUENCE)
        self.assertEqual({x for r in rounds for x in r["lambda"] if x is not None}, {0.7})

    def test_history_fedavg_overwrite(self):
        self.same_with_communities(model__encoder="lstm", model__mean="linear", aggregation__divergence="fedavg", federation__client_start="overwrite",
                                   aggregation__similarity="cosine-of-means", **HISTORY)

    def test_pooled_mmd(self):
        self.same_with_communities(aggregation__divergence="mmd", federation__client_start="optimised", **POOLED)


class Graph(Run):
    def test_the_last_rounds_graph_is_in_the_results(self):
        self.deck(federation__participants=0, aggregation__scope="structural-entropy", **PER_SEQUENCE)
        self.train(2, "out")
        with h5py.File(self.folder / "out/result.h5") as file:
            clients, community, weights = (file["graph"][name][()] for name in ("clients", "community", "weights"))
        self.assertEqual(clients.tolist(), list(range(6)))
        self.assertEqual(community.tolist(), self.result("out")["rounds"][-1]["communities"])
        self.assertTrue((weights == weights.T).all() and (np.diag(weights) == 0).all() and (weights > 0).any())
        between = weights[community[:, None] != community[None, :]].mean()  # all started alike four rounds ago
        self.assertGreater(between, 0.9)
        log = (self.folder / "out/train.log").read_text()
        self.assertIn(f"{between:.4f} between them. Above 0.9 between them they need not mean anything", log)
        self.assertEqual(log.count("need not mean anything"), 1)


class RanksAlignment(RanksBase):
    def same_with_alignment(self, **changes):
        self.same_for_all_ranks(training__alignment=1, **changes)
        rounds = self.result("ranks1")["rounds"]
        self.assertTrue(all(r["alignment"] > 0 for r in rounds), "the term is never there: the test tests little")

    def test_per_sequence_communities(self):
        self.same_with_alignment(aggregation__scope="structural-entropy", backend__workspace_mb=0.01, **PER_SEQUENCE)

    def test_history_optimised_starts(self):
        self.same_with_alignment(model__encoder="lstm", federation__client_start="optimised",
                                 aggregation__scope="structural-entropy", **HISTORY)

    def test_pooled_overwrite(self):
        self.same_with_alignment(federation__client_start="overwrite", data__types_per_client=3, **{
            key: value for key, value in POOLED.items() if key != "data__types_per_client"})


class RanksStrategies(RanksBase):
    def test_ditto(self):
        self.same_for_all_ranks(federation__mode="ditto", aggregation__divergence="fedavg", **PER_SEQUENCE)
        self.assertEqual(self.result("ranks1")["scores"]["models"][0]["name"], "ditto")

    def test_fedavg_history(self):
        self.same_for_all_ranks(federation__mode="fedavg", aggregation__divergence="fedavg", model__encoder="lstm", **HISTORY)

    def test_fedala(self):
        self.same_for_all_ranks(federation__mode="fedala", aggregation__divergence="fedavg", backend__workspace_mb=0.05, **PER_SEQUENCE)
        with h5py.File(self.newest("ranks1")) as file:
            mixing = np.concatenate([group["last/mixing"][()] for group in file["clients"].values() if "mixing" in group["last"]])
        self.assertTrue(0 <= mixing.min() < 0.99)
        self.assertLessEqual(mixing.max(), 1)

    def test_apple_history(self):
        self.same_for_all_ranks(federation__mode="apple", aggregation__divergence="fedavg", model__encoder="lstm", **HISTORY)
        with h5py.File(self.newest("ranks1")) as file:
            states = [group["last"] for group in file["clients"].values() if "mixing" in group["last"]]
            self.assertTrue(all(state["mixing"].shape == (6,) for state in states))
            self.assertTrue(all((state["core_mean"][()] != state["weights_mean"][()]).any() for state in states))

    def test_similarity_graph(self):
        self.same_for_all_ranks(aggregation__scope="similarity-graph", aggregation__divergence="fedavg", **PER_SEQUENCE)
        for r in self.result("ranks1")["rounds"]:
            self.assertLessEqual(max(r["communities"]), 0)


class RanksHostile(RanksBase):
    def same_with_hostile_clients(self, **changes):
        self.same_for_all_ranks(attack__share=0.33, **changes)
        result = self.result("ranks1")
        honest, hostile = result["honest"], result["honest"]["hostile_clients"]
        self.assertEqual(len(hostile), 2)
        own = [c for c in result["scores"]["models"][0]["per_client"] if c["client"] not in hostile]
        self.assertAlmostEqual(honest["events"], sum(c["events"] for c in own))
        self.assertEqual([c["client"] for c in honest["models"][0]["per_client"]], [c["client"] for c in own])
        self.assertAlmostEqual(honest["headline"], sum(c["headline"] * c["events"] for c in own) / honest["events"])

    def test_noise_median(self):
        self.same_with_hostile_clients(attack__kind="noise", attack__strength=5.0, aggregation__estimator="median", **PER_SEQUENCE)

    def test_replaced_events_trimmed_mean_history(self):
        self.same_with_hostile_clients(attack__kind="replaced-events", attack__strength=0.5, aggregation__estimator="trimmed-mean",
                                       aggregation__trim=0.3, aggregation__divergence="w2", model__encoder="lstm", **HISTORY)


if __name__ == "__main__":
    unittest.main(verbosity=2)
