"""How fast a table is read once, beside DuckDB that merely decodes all of its columns.

``python -m benchmarks.reading`` makes files of numbers, whole numbers, and numbers with words, as
CSV and as Parquet, and goes through each in blocks (`Table.blocks`), from opening the file to the
last block. DuckDB decodes the same file with as many threads and keeps nothing but a sum, or the
longest word, of each column; what we read can be gone through again. The seconds of the processor
tell more than those of the clock where other programs run at the same time.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from benchmarks.measure import Table, write_json
from rosenblatt.contract.parameters import count_threads
from rosenblatt.tables.table import read_table

if TYPE_CHECKING:
    from collections.abc import Callable

NUMBERS = "round((random() - 0.5) * 7, 6) AS x{}"
WHOLE = "floor(random() * 10 ** (1 + {} % 6))::BIGINT AS x{}"
WORDS = {"city": 50, "job": 12, "product": 2000}
KINDS = {
    "numbers": [NUMBERS.format(j) for j in range(20)],
    "whole numbers": [WHOLE.format(j, j) for j in range(20)],
    "numbers and words": [
        *(NUMBERS.format(j) for j in range(10)),
        *(f"'{w}' || floor(random() * {n})::INTEGER AS {w}" for w, n in WORDS.items()),
    ],
}


def make(folder: Path, kind: str, n_rows: int) -> tuple[Path, Path]:
    """The same rows as CSV and as Parquet."""
    csv, parquet = folder / f"{kind}.csv", folder / f"{kind}.parquet"
    rows = f"SELECT {', '.join(KINDS[kind])} FROM range({n_rows})"
    duckdb.sql(f"COPY ({rows}) TO '{parquet}'")
    duckdb.sql(f"COPY (FROM '{parquet}') TO '{csv}'")
    return csv, parquet


@cache
def sums(file: Path) -> str:
    """What to ask of all columns: not the largest number, which Parquet files have ready."""
    columns = duckdb.sql(f"DESCRIBE FROM '{file}'").fetchall()
    return ", ".join(
        f"max(length({name}))" if kind == "VARCHAR" else f"sum({name})"
        for name, kind, *_ in columns
    )


def decode(file: Path) -> None:
    """DuckDB decodes all columns."""
    with duckdb.connect(config={"threads": count_threads(None)}) as connection:
        connection.sql(f"SELECT {sums(file)} FROM '{file}'").fetchall()


def read(file: Path) -> None:
    """We go through all blocks."""
    with read_table(file, in_parts=True) as table:
        assert sum(len(next(iter(block.values()))) for _, block in table.blocks()) == table.n_rows


def measured(task: Callable[[Path], None], file: Path) -> tuple[float, float]:
    """Seconds of the clock and of the processor."""
    clock, processor = time.perf_counter(), time.process_time()
    task(file)
    return time.perf_counter() - clock, time.process_time() - processor


def main() -> None:
    """Run everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=3_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--results", type=Path, default=Path("benchmarks/results/reading.json"))
    options = parser.parse_args()
    columns = ["file               ", "rows/s   ", "DuckDB's", "ratio", "ratio (processor)"]
    table = Table("Reading a table once", columns)
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            for file in make(Path(folder), kind, options.rows):
                sums(file)
                turns = [
                    (measured(read, file), measured(decode, file)) for _ in range(options.repeats)
                ]
                ours, theirs = (list(map(min, zip(*times, strict=True)))
                                for times in zip(*turns, strict=True))  # fmt: skip
                ratios = [b / a for a, b in zip(ours, theirs, strict=True)]
                rates = [options.rows / seconds for seconds in (ours[0], theirs[0])]
                table.add(**dict(zip(columns, [file.name, *rates, *ratios], strict=True)))
    write_json(options.results, [table])


if __name__ == "__main__":
    main()
