"""Every format gives the same table, and says in one line what is wrong with a broken file."""

from __future__ import annotations

import datetime as dt
import gzip
import io
import sqlite3
import sys
import zipfile

import duckdb
import numpy as np
import pytest

from rosenblatt.tables.formats.recognition import FORMATS
from rosenblatt.tables.table import read_table
from table_contents import as_list, contents, refusal
from workbook_files import write_workbook

pytestmark = pytest.mark.usefixtures("nothing_left_behind")

ROWS = [(1.5, "red", "yes"), (-2.0, None, "no"), (None, "blue", "yes")]
NAMES = ["size", "colour", "kind"]
WANTED = {name: [row[j] for row in ROWS] for j, name in enumerate(NAMES)}


def as_csv(path):
    cells = [",".join("" if cell is None else str(cell) for cell in row) for row in ROWS]
    path.write_text("\n".join([",".join(NAMES), *cells]) + "\n")


def as_zip(path):
    inside = path.with_name("inside.csv")
    as_csv(inside)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(inside, "folder/t.csv")
        archive.writestr("__MACOSX/folder/._t.csv", "junk")
    inside.unlink()


def as_parquet(path):
    copied(path, "FORMAT parquet")


def as_json(path):
    copied(path, f"FORMAT json, ARRAY {str(path.suffix == '.json').lower()}")


def copied(path, how):
    with duckdb.connect() as connection:
        fill(connection)
        connection.execute(f"COPY t TO '{path}' ({how})")


def fill(connection):
    connection.execute("CREATE TABLE t (size DOUBLE, colour VARCHAR, kind VARCHAR)")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", ROWS)


def as_arrow(path):
    pyarrow = pytest.importorskip("pyarrow", reason="needs rosenblatt[arrow]")
    table = pyarrow.table(WANTED)
    table = table.set_column(1, "colour", table["colour"].dictionary_encode())
    make = pyarrow.ipc.new_stream if path.suffix == ".arrows" else pyarrow.ipc.new_file
    with make(path, table.schema) as out:
        out.write_table(table)


def as_npy(path):
    dtype = [("size", ">f8"), ("colour", "U4"), ("kind", "S3")]
    np.save(path, np.array([(np.nan if a is None else a, b or "", c) for a, b, c in ROWS], dtype))


def as_npz(path):
    np.savez(
        path,
        kind=np.array(WANTED["kind"]),
        size=np.array(WANTED["size"], dtype=float),
        colour=np.array([c or "" for c in WANTED["colour"]]),
    )


def as_arff(path):
    path.write_text(
        "% a comment\n@RELATION t\n@attribute size NUMERIC\n@Attribute 'colour' {red, 'blue'}\n"
        "@attribute kind {yes,no}\n@data\n1.5,'red', yes\n% c\n-2,?,no\n?, blue,\"yes\"\n"
    )


def as_keel(path):
    path.write_text(
        "@relation t\n@attribute kind {yes, no}\n@attribute size real [-2.0, 1.5]\n"
        "@attribute colour {red,blue}\n@inputs size, colour\n@outputs kind\n@data\n"
        "yes, 1.5, red\nno, -2.0, <null>\nyes, <null>, blue\n"
    )


def as_workbook(path):
    pytest.importorskip("python_calamine", reason="needs rosenblatt[excel]")
    write_workbook(path, {"sheet": [NAMES, *ROWS]})


def as_sqlite(path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (size, colour, kind)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", ROWS)
    connection.close()


def as_duckdb(path):
    with duckdb.connect(str(path)) as connection:
        fill(connection)


WRITERS = {
    "t.csv": as_csv,
    "t.zip": as_zip,
    "t.parquet": as_parquet,
    "t.json": as_json,
    "t.jsonl": as_json,
    "t.arrow": as_arrow,
    "t.arrows": as_arrow,
    "t.npy": as_npy,
    "t.npz": as_npz,
    "t.arff": as_arff,
    "keel.arff": as_keel,
    "t.xlsx": as_workbook,
    "t.sqlite": as_sqlite,
    "t.duckdb": as_duckdb,
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_table(tmp_path, name):
    WRITERS[name](tmp_path / name)
    found = contents(tmp_path / name)
    assert found == WANTED
    assert list(found)[-1] == "kind" or name == "t.npz"
    if name == "t.zip":
        return
    packed = tmp_path / "without-a-suffix.gz"
    packed.write_bytes(gzip.compress((tmp_path / name).read_bytes()))
    assert contents(packed) == WANTED


@pytest.mark.parametrize("name", WRITERS)
def test_what_breaks_off_is_refused_in_one_line_and_left_as_it_is(tmp_path, name):
    path = tmp_path / name
    WRITERS[name](path)
    whole = path.read_bytes()
    text = {
        ".csv": whole + b",b,c,d",
        ".arff": whole[: whole.rfind(b",")],
        ".jsonl": whole[: whole.rfind(b"blue")],
    }
    halves = [whole[: len(whole) // 2], whole[:40]]
    for broken in [text[path.suffix]] if path.suffix in text else halves:
        path.write_bytes(broken)
        before = sorted(tmp_path.iterdir())
        message = refusal(path)
        assert str(path) in message
        assert ":" in message.removeprefix(str(path))
        assert path.read_bytes() == broken
        assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("known", FORMATS[2:], ids=lambda known: known.suffixes[0])
def test_a_suffix_that_lies(tmp_path, known):
    path = tmp_path / f"t{known.suffixes[0]}"
    path.write_text("a,b\n1,x\n2,y\n")
    if known.suffixes[0] in (".svm", ".arff"):
        assert "svmlight" in refusal(path) or "line 1" in refusal(path)
    else:
        assert f"is named like {known.name} but is none" in refusal(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"<stata_dta><header>", "a Stata file: write the table as CSV or Parquet first"),
        (b"$FL2@(#) SPSS DATA FILE" + bytes(99), "an SPSS file: write the table"),
        (b"\x80\x04\x95\x00", "a Python pickle, which could run code"),
    ],
)
def test_formats_that_are_only_named(file, content, words):
    assert words in refusal(file(content, "t.bin"))


def test_missing_packages_are_named_with_what_installs_them(tmp_path, monkeypatch):
    as_arrow(tmp_path / "t.arrow")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    message = refusal(tmp_path / "t.arrow")
    assert message.endswith('takes pyarrow to be read: pip install "rosenblatt[arrow]"')


@pytest.mark.parametrize("suffix", [".arrow", ".arrows", ".feather"])
def test_arrow_files_whose_cells_lie_outside(tmp_path, suffix):
    pyarrow = pytest.importorskip("pyarrow", reason="needs rosenblatt[arrow]")
    path = tmp_path / f"t{suffix}"
    table = pyarrow.table({"x": [1, 2, 3], "word": ["ab", "", "abcd"]})
    make = pyarrow.ipc.new_stream if suffix == ".arrows" else pyarrow.ipc.new_file
    with make(path, table.schema) as out:
        out.write_table(table)
    whole, places = path.read_bytes(), np.array([0, 2, 2, 6], dtype="<i4")
    assert places.tobytes() in whole
    far = np.array([0, 2, 1 << 30, 1 << 30], dtype="<i4")
    path.write_bytes(whole.replace(places.tobytes(), far.tobytes()))
    assert "is a damaged Arrow file" in refusal(path)


def test_names_in_arrow_files_that_are_no_text(tmp_path):
    as_arrow(tmp_path / "t.arrows")
    whole = (tmp_path / "t.arrows").read_bytes()
    (tmp_path / "t.arrows").write_bytes(whole.replace(b"colour", b"\xc8olour"))
    assert "is a damaged Arrow file" in refusal(tmp_path / "t.arrows")


def test_headers_of_arrays_that_are_no_python(tmp_path):
    as_npy(tmp_path / "t.npy")
    whole = (tmp_path / "t.npy").read_bytes()
    for wrong in (whole.replace(b"}", b"{", 1), whole.replace(b"descr", b"descs")):
        (tmp_path / "t.npy").write_bytes(wrong)
        assert "is a damaged NumPy file" in refusal(tmp_path / "t.npy")


# Zip --------------------------------------------------------------------------------------------


def zipped(path, **files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("_", "."), content)
    return path


def test_zip_archives(tmp_path):
    path = zipped(tmp_path / "t.zip", t_csv="a,b\n1,x\n2,y\n", README_md="# read me")
    with read_table(path) as table:
        assert table.names == ("a", "b")
        assert table.notes == (f"t.csv, the only table in {path}, is read; 1 other file is not.",)
    packed = zipped(tmp_path / "t.zip", t_csv_gz=gzip.compress(b"a,b\n1,x\n2,y\n"))
    assert contents(packed) == {"a": [1, 2], "b": ["x", "y"]}
    two = zipped(tmp_path / "t.zip", t_csv="a\n1\n", u_csv="a\n1\n")
    assert "is a zip archive of 2 tables (t.csv, u.csv): unpack it" in refusal(two)
    none = zipped(tmp_path / "t.zip", a_md="x", b_md="y")
    assert "2 files, none named as a table" in refusal(none)
    assert "nothing in it" in refusal(zipped(tmp_path / "t.zip"))
    inner = zipped(tmp_path / "inner.zip", t_csv="a\n1\n").read_bytes()
    assert "holds another zip archive" in refusal(zipped(tmp_path / "t.zip", inner_zip=inner))
    assert "is empty inside" in refusal(zipped(tmp_path / "t.zip", t_csv=""))


def test_a_zip_archive_with_a_password(tmp_path):
    path = zipped(tmp_path / "t.zip", t_csv="a,b\n1,x\n2,y\n")
    content = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + place] |= 1  # what says that it is encrypted
    path.write_bytes(content)
    assert "needs a password: unpack it first" in refusal(path)


# Arrays -----------------------------------------------------------------------------------------


def test_arrays_of_numbers(tmp_path):
    X = np.arange(12, dtype=np.float32).reshape(4, 3)
    np.save(tmp_path / "x.npy", X)
    with read_table(tmp_path / "x.npy") as table:
        assert table.names == ("column1", "column2", "column3")
        assert not table.has_header
        np.testing.assert_array_equal(np.column_stack(list(table.values())), X)
    np.savez_compressed(tmp_path / "xy.npz", y=np.array([0, 1, 1, 0]), X=np.asfortranarray(X))
    with read_table(tmp_path / "xy.npz") as table:
        assert table.names == ("X1", "X2", "X3", "y")
        np.testing.assert_array_equal(table["X2"], X[:, 1])
        assert table["y"].tolist() == [0, 1, 1, 0]


def test_arrays_longer_than_a_batch(tmp_path, monkeypatch):
    from rosenblatt.tables.formats import array_files

    monkeypatch.setattr(array_files, "_BATCH", 7)
    X = np.random.default_rng(0).normal(size=(50, 3))
    np.save(tmp_path / "x.npy", X)
    with read_table(tmp_path / "x.npy") as table:
        np.testing.assert_array_equal(np.column_stack(list(table.values())), X)


def test_arrays_of_texts_may_hold_numbers(tmp_path):
    np.save(tmp_path / "x.npy", np.array([["1.5", "a"], ["2", "b"]]))
    assert contents(tmp_path / "x.npy") == {"column1": [1.5, 2], "column2": ["a", "b"]}


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.zeros(3), "is an array of shape 3: give a table"),
        (np.zeros((2, 3, 4)), "shape 2x3x4: save it as array.reshape(len(array), -1)"),
        (np.zeros((2, 2), dtype=complex), "holds complex128: save numbers, dates or text"),
        (np.zeros((0, 2)), "holds no rows"),
        (np.array([[1, None]], dtype=object), "holds Python objects, pickled, which could run"),
        (np.array([[1, np.inf]]), "holds inf in data row 1"),
    ],
)
def test_arrays_that_are_no_tables(tmp_path, array, words):
    np.save(tmp_path / "x.npy", array, allow_pickle=True)
    assert words in refusal(tmp_path / "x.npy")


def test_archives_of_arrays_that_do_not_go_together(tmp_path):
    np.savez(tmp_path / "t.npz", x_train=np.zeros((4, 2)), x_test=np.zeros((2, 2)))
    assert "different lengths (x_train: 4, x_test: 2): save those" in refusal(tmp_path / "t.npz")


# ARFF -------------------------------------------------------------------------------------------

HEADER = "@relation t\n@attribute n numeric\n@attribute c {a,b}\n@attribute 's t' string\n@data\n"


def test_sparse_arff_leaves_out_zeros_and_first_values(file):
    path = file(HEADER + "{0 1.5, 2 'x, y'}\n{}\n{1 b,2 \"it's\"}\n{0 ?}\n", "t.arff")
    assert contents(path) == {
        "n": [1.5, 0, 0, None],
        "c": ["a", "a", "b", "a"],
        "s t": ["x, y", None, "it's", None],
    }


def test_quotes_weights_and_dates_in_arff(file):
    header = HEADER.replace("string", 'date "yyyy-MM-dd"')
    path = file(header + "1,'a','2024-01-02', {2}\n2,b,2024-03-04\n", "t")
    with read_table(path) as table:
        assert table.kinds == {"n": "number", "c": "text", "s t": "date"}
    escaped = file(HEADER + "1,a,'it\\'s'\n2\tb\tx\n", "t")
    assert contents(escaped)["s t"] == ["it's", "x"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEADER + "1,a\n", "line 6: 2 cells, but there are 3 attributes"),
        (HEADER + "x,a,b\n", "line 6: x is not a number (attribute n)"),
        (HEADER + "1,z,b\n", "line 6: z is not one of its values (attribute c)"),
        (HEADER + "{7 1}\n", "line 6: a sparse row holds pairs"),
        (HEADER, "holds no rows"),
        (HEADER.replace("@data\n", ""), "without @data: it breaks off"),
        (HEADER.replace("numeric", "colour"), "line 2: 'colour' is no type of an attribute"),
        (HEADER.replace("{a,b}", "{a,b"), "line 3: the values of an attribute end without }"),
    ],
)
def test_what_is_wrong_in_arff(file, text, words):
    assert words in refusal(file(text, "t.arff"))


# Workbooks --------------------------------------------------------------------------------------


def test_sheets_are_chosen_by_name(tmp_path):
    pytest.importorskip("python_calamine", reason="needs rosenblatt[excel]")
    days = [dt.datetime(2024, 1, 2), dt.datetime(2024, 1, 3)]
    sheets = {
        "first": [["a", "b"], [1, "x"], [2, "y"]],
        "second one": [["when", "n"], [days[0], 3.5], [days[1], 4]],
        "empty": [],
    }
    path = write_workbook(tmp_path / "t.xlsx", sheets)
    with read_table(path) as table:
        assert table.names == ("a", "b")
        (note,) = table.notes
        assert note.startswith("The workbook has 3 sheets; 'first', the first, is read (--sheet")
    with read_table(path, sheet="second one") as table:
        assert table.kinds == {"when": "date", "n": "number"}
        assert table["when"].tolist() == days
        assert table.notes == ()
    assert "has no sheet 'x': it has 'first', 'second one', 'empty'" in refusal(path, sheet="x")
    assert "is empty: choose another with --sheet" in refusal(path, sheet="empty")


def test_a_title_empty_columns_and_errors_around_a_table(tmp_path):
    pytest.importorskip("python_calamine", reason="needs rosenblatt[excel]")
    rows = [["Sales of the year"], [], [None, "a", None, "b"], [None, 1, None, "x"]]
    rows += [[None, "#DIV/0!", None, "y"], [], [None, 3, None, "z"]]
    with read_table(write_workbook(tmp_path / "t.xlsx", {"s": rows})) as table:
        assert as_list(table["a"]) == [1, None, 3]
        assert table["b"].tolist() == ["x", "y", "z"]
        assert any("have one cell each and are left out" in note for note in table.notes)


def test_numbers_of_a_sheet_are_numbers_beside_texts_with_decimal_commas(tmp_path):
    pytest.importorskip("python_calamine", reason="needs rosenblatt[excel]")
    rows = [["a", "b"], [28.246, "1,5"], [361, "2,5"]]
    path = write_workbook(tmp_path / "t.xlsx", {"s": rows})
    assert contents(path) == {"a": [28.246, 361], "b": [1.5, 2.5]}


def test_a_workbook_with_a_password(tmp_path):
    pytest.importorskip("python_calamine", reason="needs rosenblatt[excel]")
    path = tmp_path / "t.xlsx"
    container = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1000)
    path.write_bytes(container)
    assert "is a damaged workbook or breaks off" in refusal(path)
    path.write_bytes(container + "EncryptedPackage".encode("utf-16-le") + bytes(1000))
    assert "needs a password: save it without one, or save its sheet as CSV" in refusal(path)


def test_options_of_other_formats_are_refused(file, tmp_path):
    path = file("a,b\n1,x\n2,y\n")
    assert "--sheet (sheet= in Python) is for workbooks, not for" in refusal(path, sheet="x")
    assert "--table (table= in Python) is for databases, not for" in refusal(path, table="x")
    assert "name it in the query, and not beside it" in refusal(path, query="SELECT 1")
    assert "both say what to read" in refusal(path, table="t", query="SELECT 1")


def test_standard_input_may_be_any_format(tmp_path, monkeypatch):
    as_sqlite(tmp_path / "t.db")

    class Input:
        buffer = io.BytesIO((tmp_path / "t.db").read_bytes())

    monkeypatch.setattr(sys, "stdin", Input)
    assert contents("-") == WANTED
