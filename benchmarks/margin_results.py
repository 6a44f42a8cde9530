"""What `benchmarks.margin` has measured: kept in a file that every part is merged into."""

from __future__ import annotations

import json
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from benchmarks.measure import machine

if TYPE_CHECKING:
    from pathlib import Path

OURS = "rosenblatt"
KEYS = ("case", "C/N", "problem", "grows", "rows", "features", "solver")  # tell rows apart
PACKAGES = ("piqp", "clarabel", "daqp", "skglm")


def _key(row: dict[str, Any]) -> tuple[str, ...]:
    named = {name.strip(): value for name, value in row.items()}
    return tuple(str(named.get(name, "")) for name in KEYS)


@cache
def facts() -> dict[str, Any]:
    """The machine, and the versions of the peers."""
    known = machine()
    for name in PACKAGES:
        try:
            known[name] = version(name)
        except PackageNotFoundError:
            known[name] = "not installed"
    return known


class Results:
    """Tables of rows; a row that was there before is replaced, in its place.

    Parameters
    ----------
    path : Path
        A JSON file; what it holds already is kept.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        body = json.loads(path.read_text()) if path.exists() else {}
        self.machine: dict[str, Any] = body.get("machine", {})
        self.tables: dict[str, list[dict[str, Any]]] = body.get("tables", {})
        self.runs: list[dict[str, Any]] = body.get("runs", [])

    def rows(self, title: str) -> list[dict[str, Any]]:
        """The rows of a table, their names without the spaces that widen them."""
        rows = self.tables.get(title, [])
        return [{name.strip(): value for name, value in row.items()} for row in rows]

    def put(self, title: str, row: dict[str, Any]) -> None:
        """Add a row, or replace the cells of the one of the same case and solver."""
        self.machine = facts()
        rows = self.tables.setdefault(title, [])
        same = [k for k, other in enumerate(rows) if _key(other) == _key(row)]
        if same:
            rows[same[0]] |= row
        else:
            rows.append(row)

    def put_runs(self, title: str, names: dict[str, Any], runs: list[dict[str, Any]]) -> None:
        """Keep every single run behind a row, instead of those from before."""
        names = {"table": title, **{name.strip(): value for name, value in names.items()}}
        self.runs = [run for run in self.runs if any(run.get(k) != v for k, v in names.items())]
        self.runs += [{**names, **run} for run in runs]

    def save(self) -> None:
        """Write the file."""
        body = {"machine": self.machine, "tables": self.tables, "runs": self.runs}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps(body, indent=1, default=str) + "\n")
        part.replace(self.path)

    def arrange(self, order: list[str]) -> None:
        """Tables in this order, those with other titles last."""
        last = len(order)
        titles = sorted(self.tables, key=lambda t: order.index(t) if t in order else last)
        self.tables = {title: self.tables[title] for title in titles}

    def summarise(self, title: str, summary: str, cases: list[str], columns: list[str]) -> None:
        """A table with a row per problem: we beside the peer that is quickest.

        Parameters
        ----------
        title, summary : str
            The table with a row per solver, which is also sorted, and the one to make.
        cases : list of str
            Their order.
        columns : list of str
            The times to compare, ``"to GAP s"``.
        """
        at = {name: k for k, name in enumerate(cases)}
        rows = self.tables.get(title, [])
        rows.sort(key=lambda row: at.get(_key(row)[0], len(at)))  # stable: the rest stays
        problems: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
        for row in self.rows(title):
            problems.setdefault((row["case"], row.get("C/N", "")), {})[row["solver"]] = row
        self.tables[summary] = [
            {"case": case, **({"C/N": price} if price else {}), "gap": column.split()[1]}
            | _beside(solvers, column)
            for (case, price), solvers in problems.items()
            for column in columns
            if OURS in solvers
        ]
        if not self.tables[summary]:
            del self.tables[summary]


def _beside(solvers: dict[str, dict[str, Any]], column: str) -> dict[str, Any]:
    """Our time, the shortest of the others, and their ratio."""
    times = {name: row[column] for name, row in solvers.items()}
    ours = times.pop(OURS)
    reached = {name: float(text) for name, text in times.items() if not text.startswith(">")}
    cells = {"ours s": ours, "quickest peer": "none", "its s": min(times.values(), default="")}
    if reached:
        name = min(reached, key=lambda name: reached[name])
        cells |= {"quickest peer": name, "its s": times[name]}
    if ours.startswith(">") or not times:
        return {**cells, "peer/ours": ""}
    over = "" if reached else ">"
    return {**cells, "peer/ours": f"{over}{float(cells['its s'].lstrip('>')) / float(ours):.3g}"}
