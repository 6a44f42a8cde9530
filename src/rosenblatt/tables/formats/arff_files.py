"""Reading ARFF files: Weka's, dense and sparse, and KEEL's."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from rosenblatt.tables.columns import Column, StagedFile, noted, unique_names
from rosenblatt.tables.formats.row_batches import stage_records
from rosenblatt.tables.storage import TableError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rosenblatt.tables.columns import Asked
    from rosenblatt.tables.storage import Storage

_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_CELL = re.compile(rf"\s*({_QUOTED}|[^,]*?)\s*(,|$)")
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{]+)\s*(.*)", re.I | re.S)
_ENTRY = re.compile(rf"\s*(\d+)\s+({_QUOTED}|[^,]*?)\s*(,|$)")
_MISSING = ("?", "<null>", "")


@dataclass(frozen=True)
class _Attribute:
    """A column as the header declares it."""

    name: str
    kind: str  # "number", "nominal", "text", or "" for what is left out
    values: dict[str, None] = field(default_factory=dict)  # of a nominal one, in order

    def cell(self, text: str) -> Any:
        """What a cell holds; ValueError if it cannot."""
        if text in _MISSING:
            return None
        text = _unquoted(text)
        if self.kind == "number":
            return float(text)
        if self.kind == "nominal" and text not in self.values:
            raise ValueError
        return text

    @property
    def zero(self) -> Any:
        """What a cell holds that a sparse row leaves out: 0, or the first of the values."""
        if self.kind == "number":
            return 0.0
        return next(iter(self.values), None)


@dataclass(frozen=True)
class _Header:
    attributes: list[_Attribute]
    output: str | None  # the class, if KEEL says so
    n_lines: int


def looks_like_arff(start: bytes) -> bool:
    """Whether a file that begins like this is ARFF."""
    return re.match(rb"(?:%[^\n]*\n|\s)*@relation\b", start, re.I) is not None


def stage_arff(file: Path, shown: str, storage: Storage, asked: Asked) -> StagedFile:
    """Read the rows of the file into the table `rows` of the storage."""
    with file.open(encoding=_encoding(file)) as opened:
        header = _header(opened, shown)
        attributes = header.attributes
        kept = [j for j, attribute in enumerate(attributes) if attribute.kind]
        if not kept:
            msg = f"{shown} declares no attribute of numbers or values: give a flat table"
            raise TableError(msg)
        # The class last, which is where it is looked for.
        kept.sort(key=lambda j: attributes[j].name == header.output)
        records = _records(opened, header, shown)
        kinds = [attributes[j].kind for j in kept]
        stage_records(storage, ([record[j] for j in kept] for record in records), kinds)
    names, notes = unique_names([attributes[j].name for j in kept])
    others = [attribute.name for attribute in attributes if not attribute.kind]
    notes += noted(others, "is left out: it holds nested values")
    columns = [
        Column(f"c{j}", "number", "number", declared=True)
        if kind == "number"
        else Column(f"c{j}", "text", "text", declared=kind == "nominal", words=True)
        for j, kind in enumerate(kinds)
    ]
    return StagedFile(names, columns, notes)


def _encoding(file: Path) -> str:
    try:
        with file.open(encoding="utf-8-sig") as opened:
            while opened.read(1 << 20):
                pass
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8-sig"


def _header(lines: Iterator[str], shown: str) -> _Header:
    """What stands above ``@data``."""
    attributes: list[_Attribute] = []
    output = None
    for number, line in enumerate(lines, 1):
        text = line.strip()
        word = text.lower()
        if word.startswith("@attribute"):
            attributes.append(_attribute(text, number, shown))
        elif match := re.match(r"@outputs?\s+([^,]+)$", text, re.I):
            output = _unquoted(match.group(1).strip())
        elif word.startswith("@data"):
            if not attributes:
                break
            return _Header(attributes, output, number)
        elif text and not word.startswith(("%", "@relation", "@input", "@output")):
            _fail(shown, number, f"{text[:40]!r} is no part of a header")
    what = "attributes" if not attributes else "@data"
    msg = f"{shown} is an ARFF file without {what}: it breaks off, download or copy it again"
    raise TableError(msg)


def _attribute(text: str, number: int, shown: str) -> _Attribute:
    match = _ATTRIBUTE.fullmatch(text)
    if not match:
        _fail(shown, number, "an attribute needs a name and a type")
    name, kind = _unquoted(match.group(1)), match.group(2).strip()
    if kind.startswith("{"):
        if not kind.endswith("}"):
            _fail(shown, number, "the values of an attribute end without }")
        values = [_unquoted(value) for value in _cells(kind[1:-1])]
        return _Attribute(name, "nominal", dict.fromkeys(values))
    word = re.split(r"[\s\[]", kind.lower(), maxsplit=1)[0]
    known = {"numeric": "number", "real": "number", "integer": "number", "double": "number"}
    known |= {"string": "text", "date": "text", "relational": ""}
    if word not in known:
        _fail(shown, number, f"{kind[:30]!r} is no type of an attribute")
    return _Attribute(name, known[word])


def _records(lines: Iterator[str], header: _Header, shown: str) -> Iterator[list[Any]]:
    """The rows below ``@data``."""
    attributes, n = header.attributes, len(header.attributes)
    for number, line in enumerate(lines, header.n_lines + 1):
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        if text.startswith("{") and text.endswith("}"):
            yield _sparse(text[1:-1], attributes, shown, number)
            continue
        cells = _cells(text) if "," in text or n == 1 else text.split()
        if len(cells) == n + 1 and cells[-1].startswith("{"):
            cells.pop()  # the weight of the row
        if len(cells) != n:
            plural = "s" * (len(cells) != 1)
            _fail(shown, number, f"{len(cells)} cell{plural}, but there are {n} attributes")
        yield [_read(a, cell, shown, number) for a, cell in zip(attributes, cells, strict=True)]


def _sparse(text: str, attributes: list[_Attribute], shown: str, number: int) -> list[Any]:
    record = [attribute.zero for attribute in attributes]
    place = 0
    while place < len(text.rstrip()):
        entry = _ENTRY.match(text, place)
        if entry is None or int(entry.group(1)) >= len(attributes):
            _fail(shown, number, "a sparse row holds pairs of an attribute's number and its value")
        j = int(entry.group(1))
        record[j] = _read(attributes[j], entry.group(2), shown, number)
        place = entry.end()
    return record


def _read(attribute: _Attribute, text: str, shown: str, number: int) -> Any:
    try:
        return attribute.cell(text)
    except ValueError:
        wanted = "a number" if attribute.kind == "number" else "one of its values"
        _fail(shown, number, f"{text[:40]} is not {wanted} (attribute {attribute.name})")


def _cells(text: str) -> list[str]:
    """The cells of a line, quotation marks and all, without the blanks around them."""
    if "'" not in text and '"' not in text:
        return [cell.strip() for cell in text.split(",")]
    cells: list[str] = []
    place = 0
    while True:
        match = _CELL.match(text, place)
        if match is None:  # a quotation mark that is not closed
            return [*cells, text[place:]]
        cells.append(match.group(1))
        if not match.group(2):
            return cells
        place = match.end()


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _fail(shown: str, line: int, what: str) -> NoReturn:
    msg = f"{shown}: line {line}: {what}: correct the line, or copy the file again"
    raise TableError(msg)
