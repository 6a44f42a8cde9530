"""What a page shows: its facts against plain references, and names that stay text."""

import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import auc, average_precision_score, roc_auc_score

import rosenblatt as rb
from hostile import HOSTILE
from rosenblatt.report.fits import EncodedTable, fit_facts, margins_of, numbered
from rosenblatt.report.judging import judge
from rosenblatt.report.page.charting import ticks
from rosenblatt.report.page.curves import histogram, ranking_curves, thinned
from rosenblatt.report.page.gathering import page_facts
from rosenblatt.report.page.rendering import fragment, page
from rosenblatt.tables.encoder import TableEncoder
from rosenblatt.validation.learning import nested


def facts_of(classifier, names, X, labels):
    """The facts of a page about a table of numbers."""
    columns = {name: X[:, j] for j, name in enumerate(names)}
    encoder = TableEncoder(standardize=False)
    encoded = encoder.fit_transform(columns)
    training = EncodedTable(
        file="t.csv",
        names=[*names, "y"],
        target="y",
        columns=columns,
        **numbered(labels),
        encoder=encoder,
        X=encoded,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        classifier.fit(encoded, labels)
    margins = margins_of(classifier, training)
    verdicts = judge(classifier, training, margins)
    fit = fit_facts(classifier, training)
    return page_facts(classifier, training, replace(fit, margins=margins, verdicts=verdicts))


def blobs(k, n=40, d=2):
    rng = np.random.default_rng(0)
    centres = 4 * rng.normal(size=(k, d))
    y = np.arange(n * k) % k
    return centres[y] + rng.normal(size=(n * k, d)), y


@pytest.mark.parametrize("ties", [False, True])
def test_areas_under_curves_are_those_of_scikit_learn(ties):
    rng = np.random.default_rng(3)
    true = rng.integers(0, 2, 70)
    values = true + rng.normal(size=70)
    values = np.round(values) if ties else values
    (found,) = ranking_curves([(true, values[:, None])], ["no", "yes"])
    assert found.name == "yes"
    assert auc(*zip(*found.roc, strict=True)) == pytest.approx(
        roc_auc_score(true, values), abs=1e-4
    )
    recall, precision = np.array(found.precision).T
    steps = float(np.diff(recall) @ precision[1:])
    assert steps == pytest.approx(average_precision_score(true, values), abs=1e-4)


def test_curves_of_folds_are_their_means():
    high = np.array([0, 1, 0, 1]), np.array([[-2.0], [5], [-1], [3]])  # without an error
    low = np.array([0, 1, 0, 1]), np.array([[2.0], [-5], [1], [-3]])  # all the wrong way round
    (found,) = ranking_curves([high, low], ["no", "yes"])
    heights = [y for x, y in found.roc if 0 < x < 1]
    assert heights == pytest.approx([0.5] * len(heights))
    assert heights
    assert max(y for _, y in found.roc) == 1
    assert found.precision[0][1] == pytest.approx(0.5)  # of 1 and 0


def test_a_thinned_line_keeps_its_ends():
    x = np.linspace(0, 1, 5000)
    line = thinned(x, x**2, 50)
    assert line[0] == (0, 0)
    assert line[-1] == (1, 1)
    assert len(line) <= 50


def test_a_histogram_counts_every_row_once_and_parts_at_zero():
    rng = np.random.default_rng(5)
    values = {
        "a": np.append(rng.normal(-1, 1, 500), 0.0),
        "b": np.append(rng.normal(1, 2, 300), 99),
    }
    found = histogram(values, "distance")
    assert {name: sum(counts) for name, counts in found.counts.items()} == {"a": 501, "b": 301}
    assert 0.0 in found.edges
    for name, part in values.items():
        above = [n for left, n in zip(found.edges, found.counts[name], strict=False) if left >= 0]
        assert sum(above) == (part > 0).sum()  # on the boundary is not above it
    assert found.cut >= 1
    assert histogram({"a": np.zeros(3)}, "value") is None


def test_every_beginning_of_nested_rows_has_all_classes():
    y = np.array([0] * 60 + [1] * 30 + [2] * 10)
    order = nested(np.arange(100), y)
    assert sorted(order.tolist()) == list(range(100))
    for n in (3, 10, 20, 50):
        assert np.bincount(y[order[:n]], minlength=3) == pytest.approx(
            [0.6 * n, 0.3 * n, 0.1 * n], abs=1.01
        )


def test_ticks_are_round_and_within():
    assert ticks(0, 1) == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1])
    assert ticks(-3.2, 7.1) == pytest.approx([-2, 0, 2, 4, 6])
    assert ticks(5, 5) == [5]


def test_names_are_only_ever_text():
    X, y = blobs(2)
    names = list(HOSTILE)
    X = np.hstack([X, np.arange(80 * 5).reshape(80, 5) % 13])
    labels = np.array(["<i>a</i>", "b\"'"])[y]
    made = page(facts_of(rb.Perceptron(max_epochs=3), names, X, labels))
    assert "<script" not in made
    assert not re.search(r"<[^>]*onmouseover=", made)
    assert "<img" not in made
    assert "\u202e" not in made
    assert "&lt;script&gt;window.taken=1" in made
    assert "{{ 7 * 7 }}" in made
    assert "&lt;i&gt;a&lt;/i&gt;" in made
    assert "default-src 'none'" in made
    assert re.search("× \u2068שלום[^<]*\u2069 [−+]", made)  # it does not turn the numbers


MODELS = [
    (rb.Perceptron(max_epochs=4), 2),
    (rb.Perceptron(max_epochs=4), 14),
    (rb.Perceptron(max_epochs=2), 50),
    (rb.Perceptron(max_epochs=4, multiclass="joint"), 4),
    (rb.Adaline(max_epochs=3), 3),
    (rb.KernelPerceptron(max_epochs=2), 3),
    (rb.MaxMarginClassifier(), 2),
    (rb.SoftMarginClassifier(), 3),
]


@pytest.mark.parametrize(("model", "k"), MODELS, ids=str)
def test_every_kind_of_model_has_a_page(model, k):
    X, y = blobs(k, n=8)
    facts = facts_of(model, ["a", "b"], X, np.array([f"class {label:02}" for label in y]))
    made = page(facts)
    heads = re.findall(r"<h2[^>]*>(.*?)</h2>", made)
    assert heads[:4] == [
        "What it is worth",
        "Can the classes be separated?",
        "What it goes by",
        "How it was trained",
    ]
    right = f"{100 * facts.judgement.evaluation.accuracy:.1f}%"
    assert right in made
    assert made.count("<section") == made.count("</section>") == len(heads)
    assert len(made) < 400_000


def test_a_fragment_keeps_to_itself():
    X, y = blobs(2)
    facts = facts_of(rb.Perceptron(max_epochs=3), ["a", "b"], X, y)
    one, two = fragment(facts, "one"), fragment(facts, "two")
    ids = [set(re.findall(r'id="([^"]+)"', part)) for part in (one, two)]
    assert ids[0]
    assert not ids[0] & ids[1]
    style = one[one.index("<style>") + 7 : one.index("</style>")]
    assert style.strip().startswith(".rosenblatt {")
    assert style.count("{") == style.count("}")
    depth, outside = 0, ""
    for c in style:
        depth += {"{": 1, "}": -1}.get(c, 0)
        outside += c if depth == 0 else ""
    assert re.sub(r"[\s}]", "", outside) == ".rosenblatt"  # nothing but what is in here
    for word in ("<html", "<body", "<head>", "<script"):
        assert word not in one
    assert page(facts) == page(facts)
