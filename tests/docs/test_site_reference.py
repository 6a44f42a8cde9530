"""The reference is made from docstrings: these are complete, and all of it is in the site."""

import inspect
import re
import zlib
from dataclasses import fields, is_dataclass

import pytest
from sklearn.base import BaseEstimator

import rosenblatt as rb
from rosenblatt import results
from rosenblatt.separation.feature_space import FeatureVerdict

MODULES = [value for name in rb.__all__ if inspect.ismodule(value := getattr(rb, name))]
CLASSIFIERS = [
    rb.Perceptron,
    rb.Adaline,
    rb.KernelPerceptron,
    rb.SoftMarginClassifier,
    rb.MaxMarginClassifier,
]


def public(module):
    """The names a module offers: what it lists, or what it defines."""
    own = [name for name, value in vars(module).items() if _defined_in(module, name, value)]
    return getattr(module, "__all__", own)


def _defined_in(module, name, value):
    return not name.startswith("_") and getattr(value, "__module__", None) == module.__name__


def everything():
    """All public objects, by the name they go by."""
    top = {f"rosenblatt.{name}": getattr(rb, name) for name in rb.__all__}
    below = {f"{m.__name__}.{name}": getattr(m, name) for m in MODULES for name in public(m)}
    return {
        name: value
        for name, value in {**top, **below}.items()
        if inspect.isclass(value) or inspect.isfunction(value)
    }


PUBLIC = everything()
RESULTS = {
    *(value for name in results.__all__ if is_dataclass(value := getattr(results, name))),
    *(value for value in PUBLIC.values() if is_dataclass(value)),
    FeatureVerdict,
}


def words(given):
    """The identifiers in the docstring of an object."""
    return set(re.findall(r"\w+", inspect.getdoc(given) or "", re.ASCII))


def parameters(given):
    """The names of the parameters of a function, or of those that make an object."""
    return [name for name in inspect.signature(given).parameters if name != "self"]


# Docstrings ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_parameter_is_explained(name):
    given = PUBLIC[name]
    if inspect.isclass(given) and not issubclass(given, BaseEstimator):
        return  # what makes a result are its parts, and errors take a message
    assert not set(parameters(given)) - words(given)


@pytest.mark.parametrize(
    "given",
    [value for value in PUBLIC.values() if inspect.isclass(value) and "fit" in dir(value)],
    ids=lambda given: given.__name__,
)
def test_estimators_list_their_parameters(given):
    section = inspect.getdoc(given).split("Parameters\n----------\n")[1].split("\n\n")[0]
    listed = re.findall(r"^(\w[\w, ]*?)(?: : .*)?$", section, re.MULTILINE)
    assert sorted(", ".join(listed).split(", ")) == sorted(parameters(given))


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: model.__name__)
def test_every_result_of_a_fit_is_explained(model):
    found = model().fit(*rb.datasets.eight_points())
    names = {name for name in dir(found) if re.fullmatch(r"[a-z]\w*[a-z]_", name)}
    assert not names - words(model) - {"n_features_in_", "feature_names_in_"}  # scikit-learn's


@pytest.mark.parametrize("result", sorted(RESULTS, key=str), ids=lambda result: result.__name__)
def test_every_part_of_a_result_is_explained(result):
    said = set().union(*map(words, result.__mro__[:-1]))
    properties = {n: v for c in result.__mro__ for n, v in vars(c).items() if type(v) is property}
    assert not {field.name for field in fields(result)} - said
    assert all(value.__doc__ for name, value in properties.items() if name[0] != "_")


# The site -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def inventory(site):
    """The names that the site explains, and which can be linked to."""
    header = b"".join((site / "objects.inv").read_bytes().split(b"\n", 4)[4:])
    lines = zlib.decompress(header).decode().splitlines()
    return {name for name, role, *_ in map(str.split, lines) if role.startswith("py:")}


# A name that is missing here goes on one of the pages in docs/reference.


def test_every_public_name_has_its_place(inventory):
    assert not set(PUBLIC) - inventory
    assert not {module.__name__ for module in MODULES} - inventory


def test_every_result_has_its_place(inventory):
    names = {name.rpartition(".")[2] for name in inventory}
    assert not {result.__name__ for result in RESULTS} - names


def test_every_method_has_its_place(inventory):
    shown = {f"rosenblatt.Hyperplane.{n}" for n in dir(rb.Hyperplane) if not n.startswith("_")}
    shown |= {f"rosenblatt.StopReason.{reason.name}" for reason in rb.StopReason}
    shown |= {f"rosenblatt.Verdict.{verdict.name}" for verdict in rb.Verdict}
    methods = "fit", "partial_fit", "predict", "decision_function", "cycle_report", "bound_report"
    shown |= {f"rosenblatt.Perceptron.{name}" for name in methods}
    assert not shown - inventory
