"""Facts about a fit: frozen, the same after a file, and all that the words need."""

import dataclasses
import json
import pickle
import warnings

import pytest

import rosenblatt as rb
from commands import call, dunkers_table, fitted, one_line, table, xor_table
from rosenblatt.kernels.gram_matrices import IndefiniteKernelWarning
from rosenblatt.report import bound_report, checks, facts, fits
from rosenblatt.report.facts import FitFacts, Ground, VerdictFacts
from rosenblatt.report.fit_report import print_report
from rosenblatt.report.saved import saved_facts
from rosenblatt.report.sentences import verdict_sentence
from rosenblatt.report.terminal import NamedWeights

pytestmark = pytest.mark.usefixtures("plain_terminal")
MODELS = [
    ["--max-epochs", 5],
    ["--model", "adaline", "--max-epochs", 5],
    ["--kernel", "rbf", "--drop-after", 2, "--max-epochs", 5],
    ["--kernel", "sigmoid", "--max-epochs", 5],
    ["--model", "max-margin"],
    ["--model", "soft-margin", "--C", 10],
]


@pytest.mark.parametrize("module", [bound_report, checks, facts, fits])
def test_facts_are_frozen(module):
    own = [one for one in vars(module).values() if dataclasses.is_dataclass(one)]
    assert own
    assert all(one.__dataclass_params__.frozen for one in own)


@pytest.mark.parametrize("options", MODELS, ids=lambda options: options[1])
@pytest.mark.parametrize("write", [dunkers_table, xor_table])
def test_a_file_keeps_the_facts(options, write, capsys):
    name = write()
    code = int(write is xor_table and "max-margin" in options)
    done = call("fit", name, *options, "--cv", 0, "-o", "m.skops", code=code)
    model = rb.io.load("m.skops")
    found = saved_facts(model, "m.skops")
    assert isinstance(found, FitFacts)
    assert found.as_json() == model.summary_
    capsys.readouterr()
    print_report(f"{name} → {found.model}", found, NamedWeights.of(model), 8, saved="m.skops")
    assert capsys.readouterr().out == done.stdout


def test_the_margin_is_computed_once(monkeypatch):
    seen = []
    exact = fits.margin_of
    monkeypatch.setattr(fits, "margin_of", lambda *given: seen.append(1) or exact(*given))
    found = fitted(dunkers_table(), "--cv", 0)
    assert found["grounds"] == [{"ground": "MODEL"}]
    assert found["margins"][0] > 0
    assert len(seen) == 1


def test_every_ground_can_be_told():
    rows, undecided = (1, 2), rb.Verdict.UNDECIDED
    told = {
        verdict_sentence(VerdictFacts(undecided, ground, rows=rows, margin=1.0, message="so"))
        for ground in Ground
        if ground not in (Ground.DIFFERENT_ROWS, Ground.TOO_MANY_ROWS)
    }
    assert all(told)


def test_a_model_made_in_python_has_facts_too():
    X, y = rb.datasets.eight_points()
    rb.io.save(rb.Perceptron().fit(X, y), "m.skops")
    assert saved_facts(rb.io.load("m.skops"), "m.skops") is None
    found = fits.fit_facts(rb.Perceptron().fit(X, y))
    assert found.table is None
    assert json.loads(call("show", "m.skops", "--json").stdout).items() >= found.as_json().items()


def test_an_indefinite_kernel_is_warned_of_by_a_class_of_its_own():
    X, y = rb.datasets.circles(40, noise=0.3, random_state=0)
    model = rb.KernelPerceptron(kernel="sigmoid", gamma=2.0, max_epochs=2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    warning = next(w.message for w in caught if isinstance(w.message, IndefiniteKernelWarning))
    assert " is not an inner product: on 40 of these samples " in str(warning)
    assert warning.eigenvalue < 0
    assert str(pickle.loads(pickle.dumps(warning))) == str(warning)
    name = table("c.csv", {"a": X[:, 0], "b": X[:, 1], "y": y})
    options = ("--raw", "--kernel", "sigmoid", "--gamma", 2, "--max-epochs", 2, "--cv", 0)
    text = one_line(call("fit", name, *options).stdout)
    assert "--kernel rbf or poly has both" in text
