#!/usr/bin/env python3
"""measure.py BUILD WORKLOAD [--python PYTHON] [--repetitions N] [--clients C] [--out FILE] [--device cuda]

fedpp and the peer on a fixed workload, in turns, on one CPU thread (or the same GPU): the median of the ratios of their seconds
for the local updates of a round. BUILD: a build folder with the benchmarks. PYTHON: one that has PyTorch. --clients: the peer
runs that many of a round's clients (workload b takes it minutes otherwise). Its time is scaled by the operations of the two
sides' rounds, which differ then, and for c, whose rounds have other participants.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
# The peer's memory stays with its process, as fedpp's does, instead of being mapped anew for every large array.
PEER_ENVIRONMENT = {**os.environ, "MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(10**12)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("workload", choices=["a", "b", "c", "d"])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--clients", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=pathlib.Path)
    arguments = parser.parse_args()
    if not (arguments.build / "bench/fedpp_workload").is_file():
        sys.exit(f"measure: {arguments.build} has no bench/fedpp_workload: name a folder that was built with -DFEDPP_BUILD_BENCH=ON")
    everybody = {"a": 20, "b": 20, "c": 20, "d": 2000}[arguments.workload]  # of a round
    clients = arguments.clients or everybody
    drawn_of = 10 if arguments.workload == "c" else 1  # clients of the workload for one in a round
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        subprocess.run([arguments.build / "bench/fedpp_workload", arguments.workload, folder, str(clients * drawn_of)], check=True)
        operations = json.loads((folder / "clients.json").read_text(encoding="utf-8"))["GF"]
        ours, peers, ratios, chunk = [], [], [], 0
        for _ in range(arguments.repetitions):
            result = folder / "ours.json"
            subprocess.run([arguments.build / "bench/fedpp_bench", f"--benchmark_filter=^round/{arguments.workload}/iterations",
                            f"--benchmark_out={result}", "--benchmark_out_format=json"], check=True, capture_output=True)
            measured = json.loads(result.read_text(encoding="utf-8").replace(str(folder), "FOLDER"))
            ours.append(measured["benchmarks"][0]["update_s"])
            peer = subprocess.run([arguments.python, HERE / "client_step.py", folder / "clients.json", "--rounds", "1",
                                   "--chunk", str(chunk), "--device", arguments.device], check=True, capture_output=True, text=True,
                                  env=PEER_ENVIRONMENT)
            peer = json.loads(peer.stdout.splitlines()[-1])
            chunk = peer["chunk"]
            peers.append(peer["seconds"] * measured["benchmarks"][0]["GF"] / operations)
            ratios.append(peers[-1] / ours[-1])
            print(f"fedpp {ours[-1]:.3f} s, peer {peers[-1]:.3f} s ({chunk} clients a batch): {ratios[-1]:.1f} times", flush=True)
    summary = {"workload": arguments.workload, "fedpp_seconds": ours, "peer_seconds": peers, "ratio": statistics.median(ratios),
               "peer": {k: peer[k] for k in ("peer", "device", "threads", "chunk", "device_MB")}, "peer_clients": clients,
               "context": measured["context"], "command": " ".join(map(str, sys.argv))}
    print(f"median: {summary['ratio']:.1f} times faster than the peer")
    if arguments.out:
        arguments.out.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
