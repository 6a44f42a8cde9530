"""A model as an ONNX graph: encoder, feature map and classifier in one, in double precision.

The nodes are written one by one: converters for scikit-learn's models compute in single precision,
whose linear classifier would decide otherwise than the model near its boundary.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt import kernels
from rosenblatt.exports.formula import NumberTerm, Parts, Term, ValueTerm
from rosenblatt.features import Nystroem, Polynomial, RandomFourier, Squares
from rosenblatt.kernels import maps
from rosenblatt.kernels.functions import Radial
from rosenblatt.tables.date_parts import MONTH, ROUND, WEEKDAY

if TYPE_CHECKING:
    from numpy.typing import NDArray

OPSET, ML_OPSET, IR = 17, 3, 8
MISSING_PART = 99  # the number of the weekday or month of a missing date
INSTALL = 'ONNX needs an extra package: pip install "rosenblatt[onnx]"'


def onnx_graph(parts: Parts, title: str, what: str) -> bytes:
    """The bytes of an ONNX file.

    Raises ImportError if `onnx` is not installed, and ValueError, saying what `what` has, where
    ONNX has nothing for it.
    """
    try:
        import onnx
    except ImportError:
        raise ImportError(INSTALL) from None
    graph = Graph(parts, what)
    made = graph.model(title)
    onnx.checker.check_model(made)
    data: bytes = made.SerializeToString()
    return data


class Graph:
    """Nodes, constants and inputs, as they are added; a name stands for what a node gives."""

    def __init__(self, parts: Parts, what: str) -> None:
        self.parts, self.what = parts, what
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: dict[str, Any] = {}

    def model(self, title: str) -> Any:
        """The whole graph: from the columns to decision values and classes."""
        from onnx import TensorProto, helper

        X = self.columns()
        for step in self.parts.maps:
            X = self.mapped(step, X)
        values = self.values(X)
        decision, prediction = self._free("decision"), self._free("prediction")
        self.nodes.append(helper.make_node("Identity", [values], [decision]))
        text = self._classes(values, prediction)
        k = 1 if len(self.parts.classes) == 2 else len(self.parts.classes)
        outputs = [
            helper.make_tensor_value_info(
                prediction, TensorProto.STRING if text else TensorProto.INT64, ["rows"]
            ),
            helper.make_tensor_value_info(decision, TensorProto.DOUBLE, ["rows", k]),
        ]
        graph = helper.make_graph(
            self.nodes, "rosenblatt", list(self.inputs.values()), outputs, self.constants
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        made = helper.make_model(graph, opset_imports=opsets, ir_version=IR)
        made.producer_name, made.doc_string = "rosenblatt", title
        return made

    # Nodes ------------------------------------------------------------------------------------

    def _free(self, name: str) -> str:
        """A name that no column has."""
        return name if name not in self.inputs else self._free(f"{name}_")

    def constant(self, value: Any, dtype: Any = np.float64) -> str:
        """A constant, by its name."""
        from onnx import TensorProto, helper, numpy_helper

        name = self._free(f"constant {len(self.constants)}")
        if dtype is str:
            texts = [text.encode() for text in value]
            self.constants.append(helper.make_tensor(name, TensorProto.STRING, [len(texts)], texts))
        else:
            self.constants.append(numpy_helper.from_array(np.asarray(value, dtype=dtype), name))
        return name

    def node(self, kind: str, *inputs: Any, domain: str = "", **attributes: Any) -> str:
        """A node of names and numbers; the name of what it gives."""
        from onnx import helper

        rows = [one if isinstance(one, str) else np.atleast_2d(one) for one in inputs]
        names = [row if isinstance(row, str) else self.constant(row) for row in rows]
        made = self._free(f"value {len(self.nodes)}")
        self.nodes.append(helper.make_node(kind, names, [made], domain=domain, **attributes))
        return made

    def product(self, X: str, matrix: NDArray[Any]) -> str:
        """The product with a matrix.

        ONNX Runtime fuses MatMul with a number that one of its factors, or the product, is
        multiplied by, and rounds that to single precision. So numbers go into the matrix, and a
        matrix of one row, before which all factors are numbers, takes no MatMul.
        """
        return self.node("MatMul" if len(matrix) > 1 else "Mul", X, matrix)

    def columns(self) -> str:
        """The features of all columns side by side."""
        from onnx import TensorProto, helper

        for name, kind in _kinds(self.parts.terms).items():
            tensor = TensorProto.STRING if kind == "text" else TensorProto.DOUBLE
            self.inputs[name] = helper.make_tensor_value_info(name, tensor, ["rows", 1])
        made = [self.feature(term) for term in self.parts.terms]
        return made[0] if len(made) == 1 else self.node("Concat", *made, axis=1)

    # Columns ----------------------------------------------------------------------------------

    def feature(self, term: Term) -> str:
        """The features of a column, or of a part of its dates."""
        if isinstance(term, NumberTerm):
            return self._number(term)
        if term.part:
            return self._part(term)
        keys, codes = _spellings(term)
        how = {"keys_strings": keys, "values_int64s": codes, "default_int64": -1}
        code = self.node("LabelEncoder", term.column, domain="ai.onnx.ml", **how)
        return self._one_hot(code, list(range(len(term.values))))

    def _one_hot(self, code: str, codes: list[int]) -> str:
        from onnx import TensorProto

        same = self.node("Equal", code, self.constant([codes], np.int64))
        return self.node("Cast", same, to=TensorProto.DOUBLE)

    def _number(self, term: NumberTerm) -> str:
        x = term.column
        if term.part:  # the hour
            x = self.node("Mul", self.node("Sub", x, self.node("Floor", x)), 24.0)
        if term.fill is not None:
            x = self.node("Where", self.node("IsNaN", x), term.fill, x)
        x = self.node("Div", x, term.shrink) if term.shrink != 1 else x
        x = self.node("Sub", x, term.mean) if term.mean else x
        return self.node("Div", x, term.deviation) if term.deviation != 1 else x

    def _part(self, term: ValueTerm) -> str:
        """The weekday or month of a date, given as days since 1970."""
        from onnx import TensorProto

        missing = self.node("IsNaN", term.column)
        day = self.node("Floor", self.node("Where", missing, 0.0, term.column))
        place = self._weekday(day) if term.part == WEEKDAY else self._month(day)
        place = self.node("Where", missing, float(MISSING_PART), place)
        names = ROUND[WEEKDAY if term.part == WEEKDAY else MONTH]
        codes = [MISSING_PART if value is None else names.index(value) for value, _ in term.values]
        return self._one_hot(self.node("Cast", place, to=TensorProto.INT64), codes)

    def _whole(self, x: str, divisor: float) -> str:
        """``floor(x/divisor)``."""
        return self.node("Floor", self.node("Div", x, divisor))

    def _rest(self, x: str, divisor: float) -> str:
        """What is left of x, from 0 up to the divisor."""
        return self.node("Sub", x, self.node("Mul", self._whole(x, divisor), divisor))

    def _weekday(self, day: str) -> str:
        return self._rest(self.node("Add", day, 3.0), 7.0)

    def _month(self, day: str) -> str:
        """The month from 0; years are taken to begin in March, so that leap days end them."""
        of_era = self._rest(self.node("Add", day, 719468.0), 146097.0)
        days = self.node("Sub", of_era, self._whole(of_era, 1460.0))
        days = self.node("Add", days, self._whole(of_era, 36524.0))
        days = self.node("Sub", days, self._whole(of_era, 146096.0))
        year = self._whole(days, 365.0)
        of_year = self.node("Sub", of_era, self.node("Mul", year, 365.0))
        of_year = self.node("Sub", of_year, self._whole(year, 4.0))
        of_year = self.node("Add", of_year, self._whole(year, 100.0))
        since_march = self._whole(self.node("Add", self.node("Mul", of_year, 5.0), 2.0), 153.0)
        return self._rest(self.node("Add", since_march, 2.0), 12.0)

    # Feature maps and kernels -----------------------------------------------------------------

    def mapped(self, step: Any, X: str) -> str:
        """What a feature map makes of features."""
        if isinstance(step, Squares):
            squares = self.node("Mul", X, X)
            return self.node("Concat", X, squares, axis=1) if step.keep else squares
        if isinstance(step, Polynomial):
            return self._products(step, X)
        if isinstance(step, RandomFourier):
            sampler = step.sampler_
            angles = self.node("Add", self.product(X, sampler.random_weights_),
                               sampler.random_offset_)  # fmt: skip
            scale = np.full(step.n_components, math.sqrt(2 / step.n_components))
            return self.node("Mul", self.node("Cos", angles), scale)
        if isinstance(step, Nystroem):
            sampler = step.sampler_
            values = self._kernel(step.kernel_, X, _dense(sampler.components_))
            return self.product(values, sampler.normalization_.T)
        if type(step).__name__ == "StandardScaler":
            X = self.node("Sub", X, step.mean_) if step.with_mean else X
            return self.node("Div", X, step.scale_) if step.with_std else X
        msg = f"{self.what} makes features with {type(step).__name__}, which has no graph here"
        raise ValueError(msg)

    def _products(self, step: Polynomial, X: str) -> str:
        """The monomials: products of as many columns as the degree, of which one is 1."""
        d, degree = int(step.n_features_in_), int(step.degree)
        exponents = maps.exponents(d, degree, 0 if step.coef0 else degree)
        factors = np.zeros((len(exponents), degree), dtype=np.int64)
        for k, row in enumerate(exponents.tolist()):
            places = [j + 1 for j, e in enumerate(row) for _ in range(e)]
            factors[k, : len(places)] = places
        one = self.node("Mul", self.node("Gather", X, self.constant([0], np.int64), axis=1), 0.0)
        extended = self.node("Concat", self.node("Add", one, 1.0), X, axis=1)
        made = self.constant([maps.coefficients(d, degree, step.gamma, step.coef0)])
        for column in factors.T:
            chosen = self.node("Gather", extended, self.constant(column, np.int64), axis=1)
            made = self.node("Mul", chosen, made)
        return made

    def _kernel(self, kernel: Any, X: str, vectors: NDArray[Any]) -> str:
        """The values of a kernel for each row with each of these vectors."""
        if isinstance(kernel, kernels.Linear):
            return self.product(X, vectors.T)
        if isinstance(kernel, Radial):
            norms = self.node("Add", self.node("ReduceSumSquare", X, axes=[1]),
                              (vectors**2).sum(axis=1))  # fmt: skip
            squares = self.node("Sub", norms, self.product(X, 2 * vectors.T))
            squares = self.node("Max", squares, 0.0)
            return self.node("Exp", self.node("Mul", squares, -float(kernel.rate)))
        if isinstance(kernel, kernels.Polynomial):
            base = self.node("Add", self.product(X, kernel.gamma * vectors.T), kernel.coef0)
            made = base
            for _ in range(int(kernel.degree) - 1):
                made = self.node("Mul", made, base)
            return made
        if isinstance(kernel, kernels.Sigmoid):
            base = self.node("Add", self.product(X, kernel.eta * vectors.T), kernel.theta)
            return self.node("Tanh", base)
        msg = f"{self.what} has the kernel {type(kernel).__name__}, which has no graph here"
        raise ValueError(msg)

    # Decisions --------------------------------------------------------------------------------

    def values(self, X: str) -> str:
        """The decision values: a column for two classes, otherwise one for each."""
        last = self.parts.classifier
        if hasattr(last, "coef_"):
            coef = np.atleast_2d(_dense(last.coef_))
            bias = np.broadcast_to(last.intercept_, len(coef))
            return self.node("Add", self.product(X, coef.T), bias)
        kind = type(last).__name__
        if not hasattr(last, "support_vectors_"):
            msg = f"{self.what} is a {kind} without vectors to compare rows with: it has no graph"
            raise ValueError(msg)
        if last.fits_[0].path is not None:
            msg = f"{self.what} counts votes (--keep vote), which has no graph: keep another vector"
            raise ValueError(msg)
        values = self._kernel(last.kernel_, X, _dense(last.support_vectors_))
        values = self.node("Add", values, 1.0) if last.fit_intercept else values
        return self.product(values, last.dual_coef_.T)

    def _classes(self, values: str, name: str) -> bool:
        """The class of each row under this name; whether it is text."""
        from onnx import TensorProto, helper

        classes = self.parts.classes
        text = not all(isinstance(label, int) for label in classes)
        if len(classes) == 2:
            above = "Greater" if self.parts.at_zero < 0 else "GreaterOrEqual"
            side = self.node("Cast", self.node(above, values, 0.0), to=TensorProto.INT64)
            chosen = self.node("Reshape", side, self.constant([-1], np.int64))
        else:
            chosen = self.node("ArgMax", values, axis=1, keepdims=0)
        names = self.constant(list(map(str, classes)), str) if text else None
        labels = names or self.constant([int(label) for label in classes], np.int64)
        self.nodes.append(helper.make_node("Gather", [labels, chosen], [name], axis=0))
        return text


def _dense(X: Any) -> NDArray[Any]:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)


def _kinds(terms: tuple[Term, ...]) -> dict[str, str]:
    """What each column holds."""
    kinds: dict[str, str] = {}
    for term in terms:
        plain = "number" if isinstance(term, NumberTerm) else "text"
        kinds.setdefault(term.column, "date" if term.is_date else plain)
    return kinds


def _spellings(term: ValueTerm) -> tuple[list[str], list[int]]:
    """How the values of a text may be written, and their numbers; missing is an empty text."""
    found: dict[str, int] = {}
    for code, (value, _) in enumerate(term.values):
        texts = [""] if value is None else [value]
        if value is not None and term.any_case:
            texts += [term.written[code], value.upper(), value.capitalize(), value.title()]
        for text in texts:
            found.setdefault(text, code)
    return list(found), list(found.values())
