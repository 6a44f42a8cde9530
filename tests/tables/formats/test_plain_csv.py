"""Plain lines read straight into columns: as Python reads them, and as the database does."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from rosenblatt.tables import loops
from rosenblatt.tables.cells import (
    WHITE_SPACE,
    is_missing,
    is_missing_value,
    is_plain_number,
)
from rosenblatt.tables.formats import csv_files, plain_csv
from rosenblatt.tables.formats.dialects import Dialect
from rosenblatt.tables.formats.plain_csv import Lines, NotPlainError, read_columns
from rosenblatt.tables.table import TableError, read_table
from rosenblatt.tables.texts import Texts


def as_numbers(texts):
    """What the loop makes of each of these cells, None if it is no plain number."""
    n = len(texts)
    data = np.frombuffer("|".join([*texts, ""])[:-1].encode() + b"\n", dtype=np.uint8)
    layout = loops.Layout(ord("|"), -1, np.arange(n))
    numbers, codes, odd = np.empty((n, 1)), np.empty((0, 1), np.int32), np.zeros(n, np.bool_)
    words, markers = plain_csv.room_for(1, 0), plain_csv.MARKER_ROWS
    answer = loops.scan(data, layout, markers, numbers, codes, words, odd, 0, 1)
    assert answer == (1, loops.GOOD)
    return [None if odd[k] or np.isnan(numbers[k, 0]) else float(numbers[k, 0]) for k in range(n)]


def test_numbers_are_the_nearest_floats():
    rng = np.random.default_rng(3)
    bits = rng.integers(0, 2**63, 3000, dtype=np.uint64)
    numbers = [x for x in bits.view(np.float64).tolist() if np.isfinite(x) and x > 1e-300]
    texts = list(map(repr, numbers + rng.random(1000).tolist()))
    texts += [f"{m}e{p}" for m, p in zip(bits.tolist(), rng.integers(-290, 280, 3000), strict=True)]
    texts += [f"-{m % 10**9}.{m % 10**7:07}" for m in bits[:500].tolist()]
    assert as_numbers(texts) == list(map(float, texts))


def test_numbers_halfway_between_two_floats_go_to_the_even_one():
    rng = np.random.default_rng(4)
    halves = rng.integers(2**52, 2**53, 300).tolist()
    texts = [str(2 * m + 1) for m in halves] + [f"{m}.5" for m in halves]
    assert as_numbers(texts) == list(map(float, texts))
    assert as_numbers(["9007199254740993"]) == [9007199254740992.0]


def test_plain_numbers_are_those_that_python_takes_for_plain():
    texts = ["5", "5.", ".5", "+5", "-0", "0", "0.0", "00", "01", "-01", "1e5", "1E+5", "1e", "1e-"]
    texts += ["e5", ".", "-", "+-5", "1_000", "1,5", "0x10", "inf", "", "1 2", "1.2.3", "1e5.0"]
    texts += ["--1", "nan", "1e0005", " 7", "7 ", "\t7"]
    expected = [float(text) if is_plain_number(text.strip()) else None for text in texts]
    assert repr(as_numbers(texts)) == repr(expected)  # -0.0 is not 0.0


def test_what_is_not_certain_is_not_taken_for_a_number():
    texts = ["1e400", "-1e309", "1e-320", "1" * 25, "0." + "1234567890" * 3]
    assert as_numbers(texts) == [None] * len(texts)


def naive(text, dialect, roles):
    """The columns by Python's csv module, a cell at a time."""
    records = list(
        csv.reader(io.StringIO(text, newline=""), delimiter=dialect.delimiter, quotechar='"')
    )
    columns = {}
    for j, role in enumerate(roles):
        cells = [record[j].strip(WHITE_SPACE) for record in records if record]
        if role == "number" and all(is_missing_value(c) or is_plain_number(c) for c in cells):
            columns[j] = [float("nan") if is_missing_value(c) else float(c) for c in cells]
        elif role:
            columns[j] = [None if is_missing(c) else c for c in cells]
    return columns


CELLS = ["1", "-2.5", "1e3", "", " 7 ", "NA", "-", "none"]
WORDS = [*CELLS, "word", '"a, b"', '"3"', "\t4\t", "é", "\u3000x"]


@pytest.mark.parametrize("block", [1, 37, 1 << 22])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_columns_are_those_of_the_naive_reader(file, monkeypatch, block, end):
    monkeypatch.setattr(plain_csv, "BLOCK_BYTES", block)
    monkeypatch.setattr(plain_csv, "FEW_WORDS", 2)
    rng = np.random.default_rng(block)
    for n_rows in (1, 2, 30):
        rows = [
            [str(rng.integers(-99, 99)), rng.choice(CELLS), rng.choice(WORDS), f"w{row}"]
            for row in range(n_rows)
        ]
        text = end.join(",".join(row) for row in rows) + end * int(rng.integers(0, 3))
        path = file(text)
        roles = ["number", "number", "text", "text"]
        for kept in (True, False):
            n_found, found = read_columns(Lines.of(path, kept=kept), Dialect(","), roles)
            assert n_found == n_rows
            for j, cells in naive(text, Dialect(","), roles).items():
                column = found[j]
                here = column.texts() if isinstance(column, Texts) else column
                np.testing.assert_array_equal(here, np.array(cells, dtype=here.dtype))


def test_a_block_may_begin_with_an_empty_cell(file):
    lines = Lines.of(file(",1\n,2\n"), kept=True)
    for role in ("number", "text"):
        n_rows, found = read_columns(lines, Dialect(","), [role, "number"])
        assert (n_rows, found[1].tolist()) == (2, [1.0, 2.0])


def test_texts_do_not_depend_on_the_blocks(file, monkeypatch):
    path = file("".join(f"{k % 7},{k % 5}\n" for k in range(100)))
    found = []
    for block in (1 << 22, 10):
        monkeypatch.setattr(plain_csv, "BLOCK_BYTES", block)
        found.append(read_columns(Lines.of(path, kept=False), Dialect(","), ["text", ""])[1][0])
    assert found[0].values.tolist() == found[1].values.tolist() == list("0123456")
    assert found[0].codes.tolist() == found[1].codes.tolist()


@pytest.mark.parametrize(
    "text",
    ["1,2\n3\n", "1,2\n3,4,5\n", '1,"a\nb"\n', '1,"a""b"\n', '1,a"b"\n', '1, "b"\n', '1,"b" \n',
     '1,"b', "1,2\n\n3,4\n1,2\n3,4\n1,2\n3,4\n", "1,2\r3,4\r", "1,2\x00\n", "1,2\n   \n", "1,2\n3"],
)  # fmt: skip
def test_lines_that_are_not_plain(file, monkeypatch, text):
    monkeypatch.setattr(plain_csv, "BLOCK_BYTES", 8)
    with pytest.raises(NotPlainError):
        read_columns(Lines.of(file(text), kept=True), Dialect(","), ["text", "text"])


def test_a_file_that_shrinks_while_it_is_read(file):
    path = file("1,2\n" * 100)
    lines = Lines.of(path, kept=False)
    path.write_text("1,2\n")
    with pytest.raises(NotPlainError):
        read_columns(lines, Dialect(","), ["number", "number"])


TABLES = {
    "mixed": "id,x,when,class\n1,1.50,2024-01-31,a\n2,NA,2024-02-01,b\n3,-3e2,,a\n",
    "codes": "zip,n\n01234,1\n00007,2\n",
    "commas": "a;b\n1,5;x\n2,25;y\n;z\n",
    "day first": "a,d\n1,31.12.2024\n2,01.02.2024\n",
    "month first": "a,d\n1,12/31/2024\n2,01/02/2024\n",
    "dashes": "a,b\n1,-\n-,2\nnone,3\n",
    "nothing": "a,b\n1,\n2,NA\n",
    "times": "a,b\n1,2024-01-31T10:00:00+02:00\n2,2024-01-31 10:00\n",
    "blanks": "a,b\n 1 ,\u00a0x\n\t2,x \n",
    "no header": "1,2,a\n3,4,b\n5,6,a\n",
    "quoted": '"a","b"\n"1","x"\n"2.50","y, z"\n',
    "byte order mark": "\ufeffa,b\n1,x\n2,y\n",
    "comment": "# made by hand\na,b\n1,x\n2,y\n",
    "strange numbers": "a,b\n1_000,+-5\n2,3\n",
    "truth": "a,b\nTrue,1\nFalse,2\n",
    "thousands": 'a,b,c\n"1,234",$5,x\n"12,345,678",-$6.50,y\n',
    "points or commas": "a;b;c\n1.234;1,5;7%\n2;2,25;8 %\n",
    "one bad cell": "a,b\n" + "".join(f"{k},{k}.5\n" for k in range(40)) + "oops,7\noops,8\n",
    "perhaps thousands": "a,b\n361,1\n28.246,2\n-7,3\n",
    "times of day": "a,b\n08:30,1\n9:15 pm,2\n",
    "long": "a,b\n" + "".join(f"{k}.5,{k}{k}e-7\n" for k in range(1500)) + "word,7\n",
}


def everything(path):
    """All that a table tells of itself, as each kind."""
    with read_table(path) as table:
        told = [table.names, table.kinds, table.notes, table.has_header, table.n_rows]
        told += [{name: table[name].tolist() for name in table}]
        told += [{n: v.tolist() for n, v in table.chunk(1, 3).items()}]
        for name in table:
            for kind in ("number", "date", "text"):
                try:
                    told.append(table.read_as({name: kind})[name].tolist())
                except TableError as error:
                    told.append(str(error))
    return told


@pytest.mark.parametrize("name", TABLES)
def test_tables_in_memory_are_those_in_the_database(file, monkeypatch, name):
    path = file(TABLES[name])
    in_memory = everything(path)
    monkeypatch.setattr(csv_files, "can_be_plain", lambda *_: False)
    assert repr(everything(path)) == repr(in_memory)


@pytest.mark.parametrize("cell", ["inf", "-Infinity", "1e999"])
def test_infinite_numbers_are_refused_with_their_row(file, monkeypatch, cell):
    path = file(f"a,b\n1,x\n2,x\n1,x\n{cell},x\n{cell},x\n")
    errors = []
    for plain in (True, False):
        monkeypatch.setattr(csv_files, "can_be_plain", lambda *_, plain=plain: plain)
        with pytest.raises(TableError, match="data row 4") as refused:
            read_table(path)
        errors.append(str(refused.value))
    assert errors[0] == errors[1]


def test_columns_have_texts_as_codes(file):
    path = file("n,t,d\n1,b,2024-01-01\n,,\n3,b,2024-01-02\n4,a,\n")
    with read_table(path) as table:
        columns = table.columns()
        assert list(columns) == ["n", "t", "d"]
        assert columns["t"].values.tolist() == ["b", "a"]
        assert columns["t"].codes.tolist() == [0, -1, 0, 1]
        assert list(table.columns(["d"])) == ["d"]
        for name in ("n", "d"):
            np.testing.assert_array_equal(columns[name], table[name])
        table["n"][0] = 5  # an array of its own
        assert table.columns()["n"][0] == 1
        with pytest.raises(TableError, match="no column 'x'"):
            table.columns(["x"])
    with pytest.raises(TableError, match="closed"):
        table.columns()


def test_numbers_of_a_small_file_keep_their_text_even_if_the_file_is_gone(file):
    path = file("a,b\n1.50,x\n2.00,y\nNA,z\n")
    with read_table(path) as table:
        path.unlink()
        assert table.read_as({"a": "text"})["a"].tolist() == ["1.50", "2.00", None]
