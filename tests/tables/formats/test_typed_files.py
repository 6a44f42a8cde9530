"""Parquet and JSON."""

from __future__ import annotations

import csv
import gzip
import json

import duckdb
import numpy as np
import pandas as pd
import pytest

from rosenblatt.tables.output import TableWriter
from rosenblatt.tables.table import TableError, read_table
from table_contents import as_list, contents, refusal

pytestmark = pytest.mark.usefixtures("nothing_left_behind")

PARQUET = """
    SELECT unnest([1, 2, NULL])::TINYINT AS small, unnest(['1.5', 'NaN', NULL])::DOUBLE AS x,
        unnest([0.25, 1, 2])::DECIMAL(9, 3) AS price,
        170141183460469231731687303715884105727::HUGEINT AS huge,
        unnest([true, false, NULL]) AS flag, unnest([' a ', 'NA', '01']) AS word,
        unnest(['1', '2', '3']) AS digits,
        unnest([DATE '2024-03-01', NULL, DATE '1900-01-01']) AS day,
        TIMESTAMPTZ '2024-03-01 12:00:00+02' AS moment, TIME '12:30:00' AS hour,
        {'a': 1} AS nested, [1, 2] AS list, 'ab'::BLOB AS bytes,
        uuid() AS id, 'x'::ENUM ('x', 'y') AS choice
"""


@pytest.mark.parametrize("name", ["t.parquet", "t.pq", "t", "t.csv"])
def test_parquet(tmp_path, name):
    path = tmp_path / name
    duckdb.connect().execute(f"SET TimeZone = 'UTC'; COPY ({PARQUET}) TO '{path}' (FORMAT parquet)")
    with read_table(path) as table:
        kinds = dict.fromkeys(["small", "x", "price", "huge"], "number")
        kinds |= dict.fromkeys(["flag", "word", "digits", "hour", "id", "choice"], "text")
        assert table.kinds == kinds | {"day": "date", "moment": "date"}
        assert table.has_header
        assert as_list(table["small"]) == [1, 2, None]
        assert as_list(table["x"]) == [1.5, None, None]
        assert table["price"].tolist() == [0.25, 1, 2]
        assert table["huge"].tolist() == [2.0**127] * 3
        assert table["flag"].tolist() == ["true", "false", None]
        assert table["word"].tolist() == ["a", None, "01"]
        assert table["digits"].tolist() == ["1", "2", "3"]
        assert np.isnat(table["day"]).tolist() == [False, True, False]
        assert table["moment"][0] == np.datetime64("2024-03-01T10:00")
        assert table["hour"].tolist() == ["12:30:00"] * 3
        left_out = "are left out: they hold nested or binary values."
        assert table.notes == (f"Columns 'nested', 'list', 'bytes' {left_out}",)
        part = table.read_as({"digits": "number", "small": "text", "day": "text"})
        assert part["digits"].tolist() == [1, 2, 3]
        assert part["small"].tolist() == ["1", "2", None]
        with pytest.raises(TableError, match="data row 1 holds 'a'"):
            table.read_as({"word": "number"})


def test_parquet_names_that_differ_only_in_case(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"a": [1.0, 2.0], "A": [3.0, 4.0], "s": [{"a": 1}, {"a": 2}], "b": ["x", "y"]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "t.parquet")
    assert contents(tmp_path / "t.parquet") == {"a": [1, 2], "A": [3, 4], "b": ["x", "y"]}


@pytest.mark.parametrize("name", ["t.json", "t.jsonl", "t.ndjson", "t.data", "t.jsonl.gz"])
@pytest.mark.parametrize("as_lines", [True, False])
def test_json(tmp_path, name, as_lines):
    records = [
        {"x": 1, "word": " a ", "flag": True, "day": "2024-03-01", "mixed": 1, "deep": {"a": 1}},
        {"x": 2.5, "word": "NA", "flag": None, "day": None, "mixed": "NA", "deep": None},
        {"x": None, "word": "b", "flag": False, "day": "2024-03-02", "late": "z"},
    ]
    text = "\n".join(map(json.dumps, records)) if as_lines else json.dumps(records, indent=1)
    data = text.encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    with read_table(path) as table:
        kinds = {"x": "number", "word": "text", "flag": "text", "day": "date", "mixed": "number"}
        assert table.kinds == kinds | {"late": "text"}
        assert as_list(table["x"]) == [1, 2.5, None]
        assert table["word"].tolist() == ["a", None, "b"]
        assert table["flag"].tolist() == ["true", None, "false"]
        assert as_list(table["mixed"]) == [1, None, None]
        assert table["late"].tolist() == [None, None, "z"]
        assert table.notes == ("Column 'deep' is left out: it holds nested or binary values.",)


WORDS = {
    "iso": (["2024-03-01", "NA", "2024-03-02 12:30:00", " 2024-03-01T12:00:00+02:00 "], "date"),
    "dots": (["31.12.2024", "none", "1.2.2024", "-"], "date"),
    "slashes": (["12/31/2024", "1/2/2024", "?", ""], "date"),
    "unclear": (["04-03-2024", "05-03-2024", "06-03-2024", "07-03-2024"], "text"),
    "sport": (["none", "ball", "None", "-"], "text"),
    "digits": (["1", "2", "none", "3"], "text"),
    "mixed": (["2024-03-01", "soon", None, "later"], "text"),
    "late": ([*["2024-03-01"] * 3, "2024-02-30"], "text"),
}


@pytest.mark.parametrize("name", ["t.parquet", "t.jsonl", "t.csv"])
@pytest.mark.parametrize("n_copies", [1, 3000])
def test_dates_in_text_are_dates_in_every_format(tmp_path, name, n_copies):
    path = tmp_path / name
    columns = {column: cells * n_copies for column, (cells, _) in WORDS.items()}
    if name == "t.csv":
        del columns["digits"]  # without types they are numbers
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    if name == "t.parquet":
        with TableWriter(path, dict.fromkeys(columns, "text")) as out:
            out.write({column: np.array(c, dtype=object) for column, c in columns.items()})
    elif name == "t.jsonl":
        path.write_text("\n".join(map(json.dumps, rows)))
    else:
        with path.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(columns))
            writer.writeheader()
            writer.writerows(rows)
    with read_table(path) as table:
        assert table.kinds == {column: WORDS[column][1] for column in columns}
        moments = ["2024-03-01", "NaT", "2024-03-02T12:30", "2024-03-01T10:00"]
        expected = np.array(moments * n_copies, dtype="datetime64[us]")
        np.testing.assert_array_equal(table["iso"], expected)
        assert table["slashes"][0] == table["dots"][0] == np.datetime64("2024-12-31")
        assert table["sport"][:4].tolist() == ["none", "ball", "None", "-"]
        assert len(table.notes) == 3


@pytest.mark.parametrize("index", [None, ["r1", "r2", "r3", "r4"]])
@pytest.mark.parametrize("orient", ["columns", "index", "split", "table", "values"])
def test_json_as_pandas_writes_it(tmp_path, orient, index):
    columns = {"x": [1.5, None, 3.0, 4.0], "word": ["a", "b", "ü", "b"]}
    path = tmp_path / "t.json"
    pd.DataFrame(columns, index=index).to_json(path, orient=orient)
    with read_table(path) as table:
        names = ("column1", "column2") if orient == "values" else ("x", "word")
        assert table.names == names
        assert table.has_header is (orient != "values")
        assert as_list(table[names[0]]) == columns["x"]
        assert table[names[1]].tolist() == columns["word"]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('{"x": [1, 2], "w": ["a", "b"]}', 2),
        ('{"count": 2, "rows": [{"x": 1}, {"x": 2}]}', 2),
        ('{"schema": {"primaryKey": 3}, "rows": [{"x": 1}, {"x": 2}]}', 2),
        ('{"x": {"0": NaN, "1": 2}}', 2),
        ('{"x": 1, "deep": {"y": 2}}\n{"x": 3, "deep": null}', 2),
        ('{\n"x": 1\n}', 1),
    ],
)
def test_json_in_other_layouts(tmp_path, text, rows):
    path = tmp_path / "t.json"
    path.write_text(text)
    with read_table(path) as table:
        assert (table.n_rows, table.names[0], table.kinds["x"]) == (rows, "x", "number")


def test_json_types_that_change_after_many_rows(tmp_path):
    records = [{"x": i} for i in range(30_000)] + [{"x": "many"}]
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    with read_table(path) as table:
        assert table.kinds == {"x": "number"}
        np.testing.assert_array_equal(table["x"][[0, -2, -1]], [0, 29_999, np.nan])
        assert "'many' in data row 30001" in table.notes[0]
        assert table.read_as({"x": "text"})["x"][[0, -1]].tolist() == ["0", "many"]


def test_infinity_in_parquet(tmp_path):
    duckdb.connect().execute(
        f"COPY (SELECT unnest(['1', 'inf'])::DOUBLE AS x) TO '{tmp_path / 't.parquet'}'"
    )
    assert "column 'x' holds inf in data row 2" in refusal(tmp_path / "t.parquet")
