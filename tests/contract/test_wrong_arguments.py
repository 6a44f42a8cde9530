"""Every public function and method, given nonsense: it works, or says in one line what is wrong.

Of each argument in turn, with all others right. An answer has to be a ValueError or a TypeError
of one line that names the argument (or one of scikit-learn's), with no other warning on the way.
"""

import enum
import fractions
import inspect
import re
import traceback
import types
import warnings
from decimal import Decimal
from functools import cache, partial

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning

import rosenblatt as rb
from rosenblatt import boolean, certify, datasets, features, io, kernels, plot, theory

X = np.array([[1.0, 1.0], [1.0, 3.0], [2.0, 1.0], [-1.0, -1.0], [-1.0, -3.0], [-2.0, -1.0]])
Y = np.array([1, 1, 1, -1, -1, -1])
ONES = np.ones(6)
XOR = datasets.xor()

# Nonsense: each is made anew for every call.
NONSENSE = {
    "None": lambda: None,
    "text": lambda: "abc",
    "empty text": lambda: "",
    "bytes": lambda: b"abc",
    "dict": lambda: {"a": 1},
    "empty dict": dict,
    "set": lambda: {1, 2},
    "generator": lambda: (i for i in range(3)),
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "-inf": lambda: float("-inf"),
    "-1": lambda: -1,
    "0": lambda: 0,
    "0.5": lambda: 0.5,
    "huge": lambda: 10**30,
    "beyond floats": lambda: 10**400,
    "thousands of digits": lambda: 10**5000,
    "complex": lambda: 1j,
    "fraction": lambda: fractions.Fraction(1, 3),
    "decimal": lambda: Decimal("0.1"),
    "true": lambda: True,
    "numpy true": lambda: np.True_,
    "numpy float": lambda: np.float32(2.5),
    "empty list": list,
    "list": lambda: [1, 2, 3],
    "ragged": lambda: [[1.0], [2.0, 3.0]],
    "list of text": lambda: ["a", "b"],
    "list of None": lambda: [None, None],
    "0-d": lambda: np.array(1.0),
    "1-d": lambda: np.arange(3.0),
    "column": lambda: np.arange(6.0)[:, np.newaxis],
    "3-d": lambda: np.zeros((2, 2, 2)),
    "no rows": lambda: np.zeros((0, 2)),
    "no columns": lambda: np.zeros((6, 0)),
    "nan inside": lambda: np.full((6, 2), np.nan),
    "complex array": lambda: np.ones((6, 2), complex),
    "dates": lambda: np.zeros((6, 2), "M8[s]"),
    "records": lambda: np.zeros(6, [("a", "f8")]),
    "objects": lambda: np.array([[object()] * 2] * 6),
    "texts": lambda: np.array([["a", "b"]] * 6),
    "masked": lambda: np.ma.masked_less(X, 0.0),
    "long": lambda: np.full((6, 2), np.longdouble(1) / 3),
    "frame of text": lambda: pd.DataFrame({"a": ["x"] * 6, "b": ["y"] * 6}),
    "sparse": lambda: sparse.csr_array(abs(X)),
    "estimator": rb.Perceptron,
    "class": lambda: rb.Perceptron,
    "kernel class": lambda: kernels.RBF,
    "module": lambda: rb,
    "function": lambda: len,
    "lambda": lambda: lambda *_: None,
    "object": object,
}


class Later:
    """A value that is made when it is first asked for, so that collecting tests fits no models."""

    def __init__(self, make):
        self.value = cache(make)

    def __getattr__(self, name):
        return Later(lambda: getattr(self.value(), name))


def now(value):
    return value.value() if isinstance(value, Later) else value


def fitted(kind, **parameters):
    def make():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return kind(**parameters).fit(*data)

    data = parameters.pop("data", (X, Y))
    return Later(make)


PERCEPTRON = fitted(rb.Perceptron, record=True)
UNBIASED = fitted(rb.Perceptron, record=True, fit_intercept=False)
CYCLE = fitted(rb.Perceptron, data=tuple(XOR), record=True)
KERNEL = fitted(rb.KernelPerceptron, kernel="poly", degree=2, gamma=1.0, record=True)
MAX, SOFT = fitted(rb.MaxMarginClassifier), fitted(rb.SoftMarginClassifier)
PATH = Later(lambda: rb.soft_margin_path(X, Y, [0.1, 1.0]))
VERDICT = Later(lambda: rb.separability(X, Y))
MEETING = Later(lambda: rb.separability(*XOR))
PLANE = rb.Hyperplane([1.0, 1.0], 0.5)
TABLE, UNIT = boolean.parse("x1 ^ x2"), boolean.and_unit(2)
NETWORK = Later(lambda: boolean.two_level_network(TABLE))
RECORD = PERCEPTRON.trace_.updates
DATA = {"X": X, "y": Y}
WEIGHED = {**DATA, "sample_weight": ONES}
PARAMETERS = {
    rb.Perceptron: {"max_epochs": 20},
    rb.Adaline: {"max_epochs": 20},
    rb.KernelPerceptron: {"kernel": "poly", "gamma": 1.0, "max_epochs": 20},
    rb.MaxMarginClassifier: {},
    rb.SoftMarginClassifier: {},
    rb.AdalineRegressor: {"max_epochs": 20},
    features.Polynomial: {},
    features.Squares: {},
    features.Map: {"function": np.sqrt},
    features.RandomFourier: {},
    features.Nystroem: {},
}
FOLDER = {}  # where files go; set by a fixture


def file(name="file"):
    return str(FOLDER["path"] / name)


def fit_with(kind):
    """Fitting with one parameter changed: the parameters are arguments, too."""

    def fit(**parameters):
        data = abs(X) if kind is features.Map else X
        return kind(**{**PARAMETERS[kind], **parameters}).fit(data, Y)

    signature = inspect.signature(kind.__init__).parameters
    values = {name: p.default for name, p in signature.items() if name != "self"}
    return fit, {**values, **PARAMETERS[kind]}


def method(kind, name):
    """A method that changes the model, on a new one."""
    return lambda **given: getattr(kind(**PARAMETERS[kind]), name)(**given)


def of(owner, kind, *names, **given):
    """The methods of these names with these arguments."""
    return {f"{kind.__name__}.{n}": (getattr(owner, n), given) for n in names}


def animate(**given):
    """A film that does not complain of not being shown."""
    plot.animate(**given)._draw_was_started = True


def _of_columns(method, columns):
    return now(method)(columns)


def calls():
    """Every public callable by name, with a right value for each argument to be changed."""
    two = {"hyperplane": PLANE, **DATA}
    drawn = {**DATA, "ax": None, "feature_names": None, "class_names": None}
    models = Later(lambda: [now(PERCEPTRON), now(SOFT)])
    report = Later(lambda: now(PERCEPTRON).bound_report(X, Y))
    table = {
        "separability": (
            rb.separability,
            {**DATA, "kernel": None, "fit_intercept": None, "max_time": None},
        ),
        "separability in features": (
            lambda **given: rb.separability(X, Y, **given),
            {"kernel": kernels.Polynomial(2), "fit_intercept": True, "max_time": 9.0},
        ),
        "mistake_bound": (
            rb.mistake_bound,
            {
                **DATA,
                "hyperplane": None,
                "init": None,
                "eta0": 1.0,
                "fit_intercept": True,
                "update": "online",
                "batch_size": None,
                "epochs": None,
                "kernel": None,
                "max_time": None,
            },
        ),
        "soft_margin_path": (
            rb.soft_margin_path,
            {
                **WEIGHED,
                "Cs": [1.0],
                "tol": 1e-3,
                "class_weight": None,
                "max_time": None,
                "n_jobs": 1,
            },
        ),
        "compare": (
            partial(rb.compare, max_time=0.01),
            {**DATA, "cv": 2, "repeats": 1, "groups": None, "random_state": 0, "n_jobs": 1},
        ),
        "compare in time": (
            partial(rb.compare, cv=2, repeats=1),
            {**DATA, "max_time": 0.01},
        ),
        "Checkpoint": (rb.Checkpoint, {"path": "run", "every": 30.0, "resume": False}),
        "Hyperplane": (rb.Hyperplane, {"w": [1.0, 2.0], "b": 0.0}),
        **of(PLANE, rb.Hyperplane, "decision_function", "distance", "canonical", "project", X=X),
        **of(PLANE, rb.Hyperplane, "margin", **DATA),
        "Hyperplane.predict": (PLANE.predict, {"X": X, "at_zero": 1}),
        "Hyperplane.support_vectors": (PLANE.support_vectors, {**DATA, "rtol": 1e-9}),
        "Updates.hyperplane": (RECORD.hyperplane, {"t": 1, "X": X}),
        "Updates.mistake_counts": (RECORD.mistake_counts, {"n": 6}),
        "certify.check": (certify.check, {"certificate": VERDICT, **DATA, "sample_weight": None}),
        "certify.check, optimum": (
            lambda **given: certify.check(now(SOFT.optimum_), **given),
            WEIGHED,
        ),
        "certify.conditions": (certify.conditions, {"optimum": SOFT.optimum_, **WEIGHED}),
        "certify.exact_weights": (
            certify.exact_weights,
            {"certificate": MEETING, "X": XOR.X, "y": XOR.y},
        ),
        "kernels.Kernel": (kernels.Kernel, {}),
        "kernels.Linear": (kernels.Linear, {}),
        "kernels.Precomputed": (kernels.Precomputed, {}),
        "kernels.Function": (kernels.Function, {"function": np.dot}),
        "kernels.Polynomial": (kernels.Polynomial, {"degree": 2, "gamma": 1.0, "coef0": 0.0}),
        "kernels.RBF": (kernels.RBF, {"gamma": 1.0}),
        "kernels.Gaussian": (kernels.Gaussian, {"sigma": 1.0}),
        "kernels.Sigmoid": (kernels.Sigmoid, {"eta": 1.0, "theta": 0.0}),
        "kernels.is_positive_semidefinite": (
            kernels.is_positive_semidefinite,
            {"K": np.eye(2), "tol": None},
        ),
        "boolean.Unit": (boolean.Unit, {"w": (1, 1), "k": 1, "names": ()}),
        "boolean.Unit.fires": (UNIT.fires, {"X": TABLE.inputs}),
        "boolean.Network.fires": (NETWORK.fires, {"X": TABLE.inputs}),
        "boolean.Unit of one": (lambda x: boolean.not_unit()(x), {"x": 1}),
        "boolean.TruthTable of one": (lambda x: boolean.parse("~x")(x), {"x": 1}),
        "boolean.and_unit": (boolean.and_unit, {"n": 2}),
        "boolean.or_unit": (boolean.or_unit, {"n": 2}),
        "boolean.not_unit": (boolean.not_unit, {}),
        "boolean.count_threshold_functions": (boolean.count_threshold_functions, {"n": 2}),
        "boolean.count_dichotomies": (boolean.count_dichotomies, {"X": X, "fit_intercept": True}),
        "boolean.shatters": (boolean.shatters, {"X": X, "fit_intercept": True}),
        "boolean.parse": (boolean.parse, {"text": "a & b", "names": None}),
        "boolean.truth_table": (boolean.truth_table, {"given": "0110", "names": None}),
        "boolean.threshold_unit": (boolean.threshold_unit, {"table": "0110"}),
        "boolean.is_threshold": (boolean.is_threshold, {"table": "0110"}),
        "boolean.two_level_network": (boolean.two_level_network, {"table": "0110"}),
        "datasets.known_margin": (
            datasets.known_margin,
            {"n": 4, "d": 2, "margin": 0.1, "radius": 1.0, "rotate": True, "random_state": 0},
        ),
        "datasets.dunkers": (datasets.dunkers, {"n": 4, "gap": 0.5, "random_state": 0}),
        "datasets.circles": (
            datasets.circles,
            {"n": 6, "inner": 0.5, "outer": 1.0, "noise": 0.0, "random_state": 0},
        ),
        "datasets.flip_labels": (
            datasets.flip_labels,
            {"dataset": XOR, "fraction": 0.5, "random_state": 0},
        ),
        "datasets.moons": (datasets.moons, {"n": 6, "noise": 0.0, "random_state": 0}),
        "datasets.touching": (datasets.touching, {"n": 5, "random_state": 0}),
        "datasets.cycling": (datasets.cycling, {}),
        "datasets.eight_points": (datasets.eight_points, {}),
        "datasets.xor": (datasets.xor, {}),
        "theory.augment": (theory.augment, {"X": X}),
        "theory.unaugment": (theory.unaugment, {"theta": [1.0, 2.0]}),
        "theory.radius": (theory.radius, {"X": X, "fit_intercept": True}),
        "theory.mistake_bound_value": (theory.mistake_bound_value, {"R": 1.0, "gamma": 1.0}),
        "theory.mistake_bound_from_guess": (
            theory.mistake_bound_from_guess,
            {"R": 1.0, "gamma": 1.0, "along": 0.5, "length": 1.0},
        ),
        "theory.mistake_bound_in_epochs": (
            theory.mistake_bound_in_epochs,
            {"R": 1.0, "gamma": 1.0, "shortfall": 1.0, "epochs": 2, "along": 0.0, "length": 0.0},
        ),
        "theory.perceptron_subgradient": (theory.perceptron_subgradient, {**two, "at_zero": 1.0}),
        "theory.all_samples_counterexample": (theory.all_samples_counterexample, {}),
        "theory.soft_margin_objective": (theory.soft_margin_objective, {**two, "C": 1.0}),
        "theory.cover_count": (theory.cover_count, {"n": 5, "d": 2}),
        "theory.cover_probability": (theory.cover_probability, {"n": 5, "d": 2}),
        "io.load": (io.load, {"path": "there is no such file"}),
        "io.load_certificate": (io.load_certificate, {"path": "there is no such file"}),
        "io.read_table": (
            lambda path=None, **given: io.read_table(path or file("t.csv"), **given),
            {"header": None, "delimiter": None, "text": (), "sheet": None, "table": None}
            | {"query": None},
        ),
        "io.read_table, path": (io.read_table, {"path": "there is no such file"}),
        "io.save": (
            lambda **given: io.save(path=file("m"), **given),
            {"model": PERCEPTRON, "summary": None},
        ),
        "io.save_certificate": (
            lambda **given: io.save_certificate(path=file("c"), **given),
            {"certificate": VERDICT, **DATA},
        ),
        "plot.decision": (plot.decision, {"model": PERCEPTRON, **drawn}),
        "plot.decision, kernel": (plot.decision, {"model": KERNEL, **drawn}),
        "plot.hulls": (plot.hulls, {"certificate": None, **drawn}),
        "plot.margin": (plot.margin, {"model": SOFT, "which": None, **drawn}),
        "plot.nearest": (plot.nearest, {"model": MAX, "which": None, **drawn}),
        "plot.compare": (
            plot.compare,
            {"models": models, **DATA, "axes": None, "class_names": None},
        ),
        "plot.path": (plot.path, {"path": PATH, **DATA, "axes": None, "class_names": None}),
        "plot.updates": (
            plot.updates,
            {"model": PERCEPTRON, **DATA, "first": 1, "axes": None, "feature_names": None},
        ),
        "plot.animate": (
            animate,
            {"model": PERCEPTRON, **DATA, "path": None, "fps": 3, "max_frames": 3},
        ),
        "plot.cycle": (plot.cycle, {"model": CYCLE, "X": XOR.X, "y": XOR.y, "ax": None}),
        "plot.epochs": (plot.epochs, {"model": PERCEPTRON, "ax": None}),
        "plot.bound": (plot.bound, {"report": report, "ax": None}),
        "plot.neuron": (plot.neuron, {"model": None, "ax": None, "feature_names": None}),
        "plot.network": (plot.network, {"network": NETWORK, "ax": None}),
        "plot.bias": (plot.bias, {"ax": None, "w": (1, 1), "biases": (0, -4)}),
        "plot.fan": (plot.fan, {"ax": None, "models": None}),
        "plot.losses": (plot.losses, {"ax": None, "names": None}),
        "plot.nerve_cell": (plot.nerve_cell, {"ax": None}),
        "plot.points": (plot.points, {**drawn, "markers": None}),
        "plot.bound_geometry": (plot.bound_geometry, {**drawn, "hyperplane": None}),
        "plot.weight_space": (plot.weight_space, {"model": UNBIASED, **DATA, "ax": None}),
        "plot.loss_surface": (plot.loss_surface, {"model": UNBIASED, **DATA, "ax": None}),
        "plot.objective": (plot.objective, {"ax": None}),
        "plot.scores": (
            plot.scores,
            {
                "folds": {"one": [0.5, 0.75], "other": [0.25, 1.0]},
                "baseline": 0.5,
                "baseline_name": "always A",
                "alike": (),
                "chosen": "one",
                "ax": None,
            },
        ),
        "plot.save": (
            lambda **given: plot.save(path=file("p.png"), **given),
            {"drawn": Figure(figsize=(1, 1)), "dpi": 50},
        ),
    }
    for name in ("zero_one_loss", "perceptron_loss", "mistake_update", "target_output_update"):
        table[f"theory.{name}"] = getattr(theory, name), two
    for name in ("squared_loss", "delta_rule_update", "all_samples_objective", "slacks"):
        table[f"theory.{name}"] = getattr(theory, name), two
    for name, loss in theory.losses.items():
        table[f"theory.losses[{name!r}]"] = loss, {"z": 1.0}
    for kernel in (kernels.Linear(), kernels.RBF(1.0), kernels.Function(np.dot)):
        table[f"kernels.{type(kernel).__name__}()"] = kernel.__call__, {"X": X, "Y": X}
        table[f"kernels.{type(kernel).__name__}.diagonal"] = kernel.diagonal, {"X": X}
    table["kernels.Precomputed()"] = kernels.Precomputed().__call__, {"X": np.eye(2)}
    table["kernels.Precomputed.diagonal"] = kernels.Precomputed().diagonal, {"X": np.eye(2)}
    for kind in PARAMETERS:
        where = "features." if kind.__module__.startswith("rosenblatt.features") else ""
        table[f"{where}{kind.__name__}"] = fit_with(kind)
    models = (PERCEPTRON, fitted(rb.Adaline), KERNEL, MAX, SOFT)
    for model, kind in zip(models, PARAMETERS, strict=False):
        name = kind.__name__
        table[f"{name}.fit"] = method(kind, "fit"), WEIGHED
        table |= of(model, kind, "decision_function", "predict", X=X)
        if hasattr(kind, "partial_fit"):
            classes = {**WEIGHED, "classes": [-1, 1]}
            table[f"{name}.partial_fit"] = method(kind, "partial_fit"), classes
        if hasattr(kind, "bound_report"):
            table |= of(model, kind, "bound_report", **WEIGHED)
        if hasattr(kind, "sides"):
            table |= of(model, kind, "sides", **DATA)
    line = rb.AdalineRegressor
    for name in ("fit", "partial_fit"):
        table[f"AdalineRegressor.{name}"] = method(line, name), WEIGHED
    table |= of(fitted(line), line, "predict", X=X)
    cycle = {"X": XOR.X, "y": XOR.y, "sample_weight": None, "max_time": None}
    table["Perceptron.cycle_report"] = CYCLE.cycle_report, cycle
    for kind in list(PARAMETERS)[6:]:
        step = fitted(kind, data=(abs(X),), **PARAMETERS[kind])
        table[f"features.{kind.__name__}.fit"] = method(kind, "fit"), {"X": abs(X)}
        table[f"features.{kind.__name__}.transform"] = step.transform, {"X": abs(X)}
        names = step.get_feature_names_out, {"input_features": None}
        table[f"features.{kind.__name__}.get_feature_names_out"] = names
    table["TableEncoder"] = (
        lambda **given: rb.TableEncoder(**given).fit(X),
        {"standardize": True, "use": (), "keep_constant": False},
    )
    encoder = fitted(rb.TableEncoder, data=(X,))
    for name in ("fit", "transform", "unseen"):
        of_columns = rb.TableEncoder().fit if name == "fit" else getattr(encoder, name)
        table[f"TableEncoder.{name}"] = partial(_of_columns, of_columns), {"columns": X}
    table["TableEncoder.get_feature_names_out"] = (
        encoder.get_feature_names_out,
        {"input_features": None},
    )
    return table


CALLS = calls()
# What a message may call an argument instead.
WORDS = {
    "model": ("model", "classifier", "fitted", "record", "kernel"),
    "models": ("models", "classifier"),
    "text": ("text", "expression"),
    "given": ("truth table", "expression", "values", "given"),
    "table": ("truth table", "expression", "values", "table"),
    "x": ("inputs",),
    "names": ("names", "name"),
    "certificate": ("certificate", "X", "support"),
    "optimum": ("Optimum",),
    "X": ("X", "hyperplane", "kernel"),
    "theta": ("theta", "w and b"),
    "path": ("path", "file", "save", "name"),
    "report": ("bound_report",),
    "network": ("Network",),
    "Y": ("Y", "kernel"),
    "columns": ("column", "table"),
    "function": ("function", "kernel"),
    "input_features": ("input_features", "feature"),
    "batch_size": ("batch_size",),
    "margin": ("margin", "d", "n"),
    "drawn": ("cannot save",),
}


# Functions are called, and what they raise passes through.
FUNCTIONS = ("class", "kernel class", "function", "lambda")
TAKE_FUNCTIONS = ("callback", "kernel", "function")


def fault(name, argument, kind):
    """What is wrong with the answer to this nonsense, if anything is."""
    call, right = now(CALLS[name][0]), {key: now(value) for key, value in CALLS[name][1].items()}
    if kind in FUNCTIONS and argument in TAKE_FUNCTIONS:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for expected in (ConvergenceWarning, DataConversionWarning):
                warnings.simplefilter("ignore", expected)
            warnings.filterwarnings("ignore", "the kernel .* is not an inner product")
            call(**{**right, argument: NONSENSE[kind]()})
    except (ValueError, TypeError) as error:
        message = str(error)
        *_, (frame, _) = traceback.walk_tb(error.__traceback__)  # reads no sources
        where = frame.f_code.co_filename
        if "sklearn" in where:
            return None
        if "\n" in message:
            return f"{type(error).__name__} of several lines: {message[:200]}"
        words = WORDS.get(argument, (argument,))
        if not any(re.search(rf"(?<!\w){re.escape(word)}", message) for word in words):
            return f"{type(error).__name__} that does not name {argument}: {message} ({where})"
        return None
    except OSError as error:
        return None if argument == "path" else repr(error)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} ({where.filename}:{where.lineno})"
    return None


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(FOLDER, "path", tmp_path)
    (tmp_path / "t.csv").write_text("a,b,c\n1,2,x\n3,4,y\n")


@pytest.mark.parametrize("name", CALLS)
def test_nonsense_is_answered_in_one_line(name):
    step = 3 if name.startswith(("plot.", "io.")) else 1  # these take their time
    found = []
    for number, argument in enumerate(CALLS[name][1]):
        for kind in list(NONSENSE)[number % step :: step]:
            if why := fault(name, argument, kind):
                found.append(f"{argument}={kind}: {why}")
    assert not found, "\n".join(found)


RESULTS = {  # made by the library, not by its users
    *("Inseparable", "Optimum", "QuasiSeparable", "Separable", "Undecided", "MistakeBound"),
    *(
        "certify.CheckResult",
        "certify.CheckResults",
        "certify.Conditions",
        "kernels.Definiteness",
        "boolean.Network",
    ),
    *("boolean.TruthTable", "io.Table", "datasets.Dataset"),
}


def public(module):
    """The names of a module's public functions and classes that are no exceptions or words."""
    for name in getattr(module, "__all__", vars(module)):
        value = getattr(module, name)
        own = hasattr(module, "__all__") or getattr(value, "__module__", "") == module.__name__
        if isinstance(value, types.ModuleType) or name.startswith("_") or not own:
            continue
        if inspect.isclass(value) and issubclass(value, BaseException | enum.Enum):
            continue
        if inspect.isfunction(value) or inspect.isclass(value):
            yield name


@pytest.mark.parametrize(
    "module", [rb, boolean, certify, datasets, features, io, kernels, plot, theory]
)
def test_everything_public_is_among_them(module):
    where = "" if module is rb else module.__name__.removeprefix("rosenblatt.") + "."
    names = {f"{where}{name}" for name in public(module)}
    assert names
    assert names - RESULTS - set(CALLS) == set()


@pytest.mark.parametrize("kind", [*PARAMETERS, rb.Hyperplane])
def test_every_method_is_among_them(kind):
    where = "features." if kind.__module__.startswith("rosenblatt.features") else ""
    ours = [base for base in kind.__mro__ if base.__module__.startswith("rosenblatt")]
    methods = {
        f"{where}{kind.__name__}.{name}"
        for base in ours
        for name, value in vars(base).items()
        if not name.startswith("_") and not isinstance(value, property) and callable(value)
    }
    without = {f"Hyperplane.{name}" for name in ("point", "basis")}  # arguments
    # The second is scikit-learn's, which answers in its own words, but for opened sources.
    without |= {f"{kind.__name__}.{name}" for name in ("check_parameters", "score")}
    assert methods - without - set(CALLS) == set()
