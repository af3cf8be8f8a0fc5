"""Faults on purpose: kills of a random rank at a random moment, and damage to checkpoints and event files.

    faults.py kills COUNT [SEED]      each a kill -9 of one rank, then --auto-resume; the final bits must be those of a run left alone
    faults.py damages COUNT [SEED]    each a damaged checkpoint that 'fedpp checkpoint verify' must refuse in words, without a crash
    faults.py events COUNT [SEED]     each a damaged event file that 'fedpp info' must refuse in one line, without a crash
    faults.py unsealed COUNT [SEED]   each a damaged event file or probe case that h5py wrote: read, or refused in one line, without a crash

Ends with code 1 at the first broken promise. Needs FEDPP_EXECUTABLE (and FEDPP_MPIEXEC); validation/faults/README.md has the long runs.
"""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

FEDPP = os.environ["FEDPP_EXECUTABLE"]
MPIEXEC = os.environ.get("FEDPP_MPIEXEC") or "mpirun"

# Rounds of some ten milliseconds and a checkpoint after each: a good part of the time is checkpoint writing.
DECK = """
[data]
train = ["train.csv"]
clients = 12
partition = "heterogeneous"
types_per_client = 3
[model]
encoder = "deep-kernel"
width = 8
inducing = 30
[training]
epochs = 1
[federation]
rounds = {rounds}
participants = 6
validate_every = 7
[evaluation]
samples = 2
e_steps = 2
curve_points = 10
trivial_models = false
[output]
checkpoint_every = 1
checkpoints_kept = 3
progress = false
"""


def deck(folder, rounds):
    rng = random.Random(4)
    rows = "".join(f"{s},{t:.3f},{rng.randrange(4)}\n" for s in range(48) for t in sorted(50 * rng.random() for _ in range(24)))
    (folder / "train.csv").write_text("sequence,time,type\n" + rows)
    (folder / "run.toml").write_text(DECK.format(rounds=rounds))


def outcome(folder):
    result = json.loads((folder / "result.json").read_text())
    rounds = [{k: v for k, v in r.items() if k not in ("seconds", "bytes_rank_0", "imbalance")} for r in result["rounds"]]
    return json.dumps([result["theta"], result["scores"], result["calibration"], result["best_round"], rounds])


def require(holds, what):
    if not holds:
        print(f"BROKEN PROMISE: {what}")
        sys.exit(1)


def children(process):
    try:
        return [int(p) for p in pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
    except OSError:
        return []


def lives(pid):
    """Whether a process runs: not gone, and not dead and waiting for its parent to ask."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def started(out, position):
    """Whether the run that appends to status.jsonl has begun, beyond what was there before."""
    path = out / "status.jsonl"
    return path.is_file() and path.stat().st_size > position


def end_of(process, patience=30):
    """The launcher's exit code, and whether it hung: mpirun of Open MPI 4.1 can wait for itself for ever in
    PMIx_server_finalize once its last rank has gone. Then it is killed here; nothing of ours runs any more."""
    without_ranks = None
    for _ in range(3000):
        try:
            return process.wait(timeout=0.1), False
        except subprocess.TimeoutExpired:
            pass
        if any(map(lives, children(process))):
            without_ranks = None
        elif without_ranks is None:
            without_ranks = time.time()
        elif time.time() - without_ranks > patience:
            process.kill()
            return process.wait(), True
    require(False, f"the job has not ended after 300 s, and ranks are left: {children(process)}")


def kills(folder, count, rng):
    """One run at a time, killed again and again until it is done; then the next, on other numbers of ranks."""
    rounds = 150
    deck(folder, rounds)
    alone = subprocess.run([MPIEXEC, "-n", "1", FEDPP, "train", "run.toml", "--out", "alone"], cwd=folder, capture_output=True, text=True)
    require(alone.returncode == 0, alone.stderr)
    reference = outcome(folder / "alone")
    done = runs = while_writing = before_start = hung = 0
    slowest = 0.0
    while done < count:
        out = folder / f"run{runs}"
        killed_here = 0
        while True:
            ranks = rng.choice([1, 2, 3, 4])
            position = (out / "status.jsonl").stat().st_size if (out / "status.jsonl").is_file() else 0
            log = open(folder / "log", "w")
            process = subprocess.Popen([MPIEXEC, "-n", str(ranks), FEDPP, "train", "run.toml", "--out", str(out), "--auto-resume"],
                                       cwd=folder, stdout=log, stderr=log, start_new_session=True)
            wait_for_start = rng.random() < 0.9  # some die while they start
            deadline = time.time() + 120
            while wait_for_start and process.poll() is None and not started(out, position) and time.time() < deadline:
                time.sleep(0.003)
            pause = time.time() + rng.expovariate(1 / 0.5)
            catch_writing = rng.random() < 0.3
            while process.poll() is None and time.time() < pause:
                if catch_writing and any(out.glob("*.partial")):
                    break
                time.sleep(0.001)
            victims = children(process)
            if process.poll() is None and victims and done < count:
                victim = rng.choice(victims)
                try:
                    os.kill(victim, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                else:
                    done += 1
                    killed_here += 1
                    while_writing += any(out.glob("*.partial")) if out.is_dir() else 0
                    before_start += not started(out, position)
            killed = time.time()
            code, hanging = end_of(process)
            hung += hanging
            slowest = max(slowest, time.time() - killed) if victims and code != 0 and not hanging else slowest
            if code == 0:
                break
            require(code != 2, f"a killed run cannot be resumed: {(folder / 'log').read_text()}")
            for left in children(process):
                require(False, f"rank {left} outlived its job")
        require(outcome(out) == reference, f"{out} has other bits after {killed_here} kills")
        runs += 1
        print(f"{done} kills, {runs} runs of {rounds} rounds with the bits of one left alone; {while_writing} kills while a checkpoint was being written, "
              f"{before_start} before the first round's record; slowest end after a kill {slowest:.1f} s; {hung} times mpirun hung without ranks", flush=True)
        for path in out.iterdir():
            path.unlink()


def damaged(bytes_, rng, kind):
    """The bytes after one random damage of a kind."""
    data = bytearray(bytes_)
    if kind == "cut":
        return bytes(data[:rng.randrange(len(data))])
    if kind == "bit":
        for _ in range(rng.choice([1, 1, 2, 5])):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    if kind == "header bit":
        data[rng.randrange(512)] ^= 1 << rng.randrange(8)
    if kind == "block of zeros":  # a page that never reached the disk
        at = rng.randrange(len(data))
        data[at:at + 4096] = b"\0" * len(data[at:at + 4096])
    if kind == "swapped blocks":
        a, b = rng.randrange(len(data) - 64), rng.randrange(len(data) - 64)
        data[a:a + 64], data[b:b + 64] = data[b:b + 64], data[a:a + 64]
    if kind == "longer":
        data += rng.randbytes(rng.randrange(1, 5000))
    if kind == "foreign":
        return rng.choice([b"", b"sequence,time,type\n1,2,3\n", b"\x89HDF\r\n\x1a\n" + rng.randbytes(3000), b"\x7fELF" + rng.randbytes(900), rng.randbytes(5000)])
    if kind == "newer version":
        return bytes(data[:512].replace(b"format 1\n", b"format %d\n" % rng.randrange(2, 10 ** 6))[:512]) + bytes(data[512:])
    if kind == "unsealed":
        return b"\0" * 512 + bytes(data[512:])
    return bytes(data)


class Damages:
    """One after another, of all kinds in turn, to the bytes of an intact file."""

    def __init__(self, intact, rng):
        self.intact, self.rng = intact, rng
        self.tally = dict.fromkeys(KINDS, 0)
        self.same = 0

    def next(self):
        kind = KINDS[sum(self.tally.values()) % len(KINDS)]
        self.tally[kind] += 1
        bytes_ = damaged(self.intact, self.rng, kind)
        if bytes_ == self.intact:  # zeros upon zeros
            self.same += 1
            bytes_ = self.intact[:-1]
        return bytes_

    def __str__(self):
        return ", ".join(f"{n} {kind}" for kind, n in self.tally.items()) + f" ({self.same} had changed nothing and were cut instead)"


KINDS = ["cut", "bit", "header bit", "block of zeros", "swapped blocks", "longer", "foreign", "newer version", "unsealed"]


def damages(folder, count, rng):
    deck(folder, 3)
    trained = subprocess.run([MPIEXEC, "-n", "2", FEDPP, "train", "run.toml", "--out", "out"], cwd=folder, capture_output=True, text=True)
    require(trained.returncode == 0, trained.stderr)
    damages_ = Damages((folder / "out/checkpoint-000003.h5").read_bytes(), rng)
    resumed = 0
    batch = folder / "damaged"
    batch.mkdir()
    for start in range(0, count, 50):  # many files a process: MPI's libraries take longer to load than a file to verify
        for k in range(start, min(start + 50, count)):
            (batch / f"checkpoint-{k:06d}.h5").write_bytes(damages_.next())
        said = subprocess.run([FEDPP, "checkpoint", "verify", str(batch)], capture_output=True, text=True)
        files = len(list(batch.iterdir()))
        require(said.returncode == 2, f"exit code {said.returncode}: {said.stdout[-500:]}{said.stderr[-500:]}")
        require(said.stdout.count(": refused: ") == files and ": intact" not in said.stdout, f"not all refused: {said.stdout}")
        one = rng.choice(sorted(batch.iterdir()))  # and as the newest of a run
        (folder / "out/checkpoint-000004.h5").write_bytes(one.read_bytes())
        again = subprocess.run([MPIEXEC, "-n", "1", FEDPP, "train", "run.toml", "--out", "out", "--auto-resume"], cwd=folder, capture_output=True, text=True)
        require(again.returncode == 0 and "passed over: out/checkpoint-000004.h5" in again.stdout, again.stdout + again.stderr)
        resumed += 1
        (folder / "out/checkpoint-000004.h5").unlink()
        for path in batch.iterdir():
            path.unlink()
    print(f"{count} damages refused in words: {damages_}; {resumed} of them, put in as a run's newest checkpoint, were passed over")


def events(folder, count, rng):
    deck(folder, 1)
    imported = subprocess.run([FEDPP, "import", "train.csv", "--out", "train.h5"], cwd=folder, capture_output=True, text=True)
    require(imported.returncode == 0, imported.stderr)
    damages_ = Damages((folder / "train.h5").read_bytes(), rng)
    runs = 0

    def require_one_line(command):
        said = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
        ours = [line for line in said.stderr.splitlines() if line.startswith("fedpp: ")]  # mpiexec adds its own
        require(said.returncode == 2, f"{command} ended with {said.returncode}: {said.stderr[-500:]}")
        require(len(ours) == 1 and ours[0].startswith("fedpp: error: ") and "train.h5: " in ours[0], f"{command}: {said.stdout}{said.stderr}")

    for k in range(count):
        (folder / "train.h5").write_bytes(damages_.next())
        require_one_line([FEDPP, "info", "train.h5"])
        if k % 50 == 0:  # and as the data of a run: said once, by all ranks together
            ranks = rng.choice([1, 2, 3])
            require_one_line([MPIEXEC, "-n", str(ranks), FEDPP, "train", "run.toml", "--set", 'data.train=["train.h5"]', "--out", "out"])
            runs += 1
    print(f"{count} damages refused in one line: {damages_}; {runs} of them as the data of a run on 1 to 3 ranks")


def unsealed(folder, count, rng):
    """No checksum tells what is damaged there: numbers may go unseen, but HDF5 may not take the program with it."""
    import h5py  # the other modes do without
    deck(folder, 1)
    imported = subprocess.run([FEDPP, "import", "train.csv", "--out", "sealed.h5"], cwd=folder, capture_output=True, text=True)
    require(imported.returncode == 0, imported.stderr)
    with h5py.File(folder / "sealed.h5") as sealed, h5py.File(folder / "train.h5", "w") as train, h5py.File(folder / "case.h5", "w") as case:
        train.attrs.update(sealed.attrs)
        for name in sealed:
            sealed.copy(name, train)
        for k in range(3):
            group = case.create_group(f"case {k}")
            group.attrs.update({"what": "predict", "m": 2.5})
            group["mean"], group["var"] = [1.0, 2.0, 3.0], [1.0, 0.5, 2.0]
    intact = {name: (folder / name).read_bytes() for name in ("train.h5", "case.h5")}
    commands = {"train.h5": [FEDPP, "info", "train.h5"], "case.h5": [FEDPP, "probe", "case.h5", "--out", "answers.h5"]}
    tally = {"train.h5": [0, 0, 0], "case.h5": [0, 0, 0]}  # read, refused, refused since the child did not come through
    slowest = 0.0
    runs = 0

    def judge(command, name):
        nonlocal slowest
        start = time.time()
        said = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=120)
        slowest = max(slowest, time.time() - start)
        if said.returncode not in (0, 2):
            kept = pathlib.Path(tempfile.gettempdir()) / f"fedpp-broken-{name}"
            kept.write_bytes((folder / name).read_bytes())
            require(False, f"{command} ended with {said.returncode} on {kept}: {said.stderr[-500:]}")
        ours = [line for line in said.stderr.splitlines() if line.startswith("fedpp: ")]
        if said.returncode == 2 and name == "train.h5":
            require(len(ours) == 1 and ours[0].startswith("fedpp: error: ") and "train.h5: " in ours[0], f"{command}: {said.stdout}{said.stderr}")
        return said

    for k in range(count):
        name = "case.h5" if k % 4 == 3 else "train.h5"
        data = bytearray(intact[name])
        for _ in range(rng.choice([1, 2, 5])):  # the structure lies at the beginning, and is what crashes HDF5
            data[rng.randrange(min(len(data), 6000))] ^= 1 << rng.randrange(8)
        (folder / name).write_bytes(data)
        said = judge(commands[name], name)
        tally[name][said.returncode // 2] += 1
        tally[name][2] += "so it is damaged" in said.stderr
        if k % 50 == 0:
            judge([MPIEXEC, "-n", str(rng.choice([1, 2, 3])), FEDPP, "train", "run.toml", "--set", 'data.train=["train.h5"]', "--out", f"out{k}"], name)
            runs += 1
    print(f"{count} damages to files without a checksum: " + ", ".join(
        f"{name}: {read} read, {refused} refused ({died} where the child did not come through)" for name, (read, refused, died) in tally.items())
        + f"; {runs} as the data of a run on 1 to 3 ranks; slowest {slowest:.1f} s")


def main():
    faults = {"kills": kills, "damages": damages, "events": events, "unsealed": unsealed}
    if len(sys.argv) < 3 or sys.argv[1] not in faults:
        print(__doc__)
        return 2
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    start = time.time()
    with tempfile.TemporaryDirectory() as folder:
        faults[sys.argv[1]](pathlib.Path(folder), int(sys.argv[2]), random.Random(seed))
    print(f"{time.time() - start:.0f} s, seed {seed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
