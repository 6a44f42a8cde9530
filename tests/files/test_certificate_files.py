"""Certificates as JSON: nothing is lost, nothing damaged is believed, the digest knows its data."""

import json
import shutil
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_matrix, csc_matrix, csr_matrix

import rosenblatt as rb
from rosenblatt.files import certificates as files
from rosenblatt.results import Optimum

XOR = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([-1, 1, 1, -1])
LINE = np.array([[0.0], [1.0], [1.0], [2.0]]), np.array(["a", "a", "b", "b"])
PLANE = np.array([[0.0, 3.0], [2.0, 5.0]]), np.array([0, 1])

CERTIFICATES = {
    "separable": (rb.Separable(rb.Hyperplane([1.0, 0.0], -1.0), 1.0), PLANE),
    "quasi": (
        rb.QuasiSeparable(
            [1, 2], [1.0, 1.0], [1.0], rb.Hyperplane([1.0], -1.0), [1, 2], [1, 2], [1.0, 1.0]
        ),
        LINE,
    ),
    "inseparable": (
        rb.Inseparable(
            [0, 1, 2, 3], [0.5] * 4, [0.5, 0.5], [0, 1, 2, 3], [1.0, 1.0, 1.0, 1.0]
        ),
        XOR,
    ),
    "undecided": (rb.Undecided((-np.inf, 1e-300)), PLANE),
    "widest": (
        Optimum(rb.Hyperplane([0.5, 0.5], -2.5), [0, 1], [0.25, 0.25], None, 0.25, 0.25),
        PLANE,
    ),
    "soft": (
        Optimum(rb.Hyperplane([0.2, 0.2], -1.0), [0, 1], [0.1, 0.1], 0.2, 0.16, 0.16), PLANE
    ),
}  # fmt: skip


def same(one, other):
    """Equal in every part, bit for bit."""
    assert type(one) is type(other)
    for name, value in vars(one).items():
        if name == "problem":  # what it is called is no part of a certificate
            continue
        again = getattr(other, name)
        if isinstance(value, np.ndarray):
            assert value.dtype == again.dtype
            assert value.tobytes() == again.tobytes()
        else:
            assert value == again
            assert type(value) is type(again)


@pytest.mark.parametrize("name", CERTIFICATES)
def test_what_is_saved_comes_back(tmp_path, name):
    certificate, (X, y) = CERTIFICATES[name]
    path = tmp_path / "c.json"
    rb.io.save_certificate(certificate, path, X, y)
    again = rb.io.load_certificate(path)
    same(certificate, again)
    assert bool(rb.certify.check(again, X, y)) == (name != "undecided")
    document = json.loads(path.read_text())
    assert document["rosenblatt"] == rb.__version__
    assert document["digest"] == files.digest(X, y)
    (problem,) = document["problems"]
    if isinstance(certificate, Optimum):
        assert problem["kind"] == "OPTIMUM"
        assert "verdict" not in problem
    else:
        assert problem["verdict"] == certificate.verdict.name
    assert (problem["negative"], problem["positive"]) == tuple(str(c) for c in np.unique(y))


def test_exact_weights_are_there_as_fractions(tmp_path):
    X, y = np.array([[0.0], [3.0], [1.0]]), np.array([0, 0, 1])
    proof = rb.Inseparable([0, 1, 2], [2 / 3, 1 / 3, 1.0], [1.0], [0, 1, 2], [2 / 3, 1 / 3, 1.0])
    rb.io.save_certificate(proof, tmp_path / "c.json", X, y)
    (problem,) = json.loads((tmp_path / "c.json").read_text())["problems"]
    assert problem["exact_weights"] == ["2/3", "1/3", "1"]
    assert problem["weights"] == [repr(2 / 3), repr(1 / 3), "1.0"]


def test_exact_weights_with_very_many_digits_are_left_out(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 6))
    X[20:] += 0.1
    y = np.repeat([0, 1], 20)
    proof = rb.separability(X, y)
    rb.io.save_certificate(proof, tmp_path / "c.json", X, y)
    (problem,) = json.loads((tmp_path / "c.json").read_text())["problems"]
    assert problem["exact_weights"] is None
    same(proof, rb.io.load_certificate(tmp_path / "c.json"))


floats = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(floats, min_size=1, max_size=5), floats, floats)
def test_floats_come_back_bit_for_bit(w, b, margin):
    proof = rb.Separable(rb.Hyperplane(w, b), margin)
    text = json.dumps(files.certificate_as_json(proof))
    same(proof, files.certificate_from_json(json.loads(text)))


@given(st.fractions())
def test_fractions_come_back(value):
    assert files.read_rational(files.written(value)) == value


@pytest.mark.parametrize("digits", [4000, 4400, 100_000])
def test_fractions_of_any_length_come_back(digits):
    value = Fraction(-(10**digits) - 7, 3**digits)
    assert files.read_rational(files.written(value)) == value
    proof = rb.Separable(rb.Hyperplane([1.0], 0.0), 1.0, (value, Fraction(3)))
    same(proof, files.certificate_from_json(files.certificate_as_json(proof)))


@pytest.mark.parametrize(
    "text", ["", "1/0", "1e9", "1E999999999", "nan", "0.5", "1//2", "١", "1/-2", "0x", "3 "]
)
def test_what_is_no_fraction(text):
    with pytest.raises((ValueError, ZeroDivisionError)):
        files.read_rational(text)


def test_several_problems_are_a_tuple(tmp_path):
    problems = [files.certificate_as_json(c) for c, _ in CERTIFICATES.values()]
    files.write_document({"problems": problems}, tmp_path / "c.json")
    found = rb.io.load_certificate(tmp_path / "c.json")
    assert isinstance(found, tuple)
    for one, (other, _) in zip(found, CERTIFICATES.values(), strict=True):
        same(one, other)


# ------------------------------------------------------------------------------------ nonsense


def refused(path, match):
    with pytest.raises(files.CertificateFileError, match=match) as caught:
        rb.io.load_certificate(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_files_that_are_no_certificates(tmp_path):
    path = tmp_path / "c.json"
    for content, match in (
        (b"", "is empty"),
        (b"hello", "is not a certificate file"),
        (b"\xff\xfe\x00{", "is not a certificate file"),
        (b"[1, 2]", "is not a certificate file"),
        (b'{"a": 1}', "is not a certificate file"),
        (b'{"rosenblatt_certificate": "1"}', "is not a certificate file"),
        (b'{"rosenblatt_certificate": 1}', "holds no problems"),
        (b'{"rosenblatt_certificate": 1, "problems": []}', "holds no problems"),
        (b'{"rosenblatt_certificate": 1, "problems": [3]}', "is damaged"),
        (b'{"rosenblatt_certificate": 1, "problems": [{"verdict": "NO"}]}', "is damaged"),
        (b'{"rosenblatt_certificate": 3, "problems": []}', "comes from a rosenblatt newer"),
        (b"[" * 100_000, "is not a certificate file"),
        (b'{"a":' * 100_000, "breaks off or is damaged"),
    ):
        path.write_bytes(content)
        refused(path, match)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        rb.io.load_certificate(tmp_path / "none.json")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        rb.io.load_certificate(tmp_path)


def test_a_model_is_no_certificate(tmp_path):
    X, y = rb.datasets.eight_points()
    rb.io.save(rb.Perceptron().fit(X, y), tmp_path / "m.skops")
    refused(tmp_path / "m.skops", "is not a certificate file")


def test_a_file_that_breaks_off(tmp_path):
    certificate, (X, y) = CERTIFICATES["inseparable"]
    path = tmp_path / "c.json"
    rb.io.save_certificate(certificate, path, X, y)
    whole = path.read_bytes().rstrip()
    for size in range(1, len(whole), 37):
        path.write_bytes(whole[:size])
        refused(path, "breaks off or is damaged")


@pytest.mark.parametrize(
    ("name", "part", "value"),
    [
        ("inseparable", "support", None),
        ("inseparable", "support", [0.0, 1, 2, 3]),
        ("inseparable", "support", [True, 1, 2, 3]),
        ("inseparable", "support", [0, 1, 2, 10**30]),
        ("inseparable", "weights", [0.5, 0.5, 0.5, 0.5]),
        ("inseparable", "weights", "0.5"),
        ("inseparable", "weights", ["half"]),
        ("inseparable", "verdict", "SEPARABLE"),
        ("inseparable", "verdict", ["SEPARABLE"]),
        ("separable", "w", ["nan", "0.0"]),
        ("separable", "w", ["inf", "0.0"]),
        ("separable", "w", [["1.0"]]),
        ("separable", "b", 1.0),
        ("separable", "exact", ["1/0", "1", "1"]),
        ("separable", "exact", ["1e999999999", "1", "1"]),
        ("separable", "exact", 3),
        ("undecided", "bracket", ["0.0"]),
        ("soft", "kind", "BEST"),
        ("soft", "C", 0.2),
        ("soft", "C", "much"),
        ("soft", "primal", None),
        ("soft", "dual", ["0.16"]),
        ("soft", "support", ["0", "1"]),
        ("widest", "multipliers", [0.25, 0.25]),
        ("widest", "b", "inf"),
    ],
)
def test_parts_that_are_not_what_they_should_be(tmp_path, name, part, value):
    certificate, (X, y) = CERTIFICATES[name]
    path = tmp_path / "c.json"
    rb.io.save_certificate(certificate, path, X, y)
    document = json.loads(path.read_text())
    document["problems"][0][part] = value
    path.write_text(json.dumps(document))
    refused(path, "is damaged")
    del document["problems"][0][part]
    path.write_text(json.dumps(document))
    refused(path, "is damaged")


def test_writing_is_whole_or_not_at_all(tmp_path, monkeypatch):
    certificate, (X, y) = CERTIFICATES["separable"]
    path = tmp_path / "c.json"
    path.write_text("old")

    def full(self, text, encoding):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="could not be written: no space left on device"):
        rb.io.save_certificate(certificate, path, X, y)
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["c.json"]
    shutil.rmtree(tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        rb.io.save_certificate(certificate, path, X, y)


# -------------------------------------------------------------------------------------- digest


def data():
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, (30, 4)).astype(float)
    return X, rng.choice(["no", "yes"], 30)


@pytest.mark.parametrize("block", [1, 7, 1 << 22])
def test_the_digest_is_of_the_numbers_however_they_are_stored(monkeypatch, block):
    X, y = data()
    expected = files.digest(X, y)
    monkeypatch.setattr(files, "BLOCK", block)
    sparse = csr_matrix(X)
    long = csr_matrix(X)
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    twice = coo_matrix(
        (np.append(sparse.data, [1.0, -1.0]), (*np.append(sparse.nonzero(), [[3, 3], [2, 2]], 1),))
    )
    zeros = csr_matrix(X + 5)
    zeros.data -= 5
    for other in (
        X.copy("F"), X.astype(np.float32), X.astype(int), X * 1.0 - 0.0, pd.DataFrame(X),
        sparse, long, csc_matrix(X), twice, zeros,
    ):  # fmt: skip
        assert files.digest(other, y) == expected
    assert files.digest(np.where(X == 0, -0.0, X), list(y)) == expected


def test_any_change_changes_the_digest():
    X, y = data()
    seen = {files.digest(X, y)}
    for i, j in np.ndindex(X.shape):
        other = X.copy()
        other[i, j] = np.nextafter(other[i, j], 9)
        seen.add(files.digest(other, y))
    for i in range(len(y)):
        other = y.copy()
        other[i] = "no" if y[i] == "yes" else "yes"
        seen.add(files.digest(X, other))
    seen.add(files.digest(np.column_stack([X, np.zeros(30)]), y))
    seen.add(files.digest(X[:-1], y[:-1]))
    seen.add(files.digest(X, np.where(y == "no", "non", "yes")))
    seen.add(files.digest(X[::-1], y[::-1]))
    assert len(seen) == 1 + X.size + len(y) + 4
