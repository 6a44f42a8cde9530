"""`rb.separability`, `rb.mistake_bound` and `rb.certify.check` of tables and of several classes."""

import json
import pickle
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import rosenblatt as rb
from commands import PENGUINS, call
from rosenblatt import questions
from rosenblatt.certify import CheckResults
from rosenblatt.results import Problem

XOR = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])


@pytest.fixture(scope="module")
def penguins():
    with rb.io.read_table(PENGUINS) as table:
        columns = dict(table)
    return columns, columns.pop("species")


@pytest.fixture(scope="module")
def frame(penguins):
    return pytest.importorskip("pandas").DataFrame(penguins[0])


def same(one, other):
    """Whether two certificates are the same, bit for bit, whatever they are called."""
    ours, theirs = (vars(c) | {"problem": None} for c in (one, other))
    return type(one) is type(other) and repr(ours) == repr(theirs)


def test_each_class_against_the_rest():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 3, 60)
    X[y == 2] += 9.0
    found = rb.separability(X, y)
    assert [one.verdict.name for one in found] == ["INSEPARABLE", "INSEPARABLE", "SEPARABLE"]
    assert all(same(one, rb.separability(X, y == k)) for k, one in enumerate(found))
    assert [one.problem for one in found] == [Problem(k) for k in range(3)]
    assert str(found[2]).startswith("separable (2 against the rest): ")


def test_two_classes_are_one_problem():
    found = rb.separability(XOR, ["no", "no", "yes", "yes"])
    assert found.problem == Problem("yes", "no")


def test_in_feature_space_too():
    found = rb.separability(XOR, [0, 0, 1, 2], kernel=rb.kernels.Polynomial(2))
    assert [one.separable for one in found] == [True, True, True]
    plain = rb.separability(XOR, [0, 0, 1, 2], kernel=rb.kernels.Linear())
    assert [one.separable for one in plain] == [False, False, False]


def test_tables_are_encoded_as_the_command_does(penguins):
    columns, y = penguins
    found = rb.separability(columns, y)
    document = json.loads(call("check", PENGUINS, "--target", "species", "--json").stdout)
    assert [one.problem.positive for one in found] == list(document["classes"])
    assert found[0].problem.features == tuple(document["features"])
    for ours, theirs in zip(found, document["problems"], strict=True):
        assert ours.verdict.name == theirs["verdict"]
        assert [float(w) for w in theirs["w"]] == ours.hyperplane.w.tolist()
    assert "·island=Torgersen" in str(found[0])


def test_every_kind_of_table_gives_the_same(penguins, frame):
    arrow, polars = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    columns, y = penguins
    wanted = rb.separability(columns, y)
    for table in (frame, polars.from_pandas(frame), arrow.Table.from_pandas(frame)):
        found = rb.separability(table, y)
        assert all(same(a, b) for a, b in zip(wanted, found, strict=True))
        assert found[0].problem == wanted[0].problem
        assert rb.certify.check(wanted, table, y)


def test_numbers_are_taken_as_they_are_and_have_names(frame):
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    X, y = rb.datasets.eight_points()
    wanted = rb.separability(X, y)
    table = pandas.DataFrame(X, columns=["a", "b"])
    for given in (table, {"a": X[:, 0], "b": X[:, 1]}, arrow.Table.from_pandas(table)):
        found = rb.separability(given, y)
        assert same(found, wanted)
        assert found.problem.features == ("a", "b")
        assert "0.5044·a + 0.5065·b" in str(found)  # the bias is what rounding leaves of 0
    counted = {"id": np.arange(8), "a": X[:, 0]}  # the encoder would leave out a column of ids
    assert rb.separability(counted, y).hyperplane.w.size == 2
    large = {"a": np.array([2**53 + 1, 0]), "b": [0.5, 1.0]}
    with pytest.raises(ValueError, match="9007199254740993, which no float is equal to"):
        rb.separability(large, [0, 1])


def test_columns_that_are_left_out_are_told(penguins):
    columns, y = penguins
    names = np.array([f"bird {k}" for k in range(len(y))], dtype=object)
    found = rb.separability(columns | {"name": names}, y == "Gentoo")
    assert found.problem.left_out == ("name",)
    assert str(found).endswith("; without 1 column of the table: name")


def test_a_table_in_which_nothing_varies_is_inseparable():
    found = rb.separability({"a": ["x", "x"]}, [0, 1])
    assert found.verdict is rb.Verdict.INSEPARABLE
    assert rb.certify.check(found, {"a": ["x", "x"]}, [0, 1])


def test_a_bound_that_does_not_hold_is_refused_with_its_class():
    with pytest.raises(ValueError, match="of y == 'middle' against the rest: no hyperplane"):
        rb.mistake_bound([[-2.0], [0.0], [2.0]], ["low", "middle", "top"])


def test_time_is_for_all_classes_together(monkeypatch):
    given, clock = [], iter([0.0, 4.0, 4.0, 9.0])  # the second class takes 5 seconds
    monkeypatch.setattr(questions, "time", SimpleNamespace(monotonic=clock.__next__))

    def asked(X, y, *, max_time, **how):
        given.append(max_time)

    monkeypatch.setattr(questions.separation, "separability", asked)
    rb.separability(np.eye(3), [0, 1, 2], max_time=10.0)
    assert given == [2.0, 3.0, 1.0]


def test_bounds_of_tables_and_classes(penguins):
    columns, y = penguins
    encoded = rb.TableEncoder(standardize=False).fit_transform(columns)
    found = rb.mistake_bound(columns, y)
    wanted = [rb.mistake_bound(encoded, y == name).bound for name in ("Adelie", "Chinstrap")]
    assert [one.bound for one in found[:2]] == wanted
    assert len(found) == 3


class TestChecks:
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array([0, 1, 1, 2])

    def test_all_have_to_be_valid(self):
        found = rb.separability(self.X, self.y)
        good = rb.certify.check(found, self.X, self.y)
        assert isinstance(good, CheckResults)
        assert good
        assert str(good) == "proved for each of 3 classes"
        assert [one.valid for one in good] == [True, True, True]

    def test_one_that_is_tampered_with_is_found(self):
        found = rb.separability(self.X, self.y)
        plane = found[2].hyperplane
        wrong = replace(found[2], hyperplane=rb.Hyperplane(-plane.w, -plane.b))
        result = rb.certify.check((*found[:2], wrong), self.X, self.y)
        assert not result
        assert not result.valid
        assert [one.valid for one in result] == [True, True, False]
        assert str(result) == f"not proved: class number 2: {result[2].why}"

    def test_the_certificates_of_a_model_are_checked_alike(self):
        model = rb.MaxMarginClassifier(on_inseparable="warn")
        with pytest.warns(rb.NotSeparableWarning):
            model.fit(self.X, self.y)
        assert rb.certify.check(model.certificate_, self.X, self.y)

    def test_a_table_is_encoded_anew(self, penguins):
        columns, y = penguins
        found = rb.separability(columns, y)
        moved = columns | {"island": np.roll(columns["island"], 50)}
        assert rb.certify.check(found, columns, y)
        assert not rb.certify.check(found, moved, y)

    @pytest.mark.parametrize(
        ("certificates", "y", "match"),
        [
            ((None,), [0, 1, 1, 2], "y has 3 classes, but 1 certificates"),
            ((None, None), [0, 1, 1, 0], "or the only one of two"),
            ((None, None), None, "not with blocks"),
        ],
    )
    def test_refused_in_one_line(self, certificates, y, match):
        with pytest.raises(ValueError, match=match) as told:
            rb.certify.check(certificates, self.X, y)
        assert "\n" not in str(told.value)

    def test_what_is_no_certificate_proves_nothing(self):
        result = rb.certify.check((None, None, None), self.X, self.y)
        assert "NoneType is not a certificate" in str(result)


@pytest.mark.parametrize(
    ("table", "y", "match"),
    [
        ({}, [0, 1], "no columns"),
        ({"a": [1.0, 2.0], "b": [1.0]}, [0, 1], "column b has 1 cells"),
        ({"a": [[1.0], [2.0]]}, [0, 1], "column a has cells with several values"),
        ({"a": [1.0, np.inf]}, [0, 1], "infinity"),
        ({"a": ["x", "x"], "b": [1.0]}, [0, 1], "X is no table that can be used: column b"),
        ({"a": [1.0, 2.0, 3.0]}, [0, 1, 0, 1], "inconsistent numbers of samples"),
        ({"a": [1.0, 2.0, 3.0]}, [0, 1, np.nan], "NaN"),
        ({"a": [1.0, 2.0]}, [1, 1], "only one class"),
    ],
)
def test_bad_tables_are_refused_in_one_line(table, y, match):
    with pytest.raises(ValueError, match=match) as told:
        rb.separability(table, y)
    assert "\n" not in str(told.value)


def test_answers_about_several_classes_are_printed_as_sentences():
    line, y = {"x": [-2.0, 0.0, 2.0]}, ["low", "middle", "top"]
    found = rb.separability(line, y)
    assert str(found).splitlines() == [str(one) for one in found]
    assert str(pickle.loads(pickle.dumps(found))) == str(found)
    bounds = rb.mistake_bound(line, y, epochs=3)
    assert str(bounds).splitlines()[1] == f"middle against the rest: {bounds[1]}"
