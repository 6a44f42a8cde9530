"""The suite for as long as one likes: ``python -m tests.adversarial.run --minutes 60 --jobs 2``.

Case k of a seed is always the same: ``--seed S --case K`` asks about it alone.
"""

import argparse
import contextlib
import importlib.util
import multiprocessing
import os
import signal
import sys
import time
import traceback
import zlib
from collections import Counter
from multiprocessing import connection
from pathlib import Path
from typing import NamedTuple

from .judge import Fault

SILENT = 300.0  # seconds of the clock after which a question is taken to hang
LONG_EVERY = 50  # of so many cases one is of a larger family


class Result(NamedTuple):
    """One question to one case, and how it ended."""

    case: int
    family: str
    question: str
    outcome: str
    faults: list
    seconds: float
    snippet: str


def arguments(given=None):
    parser = argparse.ArgumentParser(prog="python -m tests.adversarial.run", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="of the clock (default 1)")
    parser.add_argument("--cases", type=int, default=10**9, help="at most so many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="only this one")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--only", default="", help="questions, with commas between")
    parser.add_argument("--families", default="", help="families, with commas between")
    parser.add_argument("--failures", default="adversarial-failures.txt", help="file for failures")
    return parser.parse_args(given)


def prepare():
    """One thread; and the folder of the library."""
    for name in ("NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    spec = importlib.util.find_spec("rosenblatt")
    assert spec is not None, "rosenblatt is not found: set PYTHONPATH to its src"
    folder = Path(spec.origin).parent
    return folder


def questions(only=""):
    """The questions by name, in order."""
    from .learning import LEARNING
    from .questions import QUESTIONS
    from .tampering import TAMPERING

    known = {**QUESTIONS, **LEARNING, **TAMPERING}
    names = only.split(",") if only else list(known)
    return {name: known[name] for name in names}


def family_of(k, names=""):
    from .examples import once
    from .families import FAMILIES, LONG, SMALL

    known = {**FAMILIES, "once": once}
    if names:
        chosen = [known[name] for name in names.split(",")]
    else:
        chosen = LONG if k % LONG_EVERY == LONG_EVERY - 1 else (*SMALL, once)
    return chosen[zlib.crc32(str(k).encode()) % len(chosen)]


def make_case(seed, k, names=""):
    import numpy as np

    return family_of(k, names)(np.random.default_rng([seed, k]))


def one(case, seed, k, name, question):
    """Ask one question about one case."""
    import numpy as np

    rng = np.random.default_rng([seed, k, zlib.crc32(name.encode())])
    try:
        found = question(case, rng)
    except Exception as error:  # say so, and go on
        why = "".join(traceback.format_exception(error))
        return Result(k, case.name, name, "judge", [Fault("the judge fails", why)], 0.0, "")
    snippet = f"{rebuilt(case, seed, k)}\n{found.call}" if found.faults else ""
    return Result(k, case.name, name, found.outcome, found.faults, found.seconds, snippet)


def rebuilt(case, seed, k):
    """What makes X again."""
    from .questions import SHOWN

    if case.X.size <= SHOWN:
        return f"X = np.array({case.X.tolist()})"
    maker = f"FAMILIES[{case.name!r}](np.random.default_rng([{seed}, {k}]))"
    return f"from tests.adversarial.families import FAMILIES\ncase = {maker}; X = case.X"


def work(pipe, options, numbers):
    """Answer with a Result for each question about each of the cases, until told to end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one that counts
    prepare()
    import numpy as np

    from . import questions as asked
    from .families import lattice

    asked.IN_TIME = True
    chosen = questions(options.only)
    for question in chosen.values():  # compile, for arrays and for CSR matrices
        for k in range(8):
            question(lattice(np.random.default_rng(k)), np.random.default_rng(k))
    for k in numbers:
        case = make_case(options.seed, k, options.families)
        for name, question in chosen.items():
            pipe.send(("begins", k, case.name, name))
            pipe.send(("ends", one(case, options.seed, k, name, question)))
    pipe.send(("done",))


class Worker:
    """A process that asks; when one hangs or dies, the next goes on after its case."""

    def __init__(self, options, first, step):
        self.options, self.next, self.step = options, first, step
        self.doing = None
        self.start()

    def start(self):
        context = multiprocessing.get_context("spawn")
        self.pipe, there = context.Pipe()
        numbers = range(self.next, self.options.cases, self.step)
        if self.options.case is not None:
            numbers = [self.options.case]
        self.process = context.Process(
            target=work, args=(there, self.options, numbers), daemon=True
        )
        self.process.start()
        there.close()
        self.heard = time.monotonic()

    def listen(self):
        """A Result, "done", or None."""
        try:
            message = self.pipe.recv()
        except EOFError:
            return self.lost("dies")
        self.heard = time.monotonic()
        if message[0] == "begins":
            self.doing = message[1:]
            self.next = message[1] + self.step
        return {"ends": message[-1], "done": "done"}.get(message[0])

    def lost(self, how):
        """What to say of a process that hangs or has died; another takes its place."""
        self.end()
        if self.doing is None:
            sys.exit("a worker dies before its first question")
        k, family, question = self.doing
        self.start()
        fault = Fault(f"the process {how}")
        again = f"# python -m tests.adversarial.run --seed {self.options.seed} --case {k}"
        return Result(k, family, question, how, [fault], SILENT, again)

    def end(self):
        self.process.kill()
        self.process.join()
        self.pipe.close()


def results(options):
    """All results until time is over."""
    until = time.monotonic() + 60 * options.minutes
    jobs = 1 if options.case is not None else options.jobs
    workers = [Worker(options, first, jobs) for first in range(jobs)]
    try:
        while workers and time.monotonic() < until:
            ready = connection.wait([worker.pipe for worker in workers], timeout=1.0)
            for worker in list(workers):
                result = None
                if worker.pipe in ready:
                    result = worker.listen()
                elif time.monotonic() - worker.heard > SILENT:
                    result = worker.lost("hangs")
                if result == "done":
                    workers.remove(worker)
                    worker.end()
                elif result is not None:
                    yield result
    finally:
        for worker in workers:
            worker.end()


def faults_by_kind(found):
    """How many of each kind, and the case with the shortest lines to repeat it."""
    pairs = [(fault.kind, result) for result in found for fault in result.faults]
    for kind, n in Counter(kind for kind, _ in pairs).most_common():
        shortest = min((r for k, r in pairs if k == kind), key=lambda r: len(r.snippet))
        yield f"  {n:6d}  {kind} (case {shortest.case})"


def report(found, began):
    """Counts by question and outcome, by family, by fault; and how long answers took."""
    lines = [f"{len(found)} questions about {len({r.case for r in found})} cases "
             f"in {time.monotonic() - began:.0f} s"]  # fmt: skip
    names = list(dict.fromkeys(result.question for result in found))
    for name in names:
        mine = [result for result in found if result.question == name]
        outcomes = Counter(result.outcome for result in mine)
        lines.append(f"\n{name}: {len(mine)}, {sum(bool(r.faults) for r in mine)} with faults")
        lines.append("  " + ", ".join(f"{k} {n}" for k, n in outcomes.most_common()))
        lines += faults_by_kind(mine)
    lines.append("\nfamily: questions, with faults, slowest")
    for family in sorted({result.family for result in found}):
        mine = [result for result in found if result.family == family]
        wrong = sum(bool(result.faults) for result in mine)
        lines.append(f"  {family}: {len(mine)}, {wrong}, {max(r.seconds for r in mine):.2f} s")
    lines.append("\nCPU seconds: median, 99 %, most; share within 1 s, within 10 s")
    for name in [*names, "all"]:
        times = sorted(r.seconds for r in found if name in (r.question, "all"))
        share = [sum(t <= limit for t in times) / len(times) for limit in (1, 10)]
        middle, high = times[len(times) // 2], times[int(0.99 * (len(times) - 1))]
        lines.append(
            f"  {name}: {middle:.3f}, {high:.3f}, {times[-1]:.2f}; {share[0]:.2%}, {share[1]:.2%}"
        )
    slowest = sorted(found, key=lambda result: -result.seconds)[:5]
    lines += [f"  {r.seconds:.2f} s: {r.question} of case {r.case}, {r.family}" for r in slowest]
    return "\n".join(lines)


def main():
    options = arguments()
    folder = prepare()
    print(f"rosenblatt from {folder}, seed {options.seed}", flush=True)
    began, found, wrong = time.monotonic(), [], 0
    with (
        Path(options.failures).open("w", encoding="utf-8") as file,
        contextlib.suppress(KeyboardInterrupt),
    ):
        for result in results(options):
            found.append(result)
            if result.faults:
                wrong += 1
                file.write(f"# {result.question} of case {result.case}, {result.family}\n")
                file.writelines(f"# {kind}: {detail}\n" for kind, detail in result.faults)
                file.write(result.snippet + "\n\n")
                file.flush()
    if not found:
        sys.exit("no question was answered in this time")
    print(report(found, began))
    print(f"\n{wrong} failures" + (f", in {options.failures}" if wrong else ""))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
