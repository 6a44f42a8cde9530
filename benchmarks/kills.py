"""Runs that are killed: how many end as if nothing had happened, and what checkpoints cost.

``python -m benchmarks.kills [KILLS]`` kills processes with SIGKILL, 1000 times if no number is
given, at random moments, each rule again and again until its run is done, and compares all that
came of it, bit for bit, with a run that nobody touched. They write at every opportunity, so that
many are killed in the middle of a write. Then it times a run without a checkpoint, with one every
30 seconds, and with one every second, in seconds of the processor and of the clock.
"""

from __future__ import annotations

import pickle
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from killed_fit import Nursery, facts, fitted

DATA = {"classes": 2, "n": 20_000, "d": 20}
SMALL, THREE = {**DATA, "n": 3_000}, {**DATA, "classes": 3}
WIDE = {**DATA, "n": 300, "d": 20_000}
JOBS = {
    "online": ("Perceptron", {"max_epochs": 40}, DATA),
    "online, average, shuffled": (
        "Perceptron",
        {"keep": "average", "order": "shuffled", "max_epochs": 40},
        DATA,
    ),
    "online, sampled": ("Perceptron", {"order": "sampled", "max_epochs": 40}, DATA),
    "online, blocks, recorded": (
        "Perceptron",
        {"order": "blocks", "max_epochs": 40, "record": True},
        WIDE,
    ),
    "pocket": ("Perceptron", {"keep": "pocket", "max_epochs": 4, "record": True}, SMALL),
    "pocket in batches": (
        "Perceptron",
        {"keep": "pocket", "update": "minibatch", "batch_size": 200, "max_epochs": 40},
        SMALL,
    ),
    "batch": ("Perceptron", {"update": "batch", "max_epochs": 60}, DATA),
    "minibatch, shuffled": (
        "Perceptron",
        {"update": "minibatch", "batch_size": 3000, "order": "shuffled", "max_epochs": 60},
        DATA,
    ),
    "random mistake": (
        "Perceptron",
        {"order": "random-mistake", "max_epochs": 90, "record": True},
        SMALL,
    ),
    "worst mistake, pocket": (
        "Perceptron",
        {"order": "worst-mistake", "keep": "pocket", "max_epochs": 90},
        SMALL,
    ),
    "three classes, average": ("Perceptron", {"keep": "average", "max_epochs": 20}, THREE),
    "three classes, pocket": (
        "Perceptron",
        {"keep": "pocket", "max_epochs": 3},
        {**THREE, "n": 1000},
    ),
    "joint, blocks": (
        "Perceptron",
        {"multiclass": "joint", "order": "blocks", "max_epochs": 20},
        THREE,
    ),
    "Adaline": ("Adaline", {"update": "minibatch", "batch_size": 500, "max_epochs": 60}, DATA),
    "Adaline, batch": ("Adaline", {"update": "batch", "max_epochs": 60}, DATA),
    "AdalineRegressor": ("AdalineRegressor", {"order": "blocks", "max_epochs": 60}, DATA),
    "kernel, average, shuffled": (
        "KernelPerceptron",
        {"keep": "average", "order": "shuffled", "max_epochs": 5},
        SMALL,
    ),
    "kernel, vote, three classes": (
        "KernelPerceptron",
        {"keep": "vote", "kernel": "poly", "max_epochs": 5, "record": True},
        {**THREE, "n": 2_000},
    ),
    "kernel, pocket": ("KernelPerceptron", {"keep": "pocket", "max_epochs": 3}, SMALL),
    "kernel, budget": ("KernelPerceptron", {"budget": 100, "max_epochs": 5}, SMALL),
    "kernel, worst mistake": (
        "KernelPerceptron",
        {"order": "worst-mistake", "max_epochs": 90, "drop_after": 3},
        SMALL,
    ),
    "soft margin": ("SoftMarginClassifier", {"C": 100.0, "tol": 1e-9}, SMALL),
    "soft margin, three classes": ("SoftMarginClassifier", {}, THREE),
    "no maximum margin": ("MaxMarginClassifier", {}, {**SMALL, "d": 5}),
    "maximum margin": ("MaxMarginClassifier", {}, WIDE),
    "separability": ("separability", {}, DATA),
    "separability, three classes": ("separability", {}, {**THREE, "d": 5}),
}
LIVES = 5  # so many lives does a run take that is killed at random, on average, or more
MOST = 50  # kills of a run, then it may end


def main() -> None:
    """Kill, compare, time."""
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory() as folder, Nursery() as nursery:
        kill(nursery, Path(folder), wanted)
        cost(Path(folder))


def kill(nursery: Nursery, folder: Path, wanted: int) -> None:
    """Each rule in its turn, until there are as many kills as wanted."""
    rng = random.Random(0)
    kinds = {name: job_of(name, folder) for name in JOBS}
    whole = {name: facts(fitted({**job, "path": None})) for name, job in kinds.items()}
    length = {}
    for name, job in kinds.items():
        nursery.run({**job, "path": None})  # loads the loops
        began = time.perf_counter()
        nursery.run(job)
        length[name] = time.perf_counter() - began
    tally = {name: [0, 0, 0, 0] for name in JOBS}  # runs, kills, of these while writing, the same
    while sum(counts[1] for counts in tally.values()) < wanted:
        for name, job in kinds.items():
            Path(job["path"]).unlink(missing_ok=True)
            longest = 2 * length[name] / LIVES
            kills, writing = nursery.killed_until_done(job, longest, rng, MOST)
            same = pickle.loads(Path(job["out"]).read_bytes()) == whole[name]
            found = (1, kills, writing, same)
            tally[name] = [a + int(b) for a, b in zip(tally[name], found, strict=True)]
    print(f"{'rule':28}{'runs':>6}{'kills':>8}{'in a write':>12}{'identical':>11}")
    for name, counts in tally.items():
        print(f"{name:28}{counts[0]:6}{counts[1]:8}{counts[2]:12}{counts[3]:11}")
    runs, kills, writing, same = (sum(column) for column in zip(*tally.values(), strict=True))
    print(f"{'all':28}{runs:6}{kills:8}{writing:12}{same:11}")
    print(
        f"\n{kills} kills, {writing} of them while a checkpoint was being written: "
        f"{same} of {runs} runs ended bit-identical\n"
    )


def job_of(name: str, folder: Path) -> dict[str, object]:
    """A job that writes at every opportunity."""
    kind, given, data = JOBS[name]
    path = folder / f"{list(JOBS).index(name)}.checkpoint"
    return {
        "kind": kind,
        "given": {**given, **({"random_state": 7} if "max_epochs" in given else {})},
        "data": data,
        "path": str(path),
        "every": 0.0,
        "out": str(path.with_suffix(".out")),
    }


def cost(folder: Path) -> None:
    """The same run without checkpoints and with them, each after the other, several times."""
    given = {"keep": "average", "order": "shuffled", "max_epochs": 200, "random_state": 0}
    job = {"kind": "Perceptron", "given": given, "data": {"classes": 2, "n": 500_000, "d": 50}}
    found: dict[str, list[tuple[float, float]]] = {"none": [], "every 30 s": [], "every 1 s": []}
    for attempt in range(3):
        for name, every in (("none", None), ("every 30 s", 30.0), ("every 1 s", 1.0)):
            path = folder / f"cost-{attempt}-{every}"
            began = time.process_time(), time.perf_counter()
            fitted({**job, "path": None if every is None else str(path), "every": every})
            ended = time.process_time(), time.perf_counter()
            found[name].append((ended[0] - began[0], ended[1] - began[1]))
    processor, clock = (statistics.median(column) for column in zip(*found["none"], strict=True))
    for name, times in found.items():
        here = [statistics.median(column) for column in zip(*times, strict=True)]
        print(
            f"checkpoint {name:12} {here[0]:6.2f} s of the processor, {here[0] / processor:.3f} "
            f"times; {here[1]:6.2f} s of the clock, {here[1] / clock:.3f} times"
        )


if __name__ == "__main__":
    main()
