"""A model written down in Python, C and SQL says what the model itself says."""

import ctypes
import datetime
import runpy
import shutil
import sqlite3
import subprocess

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

import rosenblatt as rb
from postgres_server import execute, postgres_server
from rosenblatt.exports.c_code import c_code, field_names
from rosenblatt.exports.formula import formula_of
from rosenblatt.exports.python_code import python_code
from rosenblatt.exports.sql import sql

# How well a model has learned does not matter here.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

COLUMNS = ['size, "cm"', "col*/our", "'s even?", "when"]


HEADS = {
    "two classes": (2, rb.Perceptron(max_epochs=5)),
    "three classes": (3, rb.Perceptron(max_epochs=5)),
    "squares": (2, rb.features.Squares(keep=True), rb.Perceptron(max_epochs=5)),
    "products": (2, rb.features.Polynomial(2, coef0=0.5), rb.Perceptron(max_epochs=5)),
    "radial": (3, rb.KernelPerceptron(max_epochs=1)),
    "power": (2, rb.KernelPerceptron(kernel="poly", max_epochs=1, fit_intercept=True)),
}


@pytest.fixture(scope="module", params=HEADS)
def case(request):
    """A model, a table with every kind of column and missing cells, and its decision values."""
    n, (k, *head) = 60, HEADS[request.param]
    rng = np.random.default_rng(k)
    size = rng.normal(20, 5, n)
    size[::7] = np.nan
    colours = ["red", 'it\'s "blue"', "грün??/", None]
    when = [datetime.datetime(1968, 11, 5, 3) + datetime.timedelta(days=17.3 * k) for k in range(n)]
    when[5] = None
    table = pd.DataFrame(
        {
            COLUMNS[0]: size,
            COLUMNS[1]: pd.array([colours[k % 4] for k in range(n)], dtype=object),
            COLUMNS[2]: pd.array([["True", "FALSE", None][k % 3] for k in range(n)], dtype=object),
            COLUMNS[3]: when,
        }
    )
    y = np.array(["a", "b \"c' \\", "d"])[np.arange(n) * k // n]
    model = make_pipeline(rb.TableEncoder(), *head).fit(table, y)
    assert set(model[0].kinds_.values()) == {"number", "text", "date"}
    assert any(":month=" in name for name in model[0].get_feature_names_out())
    unseen = table.copy()
    unseen.loc[0, COLUMNS[1]] = "never seen"
    return model, unseen, model.decision_function(unseen).reshape(n, -1), model.predict(unseen)


def same(case, values, classes):
    """The same values but for rounding, and the same classes where that cannot have mattered."""
    _, _, expected, answers = case
    assert np.allclose(values, expected, rtol=0, atol=1e-12 * size_of(case))
    assert (np.asarray(classes, dtype=object) == answers).all()


def size_of(case):
    """About the sum of the sizes of all terms, for each decision value."""
    last = case[0][-1]
    if hasattr(last, "coef_"):
        return np.abs(last.coef_).sum(axis=1) * 10 ** len(case[0].steps[:-1])
    return np.abs(last.dual_coef_) @ np.abs(last.kernel_(last.support_vectors_)).max(axis=0) * 10


def rows_of(table):
    """As dictionaries, with None for what is missing."""
    return [
        {name: None if pd.isna(cell) else cell for name, cell in row.items()}
        for row in table.to_dict("records")
    ]


def test_python(case, tmp_path):
    path = tmp_path / "model.py"
    path.write_text(python_code(formula_of(case[0], "m"), 'of "m.skops" \\'), encoding="utf-8")
    module = runpy.run_path(str(path))
    rows = rows_of(case[1])
    values = [np.atleast_1d(module["decision"](row)) for row in rows]
    same(case, values, [module["predict"](row) for row in rows])
    as_text = {**rows[3], COLUMNS[3]: rows[3][COLUMNS[3]].isoformat()}
    assert np.array_equal(np.atleast_1d(module["decision"](as_text)), values[3])


def test_c(case, tmp_path):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    formula = formula_of(case[0], "m")
    source, library = tmp_path / "model.c", tmp_path / "model.so"
    source.write_text(c_code(formula, "of m.skops */"), encoding="utf-8")
    strict = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"]
    subprocess.run(
        [compiler, *strict, "-shared", "-fPIC", source, "-o", library, "-lm"], check=True
    )
    loaded = ctypes.CDLL(str(library))
    fields = [
        (name, ctypes.c_char_p if formula.columns[column] == "text" else ctypes.c_double)
        for column, name in field_names(list(formula.columns)).items()
    ]
    kind = type("Row", (ctypes.Structure,), {"_fields_": fields})
    names = (ctypes.c_char_p * len(formula.classes)).in_dll(loaded, "CLASSES")
    values, classes = [], []
    for row in rows_of(case[1]):
        cells = []
        for column in formula.columns:
            cell = row[column]
            if isinstance(cell, datetime.datetime):
                cell = (cell - datetime.datetime(1970, 1, 1)) / datetime.timedelta(days=1)
            if formula.columns[column] == "text":
                cells.append(None if cell is None else cell.encode())
            else:
                cells.append(float("nan") if cell is None else cell)
        found = (ctypes.c_double * len(formula.bias))()
        classes.append(names[loaded.decide(ctypes.byref(kind(*cells)), found)].decode())
        values.append(list(found))
    same(case, values, classes)


def answers_of(rows, n_columns):
    """Decision values and classes of what a query gave, its first column the number of the row."""
    rows = sorted(rows)
    return [row[n_columns:-1] for row in rows], [row[-1] for row in rows]


def test_duckdb(case):
    table = case[1].assign(k=range(len(case[1])))[["k", *COLUMNS]]
    with duckdb.connect() as connection:
        connection.register("my table", table)
        query = sql(formula_of(case[0], "m"), "duckdb", "my table", "of m.skops")
        same(case, *answers_of(connection.execute(query).fetchall(), 5))


@pytest.mark.parametrize("mapping", [[], [rb.features.Squares(keep=True)]])
def test_yes_and_no_that_the_database_reads_as_truth(mapping):
    """DuckDB reads them so from a CSV file: they must not silently count for nothing."""
    table = {"ok": np.array(["Yes", "No", "No", "Yes", "No", "Yes"] * 3), "x": np.arange(18.0)}
    steps = rb.TableEncoder(), *mapping, rb.Perceptron(max_epochs=3)
    model = make_pipeline(*steps).fit(table, np.arange(18) % 6 % 5 < 1)
    query = sql(formula_of(model, "m", exact=[]), "duckdb", "data", "m")
    expected = pytest.approx(model.decision_function(table).tolist())
    for cells in (table["ok"], table["ok"] == "Yes"):
        with duckdb.connect() as connection:
            connection.register("data", pd.DataFrame(table | {"ok": cells}))
            assert [row[2] for row in connection.execute(query).fetchall()] == expected


def test_columns_named_like_features():
    """A name of a feature in the query must not be taken for a column, nor the other way round."""
    rng = np.random.default_rng(0)
    table = {name: rng.normal(size=20) for name in ("X2", "x0", "x1", "X_1")}
    steps = rb.TableEncoder(), rb.features.Squares(keep=True), rb.Perceptron(max_epochs=3)
    model = make_pipeline(*steps).fit(table, np.arange(20) % 2)
    query = sql(formula_of(model, "m"), "duckdb", "data", "m")
    with duckdb.connect() as connection:
        connection.register("data", pd.DataFrame(table))
        found = [row[4] for row in connection.execute(query).fetchall()]
    assert found == pytest.approx(model.decision_function(table).tolist())


def inserted(table):
    """The rows as tuples, dates as text."""
    for k, row in enumerate(rows_of(table)):
        yield (
            k,
            *(cell.isoformat(" ") if hasattr(cell, "isoformat") else cell for cell in row.values()),
        )


def test_sqlite(case):
    with sqlite3.connect(":memory:") as connection:
        names = ", ".join('"' + name.replace('"', '""') + '"' for name in COLUMNS)
        connection.execute(f"CREATE TABLE data (k INTEGER, {names})")
        connection.executemany("INSERT INTO data VALUES (?, ?, ?, ?, ?)", inserted(case[1]))
        query = sql(formula_of(case[0], "m"), "sqlite", "data", "of m.skops\nDROP TABLE data;")
        found = answers_of(connection.execute(query).fetchall(), 5)
    connection.close()
    # Its dates are Julian days, whose fraction is known to a tenth of a millisecond.
    assert np.allclose(found[0], case[2], rtol=0, atol=1e-6 * size_of(case))
    assert found[1] == case[3].tolist()


def test_sqlite_guesses_nothing():
    """A cast takes the 16 of '16,455', 0 for an empty text, and no date for 31/12/2024."""
    when = [datetime.datetime(2024, 1, 1) + datetime.timedelta(days=3 * k) for k in range(8)]
    table = pd.DataFrame({"n": np.arange(8.0), "when": when})
    model = make_pipeline(rb.TableEncoder(), rb.Perceptron()).fit(table, np.arange(8) > 3)
    query = sql(formula_of(model, "m"), "sqlite", "data", "m")

    def decision(*cells):
        with sqlite3.connect(":memory:") as connection:
            return connection.execute(f"WITH data(n, 'when') AS (VALUES (?, ?)) {query}", cells)

    plain = decision(5, "2024-01-16").fetchone()[2]
    assert decision(" 5.0e0 ", "2024-01-16").fetchone()[2] == plain
    missing = decision(None, None).fetchone()[2:]
    assert decision("", " ").fetchone()[2:] == missing == decision("NaN", "").fetchone()[2:]
    for cells, why in [(("16,455", None), "no number: 16,455"), ((5, "31/12/2024"), "no date: 31")]:
        with pytest.raises(sqlite3.Error, match=why):
            decision(*cells).fetchone()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with postgres_server(tmp_path_factory.mktemp("server")) as address:
        yield address


@pytest.mark.database
def test_postgresql(case, server):
    names = ['"' + name.replace('"', '""') + '"' for name in COLUMNS]
    kinds = zip(names, ("float8", "text", "text", "timestamp"), strict=True)
    made = ", ".join(f"{name} {kind}" for name, kind in kinds)
    execute(server, f"DROP TABLE IF EXISTS data; CREATE TABLE data (k int, {made})")
    literals = ", ".join(
        "("
        + ", ".join(
            "NULL" if c is None else f"'{str(c).replace(chr(39), chr(39) * 2)}'" for c in row
        )
        + ")"
        for row in inserted(case[1])
    )
    execute(server, f"INSERT INTO data VALUES {literals}")
    query = sql(formula_of(case[0], "m"), "postgresql", "data", "of m.skops")
    same(case, *answers_of(execute(server, query), 5))


def test_what_has_no_formula():
    X, y = rb.datasets.xor()
    with pytest.raises(ValueError, match=r"m counts votes \(--keep vote\), which has no formula"):
        formula_of(rb.KernelPerceptron(keep="vote").fit(X, y), "m")
    given = rb.KernelPerceptron(kernel="precomputed", max_epochs=1).fit(X @ X.T, y)
    with pytest.raises(ValueError, match="m is a KernelPerceptron, which has no formula"):
        formula_of(given, "m")
    waves = make_pipeline(rb.features.RandomFourier(5), rb.Perceptron(max_epochs=2)).fit(X, y)
    with pytest.raises(ValueError, match="features with RandomFourier, which no program here has"):
        formula_of(waves, "m")
    wide = np.vstack([np.eye(60), -np.eye(60)])
    many = make_pipeline(rb.features.Polynomial(3), rb.Perceptron(max_epochs=1))
    with pytest.raises(ValueError, match="a sum of 39711 numbers; at most 20000 go into a program"):
        formula_of(many.fit(wide, np.arange(120) % 2), "m")
    curved = rb.KernelPerceptron(max_epochs=1).fit(wide, np.arange(120) % 2)
    with pytest.raises(ValueError, match="m is a sum of 7320 numbers; at most 5000 go into a SEL"):
        sql(formula_of(curved, "m"), "sqlite", "data", "m", "m")
    words = {"t": ["a good day", "bad day", "good one", "bad one"] * 3}
    free = make_pipeline(rb.TableEncoder(text=["t"]), rb.Perceptron()).fit(words, [0, 1, 0, 1] * 3)
    with pytest.raises(ValueError, match="counts the words of 't'"):
        formula_of(free, "m")


def test_many_features_are_not_too_deep():
    """SQLite takes expressions a thousand deep."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 5, (20, 1500)).astype(float), np.arange(20) % 2
    model = rb.Perceptron(max_epochs=1).fit(X, y)
    formula = formula_of(model, "m")
    query = sql(formula, "sqlite", "data", "m")
    row = ", ".join(f"{x} AS x{j + 1}" for j, x in enumerate(X[0]))
    with sqlite3.connect(":memory:") as connection:
        found = connection.execute(f"WITH data AS (SELECT {row}) {query}").fetchone()
    connection.close()
    assert found[-1] == model.predict(X[:1])[0]
    assert found[-2] == pytest.approx(model.decision_function(X[:1])[0])
