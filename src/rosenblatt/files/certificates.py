"""Certificate files: JSON in which every number stands exactly, so that others can check it."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import fields
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.arguments import file_path, instance, label_vector
from rosenblatt.files.whole import existing, written_whole
from rosenblatt.matrices import matrix
from rosenblatt.proofs import exact_weights
from rosenblatt.results import (
    Certificate,
    Hyperplane,
    Inseparable,
    JointCertificate,
    Optimum,
    QuasiSeparable,
    Separable,
    Undecided,
)
from rosenblatt.visible import json_text

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

VERSION: str = import_module("rosenblatt").__version__  # that module stands above this layer
LAYOUT = 2  # one more with each change that older versions would misread
PLAIN = 1  # the layout of what version 0.1 reads, too: no problem of several classes
MARK = "rosenblatt_certificate"
BLOCK = 1 << 19  # numbers at a time, of which some copies are made
MOST_CHARACTERS = 40  # of a fraction that is written for people to read
MOST_SUPPORT = 64  # beyond it the exact weights have too many digits, and take time
LONG = 10_000  # bits from which on whole numbers are written in hexadecimal
RATIONAL = re.compile(r"(-?)(0x[0-9a-f]+|[0-9]{1,4000})(?:/(0x[0-9a-f]+|[0-9]{1,4000}))?")

WANTED = (
    "give a certificate of rb.separability (of several classes one by one, with y == class), "
    "or an Optimum"
)
KINDS: dict[str, type[Any]] = {
    "SEPARABLE": Separable,
    "QUASI_SEPARABLE": QuasiSeparable,
    "INSEPARABLE": Inseparable,
    "UNDECIDED": Undecided,
}
OPTIMUM, JOINT = "OPTIMUM", "joint"
MEANING = "no hyperplane has an objective below the dual value"
# Weights that floats cannot hold; `exact_weights` in a file are for people to read.
FRACTIONS = {
    "exact_weights": "weights_in_fractions",
    "exact_spanning_weights": "spanning_weights_in_fractions",
}
# What files of older versions may lack.
ABSENT = {"exact_multipliers": None, "why": Undecided.TIME, **dict.fromkeys(FRACTIONS.values())}


class CertificateFileError(ValueError):
    """A file that cannot be read as a certificate."""


def save_certificate(
    certificate: Certificate | JointCertificate | Optimum,
    path: str | os.PathLike[str],
    X: Any,
    y: Any,
) -> None:
    """Write a certificate to a JSON file, whole or not at all.

    Parameters
    ----------
    certificate : Separable, QuasiSeparable, Inseparable, Undecided, JointCertificate or Optimum
        What `rosenblatt.separability` returned, or a best hyperplane with its proof.
    path : path of the file
        By custom its name ends in ``.json``.
    X, y : the samples and labels that it is about
        The file holds a digest of them, and short exact weights as fractions. Sample weights
        that an Optimum was found with are not in it; checking it needs them again.

    See Also
    --------
    load_certificate : Read it again; `rosenblatt.certify.check` then checks it.
    """
    kinds = (*KINDS.values(), JointCertificate, Optimum)
    instance("certificate", certificate, kinds, WANTED)
    file_path("path", path)
    labels = [str(label) for label in np.unique(label_vector("y", y)).tolist()]
    if not labels:
        msg = "y is empty: give the labels that the certificate is about"
        raise ValueError(msg)
    problem: dict[str, Any] = {"negative": labels[0], "positive": labels[-1]}
    if isinstance(certificate, JointCertificate):
        problem = {"classes": labels}
    problem |= certificate_as_json(certificate, X, y)
    write_document({"digest": digest(X, y), "problems": [problem]}, path)


def load_certificate(path: str | os.PathLike[str]) -> Any:
    """Read what `save_certificate` or ``rosenblatt check -o`` wrote.

    Nothing is checked but the form: `rosenblatt.certify.check` does that, from the data.

    Parameters
    ----------
    path : path of the file

    Returns
    -------
    certificate : Separable, QuasiSeparable, Inseparable, Undecided, JointCertificate or Optimum
        A tuple of them if the file is about several two-class problems.

    Raises
    ------
    CertificateFileError
        If it is no certificate file, is damaged, or comes from a newer version.
    """
    file_path("path", path)
    found = certificates_in(read_document(path), path)
    return found[0] if len(found) == 1 else found


# Files ------------------------------------------------------------------------------------------


def document_text(document: dict[str, Any]) -> str:
    """A document as it stands in a file, with what makes it known as ours."""
    joint = any("multiclass" in problem for problem in document["problems"])
    head = {MARK: LAYOUT if joint else PLAIN, "rosenblatt": VERSION}
    return json_text(head | document)


def write_document(document: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Write a document with a list of ``problems``, whole or not at all."""
    text = document_text(document)
    with written_whole(path) as beside:
        beside.write_text(text, encoding="utf-8")


def read_document(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a certificate file holds, as it stands there."""
    remedy = "give a file written by `rosenblatt check -o` or rb.io.save_certificate"
    source = existing(path, remedy)
    data = source.read_bytes()
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):  # not UTF-8 is a ValueError, too
        began = data.lstrip()[:1] == b"{"
        what = "breaks off or is damaged" if began else "is not a certificate file"
        msg = f"{source} {what if data else 'is empty'}: {remedy}"
        raise CertificateFileError(msg) from None
    if not isinstance(found, dict) or not isinstance(found.get(MARK), int):
        msg = f"{source} is not a certificate file: {remedy}"
        raise CertificateFileError(msg)
    if found[MARK] > LAYOUT:
        msg = f"{source} comes from a rosenblatt newer than this {VERSION}: update to read it"
        raise CertificateFileError(msg)
    return found


def certificates_in(document: dict[str, Any], path: str | os.PathLike[str]) -> tuple[Any, ...]:
    """The certificate of each problem of a document."""
    problems = document.get("problems")
    if not isinstance(problems, list) or not problems:
        msg = f"{path} holds no problems: write the certificate again"
        raise CertificateFileError(msg)
    try:
        return tuple(certificate_from_json(problem) for problem in problems)
    except (ArithmeticError, KeyError, TypeError, ValueError, AttributeError) as error:
        why = " ".join(_reason(error).split())[:120]
        msg = f"{path} is damaged ({why}): write the certificate again"
        raise CertificateFileError(msg) from None


def _reason(error: Exception) -> str:
    """In words, where Python has none."""
    if isinstance(error, KeyError):
        return f"it has no {error.args[0]}"
    return str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"


# Certificates as JSON ---------------------------------------------------------------------------


def certificate_as_json(
    certificate: Certificate | JointCertificate | Optimum, X: Any = None, y: Any = None
) -> dict[str, Any]:
    """A certificate in lists, text and whole numbers.

    Floats are text that reads back to the same float, rational numbers ``"3/7"``, samples whole
    numbers from 0. With `X` and `y` the exact weights are there too, where they are short. Of
    several classes as one problem the samples are the vectors of Kesler's construction; `pairs`
    has the samples of the data and their rivals.
    """
    if isinstance(certificate, JointCertificate):
        about = {"multiclass": JOINT, "n_classes": certificate.n_classes}
        pairs = {"pairs": certificate.pairs.tolist()}
        return about | certificate_as_json(certificate.certificate) | pairs
    if isinstance(certificate, Optimum):
        found: dict[str, Any] = {"kind": OPTIMUM, "meaning": MEANING}
    else:
        found = {"verdict": certificate.verdict.name, "meaning": certificate.verdict.value}
    if isinstance(certificate, Separable | QuasiSeparable | Optimum):
        plane = certificate.hyperplane
        found |= {"w": _texts(plane.w.tolist()), "b": repr(plane.b)}
    for name, (write, _) in PARTS.items():
        if getattr(certificate, name, None) is not None:
            found[FRACTIONS.get(name, name)] = write(getattr(certificate, name))
        elif hasattr(certificate, name) and name not in FRACTIONS:
            found[name] = None
    if X is not None and isinstance(certificate, QuasiSeparable | Inseparable):
        found["exact_weights"] = short_exact_weights(certificate, X, y)
    return found


def short_exact_weights(
    certificate: QuasiSeparable | Inseparable, X: Any, y: Any
) -> list[str] | None:
    """The weights of the support as fractions, None if that would be absurdly long."""
    if len(certificate.support) > MOST_SUPPORT:
        return None
    texts = [written(value) for value in exact_weights(certificate, X, y)]
    return texts if max(map(len, texts)) <= MOST_CHARACTERS else None


def certificate_from_json(found: dict[str, Any]) -> Any:
    """The certificate that `certificate_as_json` wrote."""
    if found.get("multiclass") == JOINT:
        inner = {name: part for name, part in found.items() if name != "multiclass"}
        pairs = [_samples(pair) for pair in found["pairs"]]
        numbers = np.array(pairs, np.int64).reshape(len(pairs), 2)
        return JointCertificate(certificate_from_json(inner), found["n_classes"], numbers)
    best = "verdict" not in found and found.get("kind") == OPTIMUM
    kind = Optimum if best else KINDS.get(str(found["verdict"]))
    if kind is None:
        msg = f"the verdict {str(found['verdict'])[:40]!r} is none of {', '.join(KINDS)}"
        raise ValueError(msg)
    names = [field.name for field in fields(kind) if field.init]
    return kind(**{name: _part(name, found) for name in names})


def _part(name: str, found: dict[str, Any]) -> Any:
    """One attribute of a certificate."""
    if name == "hyperplane":
        return Hyperplane(np.array(_floats(found["w"])), _float(found["b"]))
    key = FRACTIONS.get(name, name)
    if key not in found and key in ABSENT:
        return ABSENT[key]
    if key not in found and name in ("gap", "margin") and found.get("kind") == OPTIMUM:
        return np.nan
    if found[key] is None and name in ("C", "exact", "exact_multipliers", *FRACTIONS):
        return None
    return PARTS[name][1](found[key])


def _texts(values: Iterable[float]) -> list[str]:
    return [repr(float(value)) for value in values]


def _floats(texts: Sequence[Any]) -> list[float]:
    """Floats from text; anything else is refused, also a bare number, which has been rounded."""
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        msg = "a list of numbers written as text was expected"
        raise ValueError(msg)
    return [float(text) for text in texts]


def _float(text: Any) -> float:
    return _floats([text])[0]


def _bracket(texts: Any) -> tuple[float, float]:
    low, high = _floats(texts)
    return low, high


def _samples(values: Any) -> list[int]:
    if not isinstance(values, list) or not all(type(value) is int for value in values):
        msg = "a list of sample numbers was expected"
        raise ValueError(msg)
    return values


def written(value: Fraction | int) -> str:
    """``"3/7"``; very long ones in hexadecimal, which is quick, as ``"0x3/0x7"``."""
    value = Fraction(value)
    long = max(value.numerator.bit_length(), value.denominator.bit_length()) > LONG
    text = "#x" if long else "d"
    over = f"/{value.denominator:{text}}" if value.denominator != 1 else ""
    return f"{value.numerator:{text}}{over}"


def read_rational(text: str) -> Fraction:
    """The number that `written` wrote."""
    match = RATIONAL.fullmatch(text)
    if match is None:
        msg = f"{text[:40]!r} is not a fraction"
        raise ValueError(msg)
    sign, *whole = match.groups()
    above, below = (int(part or "1", 0 if "x" in (part or "") else 10) for part in whole)
    return Fraction(-above if sign else above, below)


_IN_FLOATS = (_texts, _floats)
_IN_FRACTIONS = (
    lambda values: [*map(written, values)],
    lambda texts: (*map(read_rational, texts),),
)
_SINGLE = (lambda value: repr(float(value)), _float)
_IN_NUMBERS = (lambda values: values.tolist(), _samples)
# How the parts of certificates, but for their hyperplanes, are written and read; in this order.
PARTS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "exact": _IN_FRACTIONS,
    **dict.fromkeys(("C", "primal", "dual", "gap"), _SINGLE),
    **dict.fromkeys(("support", "on", "spanning_support"), _IN_NUMBERS),
    **dict.fromkeys(("weights", "point", "spanning_weights", "multipliers"), _IN_FLOATS),
    "margin": _SINGLE,
    **dict.fromkeys(("exact_multipliers", *FRACTIONS), _IN_FRACTIONS),
    "bracket": (_texts, _bracket),
    "why": (str, str),
}


# Which data -------------------------------------------------------------------------------------


def digest(X: Any, y: Any, classes: Any = None) -> str:
    """SHA-256 of samples and labels, the same for arrays and sparse matrices.

    It runs over the shape; the number of nonzero entries of each row, their columns and their
    values, row by row; the labels in sorted order, and the number of each sample's among them.
    Whole numbers are little-endian int64, values little-endian float64. With `classes`, all labels
    in sorted order, y has these numbers already.
    """
    X = matrix("X", X)
    parts = [hashlib.sha256() for _ in range(3)]
    for entries in _entries(X):
        for part, values in zip(parts, entries, strict=True):
            part.update(values.tobytes())
    if classes is None:
        classes, y = np.unique(np.asarray(y), return_inverse=True)
    labels = json.dumps([str(name) for name in classes.tolist()])
    whole = hashlib.sha256(np.array(X.shape, "<i8").tobytes())
    for part in parts:
        whole.update(part.digest())
    whole.update(labels.encode())
    for start in range(0, len(y), BLOCK):
        whole.update(y[start : start + BLOCK].astype("<i8").tobytes())
    return f"sha256:{whole.hexdigest()}"


def _entries(X: Any) -> Iterator[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
    """Nonzero entries in blocks of rows: how many in each row, their columns, their values."""
    sparse = hasattr(X, "indptr")
    if sparse and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    entries = X.nnz if sparse else X.size
    step = max(1, BLOCK * X.shape[0] // max(1, entries))
    for start in range(0, X.shape[0], step):
        block = X[start : start + step]
        if sparse:
            there = block.data != 0
            columns, values = block.indices[there], block.data[there]
            counts = np.diff(np.append(0, np.cumsum(there))[block.indptr])
        else:
            places = block != 0
            columns, values = np.nonzero(places)[1], block[places]
            counts = places.sum(axis=1)
        yield counts.astype("<i8"), columns.astype("<i8"), values.astype("<f8")
