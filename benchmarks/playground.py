"""How long the playground takes to answer: alone, and among two hundred who ask at once.

``python -m benchmarks.playground`` starts ``rosenblatt playground`` in a process of its own, asks
it over the network of this machine, prints tables, and writes
``benchmarks/results/playground.json``.
Beside the time until an answer is there stands the processor time that it took the server, which
says more where the machine has other things to do.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

import rosenblatt as rb
from benchmarks.measure import Table, write_json, write_report
from benchmarks.playground_frames import frames

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZES, CLIENTS, REPEATS = (50, 500, 2000), 200, 15
INTRODUCTION = """
# How long the playground takes to answer

Made by `python -m benchmarks.playground --report docs/benchmarks/playground.md`. Points in a disc,
apart by a margin of 0.1, or with one label in ten wrong; runs of 100 epochs at most (kernels 30),
every update in the answer. Times are in milliseconds, of the median and of the slowest of 15 after
a warm-up; the processor time is that of the server. Two hundred ask at the same moment: how long
until half and until all of them have their answer, and how long a file of the page takes meanwhile.
Where there is a Chromium, its own trace tells what the page's main thread has to do for each frame
while a point is dragged and a long run is scrubbed; 8 ms leave half of a frame free.
"""


@contextmanager
def served() -> Iterator[tuple[str, int]]:
    """A playground in a process of its own: its address, and the number of the process."""
    command = [sys.executable, "-m", "rosenblatt.cli", "playground", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found is not None
        try:
            yield found[0], process.pid
        finally:
            process.terminate()


def processor_time(pid: int) -> float:
    """Seconds that a process has computed, on Linux."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def data(n: int, kind: str) -> dict[str, Any]:
    """Points to ask about."""
    found = rb.datasets.known_margin(n, 2, margin=0.1, rotate=True, random_state=n)
    if kind == "noisy":
        found = rb.datasets.flip_labels(found, 0.1, random_state=0)
    return {"points": found.X.tolist(), "labels": ((found.y + 1) // 2).tolist()}


QUESTIONS = {
    "verdict": lambda points: ("judge", {"data": points}),
    **{
        name: lambda points, name=name: ("run", {"data": points, "settings": {"algorithm": name}})
        for name in ("perceptron", "pocket", "average", "kernel", "adaline", "soft-margin")
    },
}


def alone(client: httpx.Client, pid: int) -> Table:
    """One who asks, one question after the other."""
    columns = ["points", "classes", "question", "median ms", "slowest ms", "processor ms", "kB"]
    table = Table("One client", columns)
    for n in SIZES:
        for kind in ("apart", "noisy"):
            points = data(n, kind)
            for name, question in QUESTIONS.items():
                path, body = question(points)
                answer = client.post(f"/api/{path}", json=body)
                answer.raise_for_status()
                times, began = [], processor_time(pid)
                for _ in range(REPEATS):
                    start = time.perf_counter()
                    client.post(f"/api/{path}", json=body)
                    times.append(1e3 * (time.perf_counter() - start))
                used = 1e3 * (processor_time(pid) - began) / REPEATS
                table.add(
                    **{
                        "points": n,
                        "classes": kind,
                        "question": name,
                        "median ms": round(statistics.median(times), 1),
                        "slowest ms": round(max(times), 1),
                        "processor ms": round(used, 1),
                        "kB": round(len(answer.content) / 1e3, 1),
                    }
                )
    return table


async def crowd(address: str, cookies: httpx.Cookies, body: dict[str, Any]) -> dict[str, float]:
    """Two hundred who ask for a run, and one who wants a file of the page again and again."""
    limits = httpx.Limits(max_connections=CLIENTS + 10)
    about: Any = {"base_url": address, "cookies": cookies, "limits": limits, "timeout": 600}
    async with httpx.AsyncClient(**about) as client:
        start = time.perf_counter()

        async def one() -> float:
            (await client.post("/api/run", json=body)).raise_for_status()
            return time.perf_counter() - start

        asked = [asyncio.ensure_future(one()) for _ in range(CLIENTS)]
        files = []
        while not all(task.done() for task in asked):
            began = time.perf_counter()
            (await client.get("/style.css")).raise_for_status()
            files.append(1e3 * (time.perf_counter() - began))
        times = [1e3 * task.result() for task in asked]
    return {
        "half ms": round(statistics.median(times)),
        "all ms": round(max(times)),
        "each ms": round(max(times) / CLIENTS, 1),
        "file, median ms": round(statistics.median(files), 1),
        "file, slowest ms": round(max(files), 1),
    }


def together(address: str, cookies: httpx.Cookies) -> Table:
    """Two hundred at once."""
    columns = ["points", "half ms", "all ms", "each ms", "file, median ms", "file, slowest ms"]
    table = Table(f"{CLIENTS} clients at once, a perceptron on points apart", columns)
    for n in SIZES:
        body = {"data": data(n, "apart"), "settings": {"algorithm": "perceptron"}}
        table.add(points=n, **asyncio.run(crowd(address, cookies, body)))
    return table


def main() -> None:
    """Print the tables and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", type=Path, help="also write a page with the tables")
    results = Path(__file__).parent / "results" / "playground.json"
    parser.add_argument("--output", type=Path, default=results)
    arguments = parser.parse_args()
    with served() as (address, pid), httpx.Client(timeout=600) as client:
        base = address.partition("/?")[0]
        client.base_url = base
        client.get(address, follow_redirects=True).raise_for_status()
        time.sleep(3)  # while it warms up
        drawn = frames(address)
        tables = [alone(client, pid), together(base, client.cookies), *([drawn] if drawn else [])]
    write_json(arguments.output, tables)
    if arguments.report:
        write_report(arguments.output, arguments.report, INTRODUCTION)


if __name__ == "__main__":
    main()
