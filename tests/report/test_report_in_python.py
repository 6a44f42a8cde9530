"""`rb.report`: the command's facts and sentences, of models that were fitted in Python."""

import json
import re
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import rosenblatt as rb
import rosenblatt.report.facts
from commands import NOTES, PENGUINS, call

SEEDED = {"order": "shuffled", "random_state": 0}
FILES_ONLY = {
    "command",
    "fingerprint",
    "versions",
    "file",
    "has_header",
    "names",
    "trained",
    "target",
    "saved",
    "notes",
    "seconds",
}


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.fixture(scope="module")
def notes():
    with rb.io.read_table(NOTES) as table:
        columns = dict(table)
    return columns, columns.pop("note").astype(str)


@pytest.fixture(scope="module")
def penguins():
    with rb.io.read_table(PENGUINS) as table:
        columns = dict(table)
    y = columns.pop("species").astype(str)
    return columns, y


@pytest.mark.parametrize(
    ("file", "options", "model"),
    [
        (NOTES, ["--max-epochs", 7], rb.Perceptron(keep="auto", max_epochs=7, **SEEDED)),
        (NOTES, ["--model", "max-margin"], rb.MaxMarginClassifier()),
        (PENGUINS, ["--model", "soft-margin", "--C", 9], rb.SoftMarginClassifier(C=9.0)),
        (
            PENGUINS,
            ["--multiclass", "joint", "--max-epochs", 5],
            rb.Perceptron(keep="auto", max_epochs=5, multiclass="joint", **SEEDED),
        ),
        (
            PENGUINS,
            ["--kernel", "rbf", "--max-epochs", 3],
            rb.KernelPerceptron(keep="auto", max_epochs=3, **SEEDED),
        ),
    ],
    ids=["perceptron", "max-margin", "soft-margin", "joint", "kernel"],
)
def test_numbers_and_sentences_are_those_of_the_command(request, file, options, model):
    columns, y = request.getfixturevalue("notes" if file == NOTES else "penguins")
    target = "note" if file == NOTES else "species"
    command = ["fit", file, "--target", target, *options, "--cv", 0]
    code = int("max-margin" in options)
    wanted = json.loads(call(*command, "--json", code=code).stdout)
    printed = call(*command, code=code).stdout.splitlines()
    found = rb.report(make_pipeline(rb.TableEncoder(), model).fit(columns, y), columns, y)
    ours = json.loads(json.dumps(found.as_json()))
    assert {k: v for k, v in ours.items() if k not in FILES_ONLY} == {
        k: v for k, v in wanted.items() if k not in FILES_ONLY
    }
    lines = str(found).splitlines()
    first = [line for line in printed if not line.startswith("classes ")]
    stop = next(k for k, line in enumerate(first) if line.startswith("saved "))
    told = [line for line in lines if not line.startswith("classes ")]
    assert told[1:stop] == first[1:stop]
    assert [line for line in lines if line.startswith("next ")] == [
        line for line in printed if line.startswith("next ")
    ]


def test_tables_of_every_kind_are_one(penguins):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    arrow = pytest.importorskip("pyarrow")
    columns, y = penguins
    frame = pandas.DataFrame(columns)
    tables = [dict(columns), frame, arrow.Table.from_pandas(frame), polars.from_pandas(frame)]
    model = make_pipeline(rb.TableEncoder(), rb.SoftMarginClassifier()).fit(columns, y)
    wanted = rb.report(model, columns, y).as_json()
    for table in tables:
        again = make_pipeline(rb.TableEncoder(), rb.SoftMarginClassifier()).fit(table, y)
        assert rb.report(again, table, y).as_json() == wanted
    named = rb.report(model, frame, pandas.Series(y, name="species"), name="birds")
    assert str(named).startswith("birds → SoftMarginClassifier")
    assert "species: Adelie (" in str(named)


def test_a_scaler_is_told_as_the_encoder_is(notes):
    columns, y = notes
    X = np.column_stack(list(columns.values()))
    encoded = make_pipeline(rb.TableEncoder(), rb.Perceptron(max_epochs=5)).fit(X, y)
    scaled = make_pipeline(StandardScaler(), rb.Perceptron(max_epochs=5)).fit(X, y)
    one, other = rb.report(encoded, X, y), rb.report(scaled, X, y)
    assert "after standardising" in str(other)
    assert " per unit" in str(other)
    assert one.facts.run.mistakes == other.facts.run.mistakes
    slopes = [r.as_json()["hyperplanes"][0]["weights_per_unit"] for r in (one, other)]
    assert list(slopes[0].values()) == pytest.approx(list(slopes[1].values()), rel=1e-9)


def test_steps_of_scikit_learn_are_named_where_nothing_else_is_known(penguins):
    pandas = pytest.importorskip("pandas")
    columns, y = penguins
    frame = pandas.DataFrame({"island": columns["island"], "mass": columns["body_mass_g"]})
    frame = frame.fillna(4000.0)
    first = make_column_transformer((OneHotEncoder(), ["island"]), remainder="passthrough")
    model = make_pipeline(first, StandardScaler(with_mean=False), rb.Perceptron(max_epochs=3))
    found = rb.report(model.fit(frame, y), frame, y)
    assert "after ColumnTransformer, StandardScaler" in str(found)
    assert "onehotencoder__island_Dream" in str(found)
    assert found.as_json()["steps"] == ["ColumnTransformer", "StandardScaler"]
    assert found.facts.features == 4
    assert found.facts.table.columns == 2


def test_feature_maps_and_projections(notes):
    columns, y = notes
    X = np.column_stack(list(columns.values()))
    squares = make_pipeline(rb.features.Squares(keep=True), rb.Perceptron(max_epochs=3)).fit(X, y)
    assert "squares: each of 4 features, and its square" in str(rb.report(squares, X, y))
    for step in (rb.features.Squares(), PCA(2)):
        model = make_pipeline(step, rb.Perceptron(max_epochs=3)).fit(X, y)
        assert f"after {type(step).__name__}:" in " ".join(str(rb.report(model, X, y)).split())


def test_rows_that_a_projection_makes_one_are_identical_in_the_features_used():
    X, y = np.array([[0.0, 1.0], [0.0, 2.0], [3.0, 1.0]]), [0, 1, 1]
    dropped = make_column_transformer(("passthrough", [0]))
    model = make_pipeline(dropped, rb.Perceptron(max_epochs=9)).fit(X, y)
    told = " ".join(str(rb.report(model, X, y)).split())
    assert "rows 1 and 2 are identical in the features used but have different classes" in told


def test_sparse_and_dense_say_the_same(notes):
    columns, y = notes
    X = np.round(np.column_stack(list(columns.values())))
    models = [rb.Perceptron(max_epochs=9).fit(data, y) for data in (X, csr_array(X))]
    one, other = (rb.report(m, d, y) for m, d in zip(models, (X, csr_array(X)), strict=True))
    assert str(one) == str(other)
    assert one.facts.verdicts[0].rows == other.facts.verdicts[0].rows


def test_other_samples_judge_it(notes):
    columns, y = notes
    X = np.column_stack(list(columns.values()))
    model = rb.Perceptron(keep="average", max_epochs=9).fit(X[::2], y[::2])
    found = rb.report(model, X[::2], y[::2], test=(X[1::2], y[1::2]))
    right = int((model.predict(X[1::2]) == y[1::2]).sum())
    assert (found.evaluation.right, found.evaluation.rows) == (right, len(y) // 2)
    assert "686 rows held out" in str(found)
    assert rb.report(model, X[::2], y[::2]).evaluation is None


def test_weights_of_samples_are_those_of_the_objective(notes):
    columns, y = notes
    X, weight = np.column_stack(list(columns.values())), np.linspace(0.0, 2.0, len(y))
    model = rb.SoftMarginClassifier().fit(X, y, sample_weight=weight)
    found = rb.report(model, X, y, sample_weight=weight)
    assert pytest.approx(weight.sum()) == found.facts.optima[0].sides.N
    assert "total weighted slack" in str(found)
    assert found.as_json()["weighted"] is True
    with pytest.raises(ValueError, match="give the sample_weight of the training"):
        rb.report(model, X, y)


def test_a_search_is_told_by_what_it_found(notes):
    columns, y = notes
    X = np.column_stack(list(columns.values()))
    search = GridSearchCV(rb.SoftMarginClassifier(), {"C": [1.0, 5.0]}, cv=2).fit(X, y)
    found = rb.report(search, X, y)
    assert found.facts.parameters.get("C", 1.0) == search.best_params_["C"]


def test_one_tuple_entry_for_each_class(penguins):
    columns, y = penguins
    model = make_pipeline(rb.TableEncoder(), rb.Perceptron(max_epochs=50)).fit(columns, y)
    found = rb.report(model, columns, y)
    assert len(found.verdicts) == 3
    assert repr(found).startswith("<Report on Perceptron: 344 rows, 3 classes, ")


class TestPage:
    X, y = rb.datasets.eight_points()

    def test_names_are_only_ever_text(self):
        pandas = pytest.importorskip("pandas")
        table = pandas.DataFrame(self.X, columns=["<script>alert(1)</script>", "b&b"])
        y = pandas.Series(np.where(self.y > 0, "<img src=x>", "'\"x"), name="<i>")
        found = rb.report(rb.Perceptron().fit(table, y), table, y, name="</style>")
        html = found._repr_html_()
        assert "<script>" not in html
        assert "&lt;script&gt;" in html
        assert "<img" not in html
        assert html.count("</style>") == 1

    def test_every_part_of_a_notebook_has_ids_of_its_own(self):
        found = rb.report(rb.Perceptron().fit(self.X, self.y), self.X, self.y)
        ids = [set(re.findall(r' id="([^"]+)"', found._repr_html_())) for _ in range(2)]
        assert ids[0]
        assert not ids[0] & ids[1]

    def test_it_is_written_whole(self, tmp_path):
        found = rb.report(rb.Perceptron().fit(self.X, self.y), self.X, self.y)
        found.save(tmp_path / "report.html")
        html = (tmp_path / "report.html").read_text("utf-8")
        assert html.lower().startswith("<!doctype html>")
        assert "Telling -1 from 1" in html
        with pytest.raises(TypeError, match="give the path of a file"):
            found.save(3)

    def test_it_shows_the_same_facts(self, penguins):
        columns, y = penguins
        model = make_pipeline(rb.TableEncoder(), rb.Perceptron(max_epochs=3)).fit(columns, y)
        found = rb.report(model, columns, y, test=(columns, y))
        assert found.page.fit is found.facts
        assert found.page.judgement.evaluation == found.evaluation
        assert found.page.judgement.by == "held out"
        assert found.page.rows.wrong == found.facts.training_errors

    def test_rows_of_any_pipeline_have_their_cells(self, penguins):
        pandas = pytest.importorskip("pandas")
        columns, y = penguins
        frame = pandas.DataFrame({"island": columns["island"], "year": columns["year"]})
        first = make_column_transformer((OneHotEncoder(), ["island"]), remainder="passthrough")
        found = rb.report(make_pipeline(first, rb.Adaline(max_epochs=3)).fit(frame, y), frame, y)
        rows = found.page.rows.closest
        assert [row.cells for row in rows] == frame.iloc[[r.row - 1 for r in rows]].to_dict(
            "records"
        )
        assert [one.kind for one in found.page.columns] == ["text", "number"]
        assert "onehotencoder__island_Dream" in found._repr_html_()


class TestRefusals:
    X, y = rb.datasets.eight_points()

    def refused(self, *given, match, error=ValueError, **more):
        with pytest.raises(error, match=match) as told:
            rb.report(*given, **more)
        assert "\n" not in str(told.value)

    def test_classifiers_of_others(self):
        foreign = LogisticRegression().fit(self.X, self.y)
        self.refused(
            foreign, self.X, self.y, match="not a LogisticRegression: rb.sep", error=TypeError
        )
        ours = rb.AdalineRegressor().fit(self.X, self.y)
        self.refused(ours, self.X, self.y, match="not a AdalineRegressor", error=TypeError)

    def test_nothing_was_fitted(self):
        self.refused(rb.Perceptron(), self.X, self.y, match="not fitted", error=NotFittedError)

    def test_other_data(self):
        model = rb.Perceptron().fit(self.X, self.y)
        self.refused(model, self.X, -self.y, match="not what the model was trained on")
        self.refused(model, self.X, [1] * 8, match="there were samples of -1, 1")
        self.refused(model, self.X[:5], self.y, match="y has 8 samples but X has 5 rows")
        self.refused(model, self.X[:, :1], self.y, match="features")
        self.refused(model, self.X, ["a"] * 8, match="y holds 'a', but the classes are")

    def test_a_test_that_is_no_pair(self):
        model = rb.Perceptron().fit(self.X, self.y)
        self.refused(model, self.X, self.y, test=self.X, match="test is not a pair")
        self.refused(model, self.X, self.y, test=(self.X, [1]), match="test has 1 labels but 8")

    def test_a_matrix_of_kernel_values(self):
        K = self.X @ self.X.T
        model = rb.KernelPerceptron(kernel="precomputed").fit(K, self.y)
        self.refused(model, K, self.y, match="precomputed")


def test_the_room_and_the_function_have_one_name():
    assert rosenblatt.report is rb.report
    assert rosenblatt.report.facts.FitFacts.__name__ == "FitFacts"
    assert callable(rb.report)
