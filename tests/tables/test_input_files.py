"""Files that are packed, or are no tables, each refused in one line."""

from __future__ import annotations

import bz2
import errno
import gzip
import lzma
import os
import zipfile
from pathlib import Path

import duckdb
import pytest

from rosenblatt.tables import input_files
from table_contents import contents, refusal

pytestmark = pytest.mark.usefixtures("nothing_left_behind")

PACKERS = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": input_files.zstd.compress,
}


@pytest.mark.parametrize("suffix", PACKERS)
def test_packed_files(file, suffix):
    text = b"a,b\n1,x\n2,y\n"
    assert contents(file(PACKERS[suffix](text), f"t.csv{suffix}")) == {"a": [1, 2], "b": ["x", "y"]}


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_packed_in_several_parts(file, suffix):
    pack = PACKERS[suffix]
    path = file(pack(b"a,b\n1,2\n") + pack(b"3,4\n"), f"t.csv{suffix}")
    assert contents(path) == {"a": [1, 3], "b": [2, 4]}


@pytest.mark.parametrize("suffix", PACKERS)
def test_packed_files_may_be_in_any_encoding(file, suffix):
    path = file(PACKERS[suffix]("a,b\n1,caf\u00e9\n2,y\n".encode("latin-1")), f"t.csv{suffix}")
    assert contents(path) == {"a": [1, 2], "b": ["caf\u00e9", "y"]}


def test_no_such_file(file, tmp_path):
    near = file("a\n1\n", "measurements.csv")
    message = refusal(tmp_path / "measurement.csv")
    assert message.endswith(f"did you mean {near}?")
    assert "there is no file" in refusal(tmp_path / "zzz")
    assert "there is no folder" in refusal(tmp_path / "no" / "where.csv")
    assert "there is no folder" in refusal(near / "below.csv")
    assert "cannot be read" in refusal("x" * 5000)
    assert "cannot be the name of a file" in refusal("a\0b")
    assert refusal("") == "'' cannot be the name of a file"


@pytest.mark.parametrize("address", ["http://x.org/t.csv", "https://x.org/a", "s3://b/t.parquet"])
def test_addresses_are_not_fetched(address):
    assert (
        refusal(address) == f"{address} is an address: download the file first, then give its name"
    )


def test_a_folder_and_a_forbidden_file(file, tmp_path, monkeypatch):
    assert refusal(tmp_path).endswith(
        "is a folder: give the name of a file in it, or a folder of Parquet files"
    )
    path = file("a\n1\n")

    def forbidden(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", forbidden)
    assert "may not be read" in refusal(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (gzip.compress(b"", mtime=0), "is empty inside"),
        (b"\n\n  \n", "nothing but blank lines"),
        (b"\xef\xbb\xbf", "nothing but blank lines"),
        (b"a,b\n", "only a header and no rows"),
        (b"a,b\n\n\n", "only a header and no rows"),
        (b"a,b\n", "if its first line is data, use --no-header (header=False in Python)"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "is a PNG picture"),
        (b"%PDF-1.7\n\x00", "is a PDF document"),
        (bytes(range(256)) * 9, "is a binary file"),
        (b"<!DOCTYPE html>\n<html></html>", "is a web page"),
        (b"% c\n@RELATION iris\n@DATA\n1,2\n", "is an ARFF file"),
        (gzip.compress(b"a,b\n" + os.urandom(9999).hex().encode())[:3000], "damaged or breaks off"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:-6], "damaged or breaks off"),
        (bz2.compress(b"a,b\n1,2\n" * 999)[:-9], "damaged or breaks off"),
        (lzma.compress(b"a,b\n1,2\n" * 999)[:-9], "damaged or breaks off"),
        (b"PAR1" + b"\x15\x04" * 99, "is a damaged Parquet file or breaks off"),
        (b"-1 3:1 11:1 14:1\n+1 5:1 7:x\n", "is a damaged svmlight file or breaks off"),
        (b'{"a": 1}\n{"a": \n', "is not valid JSON"),
        (b'[{"a": 1}, {"a"', "is not valid JSON"),
        (b'{"a": [1, 2], "b": {"c": 1}}', "no column of numbers, dates or text"),
        (b"[]", "holds no rows"),
        (b"a,b,c\n1,2,3\n4,5\n6,7,8\n", "line 3 has 2 fields, but the table has 3 columns"),
        (b"a\tb\tc\n1\t2\t3\n4\n6\t7\t8\n", "line 3 has 1 field, but the table has 3 columns"),
        (b"a,b\n1,2\n3,4\n5,6,7\n", "give the right --delimiter (delimiter= in Python"),
        (b"a,b\n1,2\n3,4\n5,6,7\n", "line 4 has 3 fields, but the table has 2 columns"),
        (b'a,b\n"1\nx",2\n3\n', "line 4 has 1 field, but the table has 2 columns"),
        (b"My report\na,b,c\n1,2,3\n4,5,6\n", "line 1 has 1 field, but the table has 3 columns"),
    ],
)
def test_what_is_no_table(file, content, words):
    path = file(content, "t")
    message = refusal(path)
    assert words in message
    assert message.startswith(str(path))


def test_a_ragged_line_far_down(file):
    lines = [f"{i},{i},{i}" for i in range(50_000)]
    lines[41_233] = "1,2"
    message = refusal(file("\n".join(lines)))
    assert "line 41234 has 2 fields, but the table has 3 columns" in message


def test_archives_and_workbooks(tmp_path):
    for inside, words in [
        ("x.npy", "is a damaged NumPy file or breaks off"),
        ("schema.json", "is a rosenblatt model"),
    ]:
        with zipfile.ZipFile(tmp_path / "t", "w") as archive:
            archive.writestr(inside, "x")
        assert words in refusal(tmp_path / "t")


def test_truncated_and_mislabelled_parquet(tmp_path, file):
    path = tmp_path / "t.parquet"
    duckdb.connect().execute(f"COPY (SELECT range AS a FROM range(9999)) TO '{path}'")
    path.write_bytes(path.read_bytes()[:-100])
    assert "is a damaged Parquet file or breaks off" in refusal(path)
    assert "is named like Parquet but is none" in refusal(file("a,b\n1,2\n", "t.parquet"))


def test_truncated_zstd(tmp_path):
    path = tmp_path / "t.csv.zst"
    sql = f"COPY (SELECT random() a FROM range(9999)) TO '{path}' (COMPRESSION zstd)"
    duckdb.connect().execute(sql)
    path.write_bytes(path.read_bytes()[:-1000])
    assert "is damaged or breaks off" in refusal(path)


def test_options_that_make_no_sense(file):
    assert "give one character" in refusal(file("a\n1\n"), delimiter="ab")
    assert "give one character" in refusal(file("a\n1\n"), delimiter="")
    assert "give one character" in refusal(file("a\n1\n"), delimiter='"')
