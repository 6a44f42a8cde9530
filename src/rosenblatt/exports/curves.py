"""What a curved model computes from the features of a row: sums of products, or of a kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt import kernels
from rosenblatt.exports.formula import Formula, Parts, Weights, n_features
from rosenblatt.features import Polynomial, Squares
from rosenblatt.kernels import maps
from rosenblatt.kernels.functions import Radial

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 20_000  # numbers in a formula


@dataclass(frozen=True)
class Products:
    """``Σ weight · f_i f_j …``: for each product the numbers of its features, and its weights."""

    terms: tuple[tuple[tuple[int, ...], Weights], ...]

    @property
    def size(self) -> int:
        """How many numbers it takes."""
        return sum(len(places) + len(weights) for places, weights in self.terms)


@dataclass(frozen=True)
class Expansion:
    """``Σ coefficient · K(vector, f)``: for each vector its coefficients.

    `kind` is "radial", ``exp(-a‖v - f‖²)``, or, of ``t = a v·f + b``, "power", ``t^degree``, or
    "tanh".
    """

    kind: str
    a: float
    b: float
    degree: int
    vectors: tuple[tuple[float, ...], ...]
    coefficients: tuple[Weights, ...]

    @property
    def size(self) -> int:
        """How many numbers it takes."""
        return sum(map(len, self.vectors)) + sum(map(len, self.coefficients))


def curved_formula(parts: Parts, what: str) -> Formula:
    """The formula of a model with squares, products or a kernel.

    Raises ValueError, saying what `what` is instead, if it is another or too large.
    """
    last, d = parts.classifier, sum(map(n_features, parts.terms))
    curve: Products | Expansion
    if hasattr(last, "coef_"):
        curve, bias = _products(parts, d, what)
    else:
        curve, bias = _expansion(last, what)
    refuse_large(curve.size, MOST, what, "a program", "--onnx or --json")
    return Formula(parts.classes, bias, parts.terms, parts.at_zero, curve)


def refuse_large(size: int, most: int, what: str, where: str, instead: str) -> None:
    """Refuse a sum that takes more numbers than have room somewhere."""
    if size > most:
        msg = f"{what} is a sum of {size} numbers; at most {most} go into {where}: take {instead}"
        raise ValueError(msg)


def _products(parts: Parts, d: int, what: str) -> tuple[Products, Weights]:
    """A hyperplane among products of features, as products with weights, and the bias."""
    last = parts.classifier
    coef = np.atleast_2d(np.asarray(last.coef_, dtype=np.float64))
    (step,) = parts.maps if len(parts.maps) == 1 else (None,)
    if isinstance(step, Squares):
        single = [(j,) for j in range(d)]
        places: list[tuple[int, ...]] = [
            *(single if step.keep else ()),
            *((j, j) for j in range(d)),
        ]
        factors = np.ones(len(places))
    elif isinstance(step, Polynomial):
        lowest = 0 if step.coef0 else step.degree
        if maps.n_monomials(d, step.degree, lowest) > MOST:
            refuse_large(coef.shape[1], MOST, what, "a program", "--onnx or --json")
        exponents = maps.exponents(d, step.degree, lowest).tolist()
        places = [tuple(j for j, e in enumerate(row) for _ in range(e)) for row in exponents]
        factors = maps.coefficients(d, step.degree, step.gamma, step.coef0)
    else:
        kind = type(parts.maps[0]).__name__
        msg = f"{what} makes features with {kind}, which no program here has: take --onnx or --json"
        raise ValueError(msg)
    weights = (coef * factors).T.tolist()
    bias = np.broadcast_to(last.intercept_, len(coef)).astype(np.float64)
    terms = list(zip(places, map(tuple, weights), strict=True))
    for _, own in (term for term in terms if not term[0]):  # the product of nothing is 1
        bias = bias + np.array(own)
    return Products(tuple(term for term in terms if term[0])), tuple(bias.tolist())


def _expansion(last: Any, what: str) -> tuple[Expansion, Weights]:
    """A kernel perceptron, and its bias."""
    kind = type(last).__name__
    vectors = getattr(last, "support_vectors_", None)
    if vectors is None or not hasattr(last, "dual_coef_"):
        msg = (
            f"{what} is a {kind}, which has no formula: export a linear model or one with a kernel"
        )
        raise ValueError(msg)
    if last.fits_[0].path is not None:
        msg = f"{what} counts votes (--keep vote), which has no formula: keep another vector"
        raise ValueError(msg)
    rows = vectors.toarray() if hasattr(vectors, "toarray") else vectors
    coef = np.asarray(last.dual_coef_, dtype=np.float64)
    bias = [math.fsum(row) if last.fit_intercept else 0.0 for row in coef.tolist()]
    own = tuple(map(tuple, rows.tolist())), tuple(map(tuple, coef.T.tolist()))
    return Expansion(*_kernel(last.kernel_, what), *own), tuple(bias)


def _kernel(kernel: Any, what: str) -> tuple[str, float, float, int]:
    if isinstance(kernel, Radial):
        return "radial", float(kernel.rate), 0.0, 1
    if isinstance(kernel, kernels.Linear):
        return "power", 1.0, 0.0, 1
    if isinstance(kernel, kernels.Polynomial):
        return "power", float(kernel.gamma), float(kernel.coef0), int(kernel.degree)
    if isinstance(kernel, kernels.Sigmoid):
        return "tanh", float(kernel.eta), float(kernel.theta), 1
    msg = f"{what} has the kernel {type(kernel).__name__}, which no program here has"
    raise ValueError(msg)


def numbered(formula: Formula) -> Iterator[tuple[Any, int]]:
    """The terms, each with the number of its first feature."""
    start = 0
    for term in formula.terms:
        yield term, start
        start += n_features(term)
