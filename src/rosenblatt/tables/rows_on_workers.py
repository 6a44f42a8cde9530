"""The rows of a table that are on the workers of a cluster, each part where it was read.

What a column holds is judged here by the different cells of all parts, as of a file on one machine;
then every part is read in the same way. Numbers that are plain are not sent for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.tables.columns import Column
from rosenblatt.tables.file_parts import FilePart, Plan, plan_files, read_part
from rosenblatt.tables.input_files import shown_path
from rosenblatt.tables.kinds import infinite
from rosenblatt.tables.opened_rows import Opened, as_told
from rosenblatt.tables.part_cells import PartSummary, Reading, Seen, seen_in, summary
from rosenblatt.tables.rows_in_memory import DifferentCells, RowsInMemory
from rosenblatt.tables.staged_rows import joined
from rosenblatt.tables.staging import listed_files
from rosenblatt.tables.storage import Storage, TableError
from rosenblatt.tables.texts import Texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.cluster.engine import Engine
    from rosenblatt.tables.columns import Asked, StagedFile

LEAST_BYTES = 1 << 22  # of the lines of a part, if a file is cut
PARTS_PER_THREAD = 4  # so that a late one leaves the rest to others
MOST_DIFFERENT = 20_000_000  # cells of the columns that are to be judged by them


def open_on_workers(engine: Engine, paths: Sequence[str], asked: Asked, storage: Storage) -> Opened:
    """The rows of files, read by workers, and what their columns hold."""
    refused = {"sheet": asked.sheet, "table": asked.table, "query": asked.query}
    given = next((name for name, value in refused.items() if value is not None), None)
    if given is not None or not paths or "-" in paths or any("://" in path for path in paths):
        what = f"--{given} ({given}= in Python)" if given else "what is no file"
        msg = f"{what} is read on one machine only: give files that the workers see, or no cluster"
        raise TableError(msg)
    wanted = PARTS_PER_THREAD * sum(worker.threads for worker in engine.workers().values())
    absolute = [os.path.abspath(path) for path in paths]  # noqa: PTH100 (a pattern, too)
    plan = engine.call(plan_files, absolute, asked, wanted, LEAST_BYTES)
    plan = _as_named(plan, dict(zip(absolute, paths, strict=True)))
    parts = _Parts(engine, plan, asked)
    parts.read()
    rows = RowsOnWorkers(storage, engine, parts)
    columns, told = rows.judged(parts.staged)
    named = dict(zip(parts.names, columns, strict=True))
    staged = parts.staged
    return Opened(rows, parts.name, named, rows.n_rows, staged.has_header, staged.notes, told, {})


def _as_named(plan: Plan, given: Mapping[str, str]) -> Plan:
    """The plan, each file shown as it was named here."""
    here = os.path.join(os.getcwd(), "")  # noqa: PTH109, PTH118
    relative = not all(map(os.path.isabs, given.values()))

    def shown(path: str) -> str:
        return given.get(path, path.removeprefix(here) if relative else path)

    parts = [
        part._replace(shown=shown(part.shown), state=part.state._replace(shown=shown(part.shown)))
        for part in plan.parts
    ]
    return plan._replace(parts=parts, paths=[shown(path) for path in plan.paths])


class _Parts:
    """The parts of a table, as futures, and what is known of them together."""

    def __init__(self, engine: Engine, plan: Plan, asked: Asked) -> None:
        self.engine, self.plan, self.asked = engine, plan, asked
        self.files, self.futures = list(plan.parts), list[Any]()
        self.summaries = list[PartSummary]()
        shown = [shown_path(path) for path in plan.paths]
        self.name = shown[0] if len(shown) == 1 else f"{shown[0]} and {len(shown) - 1} more"

    def read(self) -> None:
        """Have all parts read; see that they are of one table."""
        if not self.files:
            self._refuse_no_rows(only_header=False)
        homes = self.engine.neighbours(len(self.files))
        both = zip(self.files, homes, strict=True)
        self.futures = [self._submit(part, home=home) for part, home in both]
        found = self._gathered(self.futures)
        odd = {part.number for part, one in zip(self.files, found, strict=True) if one is None}
        if odd:  # lines that are not plain: the file is read as a whole
            self._read_whole(odd)
            found = self._gathered(self.futures)
        self.summaries = [one for one in found if one is not None]
        for part, one in zip(self.files, self.summaries, strict=True):
            _compare(self.files[0], self.summaries[0], part, one)
        if not sum(one.n_rows for one in self.summaries):
            self._refuse_no_rows(only_header=self.summaries[0].is_text)
        self.staged = self._common()
        self.names = self.staged.names

    def _gathered(self, futures: Sequence[Any]) -> list[PartSummary | None]:
        return self.engine.gather([self.engine.submit(summary, one) for one in futures])

    def _submit(self, part: FilePart, as_texts: Sequence[str] = (), home: str = "") -> Any:
        asked = self.asked
        if part.number and asked.header is None:
            asked = replace(asked, header=self.plan.header)
        return self.engine.submit(read_part, part, asked, as_texts, worker=home)

    def _read_whole(self, odd: set[int]) -> None:
        """Read these files in one part each."""
        kept = {part: one for part, one in zip(self.files, self.futures, strict=True)
                if part.number not in odd}  # fmt: skip
        wanted = dict.fromkeys(part.whole if part.number in odd else part for part in self.files)
        self.files = list(wanted)
        self.futures = [kept.get(part) or self._submit(part) for part in self.files]

    def _common(self) -> StagedFile:
        """What is known of all files together; columns that are texts in one are so in all."""
        first, every = self.summaries[0].staged, [one.staged for one in self.summaries]
        of = {name: [self._column(one, name) for one in every] for name in first.names}
        mixed = [n for n in first.names if len({one.stored[n] for one in self.summaries}) > 1]
        if mixed:
            self._read_as_texts(mixed)
        columns = [
            replace(_together(of[name], name in mixed), sql=f"c{j}")
            for j, name in enumerate(first.names)
        ]
        marks = {name for one in every for name in one.commas}
        likely = {name for one in every for name in one.may_be_thousands}
        columns = as_told(first.names, columns, marks, self.asked)
        return replace(first, columns=columns, notes=self._notes(), commas=marks,
                       may_be_thousands=likely - marks)  # fmt: skip

    def _column(self, staged: StagedFile, name: str) -> Column:
        return staged.columns[staged.names.index(name)]

    def _read_as_texts(self, names: Sequence[str]) -> None:
        """Read those parts again that hold numbers where others have texts."""
        for k, one in enumerate(self.summaries):
            texts = [name for name in names if one.stored[name] != "text"]
            if texts:
                self.futures[k] = self._submit(self.files[k], names)
                stored = one.stored | dict.fromkeys(names, "text")
                self.summaries[k] = one._replace(stored=stored)

    def _notes(self) -> list[str]:
        """What was done unasked; of several files, which they are."""
        by_file = dict[int, list[str]]()
        for part, one in zip(self.files, self.summaries, strict=True):
            by_file.setdefault(part.number, one.staged.notes)
        if len(self.plan.paths) == 1:
            return by_file[0]
        shown, notes = listed_files(self.plan.paths)
        for number, own in by_file.items():
            notes += [
                f"{shown[number]}: {note}" if self.summaries[0].is_text else note
                for note in own
                if note not in notes
            ]
        return notes

    def _refuse_no_rows(self, *, only_header: bool) -> None:
        what = "only a header and no rows" if only_header else "no rows"
        remedy = "; if its first line is data, use --no-header (header=False in Python)"
        msg = f"{self.name} holds {what}: give a file with at least one row{remedy * only_header}"
        raise TableError(msg)


def _together(columns: Sequence[Column], mixed: bool) -> Column:
    """One column for the cells of all parts."""
    if mixed:
        return Column("", "text", "text")
    declared = all(column.declared for column in columns)
    tidy = all(column.tidy for column in columns)
    words = all(column.words for column in columns)
    return replace(columns[0], declared=declared, words=words, tidy=tidy)


def _compare(first: FilePart, known: PartSummary, part: FilePart, one: PartSummary) -> None:
    """Refuse a file whose columns are not those of the first."""
    missing = [name for name in known.stored if name not in one.stored]
    strange = [name for name in one.stored if name not in known.stored]
    if not missing and not strange:
        return
    lacks = f"has no column {missing[0]!r}" if missing else ""
    adds = f"has a column {strange[0]!r} of its own" if strange else ""
    msg = (
        f"{part.shown} {' and '.join(filter(None, (lacks, adds)))}, unlike {first.shown}: "
        "give files with the same columns"
    )
    raise TableError(msg)


class RowsOnWorkers(RowsInMemory):
    """Columns by their names in SQL whose cells are on workers; some are sent for when needed."""

    def __init__(self, storage: Storage, engine: Engine, parts: _Parts) -> None:
        self.engine, self.parts = engine, parts.futures
        lengths = [one.n_rows for one in parts.summaries]
        self.starts = list(accumulate(lengths, initial=0))
        self.lengths = lengths
        self.by_sql = {column.sql: name for column, name in
                       zip(parts.staged.columns, parts.names, strict=True)}  # fmt: skip
        nothing: Any = Texts(np.empty(0, dtype=object), np.empty(0, np.int32))
        stored = parts.summaries[0].stored
        held = {
            sql: nothing if stored[name] == "text" else np.empty(0)
            for sql, name in self.by_sql.items()
        }
        super().__init__(storage, shown_path(parts.name), self.starts[-1], held, None)
        self._summaries = parts.summaries
        self._seen = dict[str, Seen]()

    def judged(self, staged: StagedFile) -> Any:
        """The columns with the kind of each, judged by all of its cells, and remarks."""
        self._refuse_infinities()
        self._look_at([
            column for column in staged.columns
            if isinstance(self.held[column.sql], Texts) and not column.declared
        ])  # fmt: skip
        for sql, seen in self._seen.items():
            self.held[sql] = Texts(seen.values, np.arange(len(seen.values), dtype=np.int32))
        return super().judged(staged)

    def _refuse_infinities(self) -> None:
        for one, start in zip(self._summaries, self.starts, strict=False):
            for name, (row, text) in one.infinite.items():
                raise infinite(name, text, start + row + 1)

    def _look_at(self, columns: Sequence[Column]) -> None:
        """Send for the different cells of some columns."""
        columns = [column for column in columns if column.sql not in self._seen]
        if not columns:
            return
        names = [self.by_sql[column.sql] for column in columns]
        futures = [self.engine.submit(seen_in, names, part) for part in self.parts]
        found = self.engine.gather(futures)
        for k, column in enumerate(columns):
            of_parts = [seen[k] for seen in found]
            if sum(len(seen.values) for seen in of_parts) > MOST_DIFFERENT:
                msg = (
                    f"column {names[k]!r} has more than {MOST_DIFFERENT} different cells that are "
                    "not plain numbers: say with --missing what stands for nothing, or write it "
                    "as Parquet"
                )
                raise TableError(msg)
            self._seen[column.sql] = Seen.merged(of_parts, self.starts[:-1])

    def _like_thousands(self, staged: StagedFile) -> list[str]:
        asked = [name for name in staged.names if name in staged.may_be_thousands]
        some = [one for one in self._summaries if one.n_rows]
        return [name for name in asked if all(name in one.thousands for one in some)]

    def _counts(self, column: Column, held: Texts) -> NDArray[np.intp]:
        self._look_at([column])
        return self._seen[column.sql].counts

    def _different(self, column: Column) -> DifferentCells:
        self._look_at([column])
        return DifferentCells(self._seen[column.sql].values, np.empty(0, np.int32))

    def first_row(self, column: Column, place: int) -> int:
        """The row in which the different cell of this place first stands."""
        return int(self._seen[column.sql].firsts[place])

    def rows_with(self, column: Column, place: int, found: int) -> int:
        """In how many rows the different cell of this place stands."""
        return int(self._seen[column.sql].counts[place])

    def rows_present(self, column: Column, found: int) -> int:
        """In how many rows a cell of the column is present."""
        return int(self._seen[column.sql].counts.sum())

    def reading(self, columns: Mapping[str, Column]) -> Reading:
        """How each part becomes these columns."""
        return Reading(dict(columns), self.by_sql)

    def fetched(
        self, columns: Sequence[Column], start: int, stop: int
    ) -> list[NDArray[Any] | Texts]:
        """These columns of the rows from `start` up to `stop`, each as its kind."""
        parts = [cells for _, cells in self._sent(columns, start, stop, stop - start)]
        if not parts:
            parts = [cells for _, cells in self._sent(columns, 0, 1, 1)]
            return [cells[0][:0] for cells in zip(*parts, strict=True)]
        return parts[0] if len(parts) == 1 else list(map(joined, zip(*parts, strict=True)))

    def blocks(
        self, columns: Sequence[Column], n_rows: int, most_rows: int
    ) -> Iterator[tuple[int, list[NDArray[Any] | Texts]]]:
        """The first row and these columns of each block of rows."""
        return self._sent(columns, 0, n_rows, most_rows)

    def _sent(
        self, columns: Sequence[Column], start: int, stop: int, most_rows: int
    ) -> Iterator[tuple[int, list[NDArray[Any] | Texts]]]:
        """The cells of some rows, at most so many at a time, some of them on their way."""
        self.storage.check_open()
        reading = self.reading({column.sql: column for column in columns})
        spans = [
            (k, a, min(a + most_rows, last))
            for k, (first, n) in enumerate(zip(self.starts, self.lengths, strict=False))
            for last in [min(first + n, stop)]
            for a in range(max(first, start), last, max(most_rows, 1))
        ]

        def begin(span: tuple[int, int, int]) -> Any:
            k, a, z = span
            own = a - self.starts[k], z - self.starts[k]
            return self.engine.submit(_some, reading, self.parts[k], *own)

        firsts = (first for _, first, _ in spans)
        yield from zip(firsts, self.engine.in_turn(begin, spans), strict=False)

    def close(self) -> None:
        """Forget the rows."""
        super().close()
        self.parts = []


def _some(reading: Reading, part: Any, first: int, last: int) -> list[Any]:
    found = reading.rows(part, first, last)
    return [c.used() if isinstance(c, Texts) else np.ascontiguousarray(c) for c in found.values()]
