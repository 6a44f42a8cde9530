"""Models that train on after a file, as if never saved."""

import copy
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rosenblatt as rb
from model_files import cloud, differences, round_trip, without_summary

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


parameters = st.fixed_dictionaries(
    {
        "order": st.sampled_from(["cyclic", "shuffled", "sampled"]),
        "fit_intercept": st.booleans(),
        "random_state": st.sampled_from([0, 7]),
        "init": st.sampled_from(["zeros", "random"]),
        "class_weight": st.sampled_from([None, {0: 0.5, 1: 3.0}]),
    }
)


rules = st.one_of(
    st.fixed_dictionaries(
        {
            "kind": st.just(rb.Perceptron),
            "keep": st.sampled_from(["last", "average", "auto"]),
            "record": st.booleans(),
            "form": st.sampled_from(
                [{}, {"update": "batch"}, {"update": "minibatch", "batch_size": 9}]
            ),
        }
    ),
    st.fixed_dictionaries(
        {
            "kind": st.just(rb.Perceptron),
            "record": st.booleans(),
            "form": st.sampled_from([{"order": "random-mistake"}, {"order": "worst-mistake"}]),
        }
    ),
    st.fixed_dictionaries({"kind": st.just(rb.Adaline), "eta0": st.just(1e-3)}),
)


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(rules, parameters, st.sampled_from([2, 3]), st.booleans(), st.booleans())
def test_going_on_as_if_never_saved(tmp_path, rule, common, classes, at_once, by_pickle):
    rule = dict(rule)
    kind, form = rule.pop("kind"), rule.pop("form", {})
    X, y = cloud(classes)
    model = kind(**{**common, **rule, **form}, max_epochs=3)
    if at_once:
        model.fit(X, y)
    else:
        for rows in (slice(0, 30), slice(30, 50)):
            model.partial_fit(X[rows], y[rows], classes=np.arange(classes))
    if by_pickle:
        twin = pickle.loads(pickle.dumps(model))
    else:
        twin = without_summary(round_trip(model, tmp_path))
    for each in (model, twin):
        for rows in (slice(50, 80), slice(0, 40)):
            each.partial_fit(X[rows], y[rows])
    assert differences(model, twin, skip=("seconds",)) == []
    for each in (model, twin):
        each.set_params(warm_start=True).fit(X, y)
    assert differences(model, twin, skip=("seconds",)) == []


def test_the_pocket_starts_warm(tmp_path):
    X, y = cloud()
    model = rb.Perceptron(keep="pocket", warm_start=True, max_epochs=2, random_state=0).fit(X, y)
    twin = without_summary(round_trip(model, tmp_path))
    assert differences(model.fit(X, y), twin.fit(X, y), skip=("seconds",)) == []


@pytest.mark.parametrize("order", ["cyclic", "random-mistake"])
def test_the_record_is_kept_once(order, tmp_path):
    X, y = cloud()
    model = rb.Perceptron(record=True, order=order, max_epochs=40).fit(X, y)
    twin = round_trip(model, tmp_path)
    for each in (model, twin, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        updates, (columns,) = each.trace_.updates, each._state[0].records
        for name, column in zip(
            ("epoch", "sample", "value", "step", "update"), columns, strict=True
        ):
            assert getattr(updates, name) is column
    with zipfile.ZipFile(tmp_path / "model.skops") as file:
        assert len(file.namelist()) < 40
