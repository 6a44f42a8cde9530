"""Kernel functions: inner products ``K(x, y) = φ(x)·φ(y)`` in a space of features.

A kernel is called with one or two matrices and gives the matrix of its values:

>>> import numpy as np
>>> kernel = Polynomial(degree=2)
>>> print(kernel)
K(x, y) = (x·y + 1)^2
>>> kernel(np.array([[1.0, 2.0]]), np.array([[1.0, 0.0], [0.0, 1.0]]))
array([[4., 9.]])
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from rosenblatt.arguments import number, positive_int
from rosenblatt.matrices import matrix

if TYPE_CHECKING:
    from rosenblatt.array_types import Floats


class Rounding(NamedTuple):
    """How far a computed ``Σ δ K`` can be off: ``relative*Σ|δ||K| + absolute*Σ|δ|``, row by row."""

    relative: Any
    absolute: Any

    def off(self, sizes: Floats, total: Any) -> Floats:
        """The same for sums ``Σ|δ||K|`` in columns, and ``Σ|δ|`` for each of these."""
        with np.errstate(invalid="ignore"):  # endless doubt about nothing is doubt
            found: Floats = self.relative[:, None] * sizes + self.absolute[:, None] * total
        return found


class Products(NamedTuple):
    """What is known of computed inner products ``x·y``, for bounds on rounding.

    `unit` is the unit roundoff, `terms` the most terms that are not zero (row by row), `x2` the
    squared norms of the rows, `most` the largest squared norm of any y, and `nonnegative` says
    whether no term is negative.
    """

    unit: float
    terms: Any
    x2: Any
    most: float
    nonnegative: bool


@dataclass(frozen=True)
class Kernel:
    """A kernel function; the base of all of them."""

    name: ClassVar[str]
    needs_features: ClassVar[bool] = True

    @property
    def formula(self) -> str:
        """The kernel in symbols."""
        raise NotImplementedError

    def __str__(self) -> str:
        return f"K(x, y) = {self.formula}"

    def __call__(self, X: Any, Y: Any = None) -> Floats:
        """Matrix of the values for every row of X with every row of Y (None: of X)."""
        X, Y = sample_pair(X, Y)
        Z = X @ (X if Y is None else Y).T
        Z = np.asarray(Z.toarray() if hasattr(Z, "toarray") else Z, dtype=np.float64)
        x2 = squared_norms(X)
        values: Floats = self.of_products(Z, x2, x2 if Y is None else squared_norms(Y))
        return values

    def diagonal(self, X: Any) -> Floats:
        """``K(x, x)`` for every row of X."""
        x2 = squared_norms(sample_matrix(X))
        values: Floats = self.of_products(x2[:, np.newaxis].copy(), x2, x2[:, np.newaxis])[:, 0]
        return values

    def of_products(self, Z: Any, x2: Any, y2: Any, xp: Any = np) -> Any:
        """The values, given inner products ``Z = x·y`` and squared norms; may overwrite Z."""
        raise NotImplementedError

    def rounding(self, products: Products) -> Rounding:
        """How far values from computed inner products can be from those without any rounding.

        Infinite where nothing useful can be said.
        """
        raise NotImplementedError

    def largest(self, x2: Any, most: float) -> Any:
        """A bound on ``|K(x, y)|`` from the squared norms of x and the largest one of any y: 1."""
        return np.ones_like(x2)

    def nonnegative(self, plain: bool) -> bool:
        """Whether no value is negative; `plain`: no inner product is. It decides how to bound."""
        return False

    def keeps_integers(self) -> bool:
        """Whether the value for vectors of whole numbers is a whole number."""
        return False


class Powers(Kernel):
    """``(gamma*x·y + coef0)^degree``; the base of `Linear` and `Polynomial`."""

    degree: int
    gamma: float
    coef0: float

    def of_products(self, Z: Any, x2: Any, y2: Any, xp: Any = np) -> Any:
        """Powers by squaring: faster than a general power, and the same on every machine."""
        if self.gamma != 1.0:
            Z *= self.gamma
        if self.coef0 != 0.0:
            Z += self.coef0
        return _power(Z, self.degree)

    def rounding(self, products: Products) -> Rounding:
        """That of the base, ``degree`` times."""
        u, zero = products.unit, 0.0 * products.x2
        least, lost, largest, tiny = _float_range(u)
        gamma, degree = self.gamma, self.degree
        relative = 1.05 * degree * (products.terms + 6) * u + zero
        with np.errstate(over="ignore", invalid="ignore"):
            root = _lengths(products)
            base = gamma * root + abs(self.coef0)
            size = base**degree
            # A product too small for floats is lost, and what is lost then grows with the power.
            small = 1.05 * degree * base ** (degree - 1) * (gamma * (products.terms + 2) + 2) * lost
            small = small + tiny
            fits = (relative < 0.05) & (root < largest) & (size < largest) & (base < largest)
            fits &= least <= gamma < largest
            if self.nonnegative(products.nonnegative):
                return Rounding(np.where(fits, relative, np.inf), np.where(fits, small, np.inf))
            return Rounding(zero, np.where(fits, relative * size + small, np.inf))

    def largest(self, x2: Any, most: float) -> Any:
        """``(gamma‖x‖‖y‖ + |coef0|)^degree``."""
        with np.errstate(over="ignore"):
            return (self.gamma * np.sqrt(x2) * np.sqrt(most) + abs(self.coef0)) ** self.degree

    def nonnegative(self, plain: bool) -> bool:
        """If neither an inner product nor `coef0` is negative."""
        return plain and self.coef0 >= 0

    def keeps_integers(self) -> bool:
        """If `gamma` and `coef0` are whole numbers."""
        return float(self.gamma).is_integer() and float(self.coef0).is_integer()


@dataclass(frozen=True)
class Linear(Powers):
    """``x·y``: the perceptron itself."""

    name = "linear"
    degree, gamma, coef0 = 1, 1.0, 0.0

    @property
    def formula(self) -> str:
        """The kernel in symbols."""
        return "x·y"


@dataclass(frozen=True)
class Polynomial(Powers):
    """``(gamma*x·y + coef0)^degree``: all products of up to `degree` features."""

    degree: int = 3
    gamma: float = 1.0
    coef0: float = 1.0

    name = "poly"

    def __post_init__(self) -> None:
        positive_int("degree", self.degree)
        _keep_floats(self, gamma=_positive("gamma", self.gamma), coef0=number("coef0", self.coef0))

    @property
    def formula(self) -> str:
        """The kernel in symbols."""
        return f"({_times(self.gamma)}x·y{_plus(self.coef0)})^{self.degree}"


@dataclass(frozen=True)
class Radial(Kernel):
    """``exp(-rate*‖x - y‖²)``; the base of `RBF` and `Gaussian`, which name the rate."""

    @property
    def rate(self) -> float:
        """The factor of ``-‖x - y‖²``."""
        raise NotImplementedError

    def __call__(self, X: Any, Y: Any = None) -> Floats:
        """Matrix of the values for every row of X with every row of Y (None: of X).

        Dense samples are moved to around the origin first, where fewer digits cancel.
        """
        X, Y = sample_pair(X, Y)
        if hasattr(X, "tocsr") or hasattr(Y, "tocsr"):
            values = super().__call__(X, Y)
        else:
            center = X.mean(axis=0) if len(X) else 0.0
            values = super().__call__(X - center, None if Y is None else Y - center)
        if Y is None:
            np.fill_diagonal(values, 1.0)
        return values

    def of_distances(self, D: Floats) -> Floats:
        """The values, given squared distances."""
        values: Floats = np.exp(-self.rate * D)
        return values

    def of_products(self, Z: Any, x2: Any, y2: Any, xp: Any = np) -> Any:
        """From ``‖x - y‖² = ‖x‖² + ‖y‖² - 2x·y``, which rounding may not make negative."""
        Z *= 2.0 * self.rate
        Z -= self.rate * x2[:, None]
        Z -= self.rate * y2
        if isinstance(Z, np.ndarray):
            np.minimum(Z, 0.0, out=Z)
            return np.exp(Z, out=Z)
        return xp.exp(xp.clip(Z, max=0.0))

    def rounding(self, products: Products) -> Rounding:
        """The squared distance is off by ``(2*terms + 14)u(‖x‖² + ‖y‖²)``, at most.

        In single precision by half of it: squared norms are always computed in double.
        """
        u, (least, lost, largest, tiny) = products.unit, _float_range(products.unit)
        sizes = products.x2 + products.most
        terms = products.terms * (2 if u == 2.0**-53 else 1)
        with np.errstate(over="ignore"):
            apart = self.rate * ((terms + 14) * u * sizes + (2 * products.terms + 8) * lost)
            fits = (apart < 0.05) & (least <= self.rate < largest / 2) & (sizes < largest)
        relative = np.where(fits, 1.05 * (apart + 8 * u), np.inf)
        return Rounding(relative, tiny + 0.0 * products.x2)

    def nonnegative(self, plain: bool) -> bool:
        """Never negative."""
        return True


@dataclass(frozen=True)
class RBF(Radial):
    """``exp(-gamma*‖x - y‖²)``, the radial basis function."""

    gamma: float = 1.0

    name = "rbf"

    def __post_init__(self) -> None:
        _keep_floats(self, gamma=_positive("gamma", self.gamma))

    @property
    def rate(self) -> float:
        """``gamma``."""
        return float(self.gamma)

    @property
    def formula(self) -> str:
        """The kernel in symbols."""
        return f"exp(-{_times(self.gamma)}‖x - y‖²)"


@dataclass(frozen=True)
class Gaussian(Radial):
    """``exp(-‖x - y‖²/(2*sigma²))``: the same as `RBF`, by its width."""

    sigma: float = 1.0

    name = "gaussian"

    def __post_init__(self) -> None:
        _keep_floats(self, sigma=_positive("sigma", self.sigma))
        if not 0.0 < self.rate <= 1e300:
            msg = f"sigma={self.sigma!r} is not allowed: 1/(2 sigma²) is beyond what floats hold"
            raise ValueError(msg)

    @property
    def rate(self) -> float:
        """``1/(2*sigma²)``."""
        square = 2.0 * float(self.sigma) ** 2
        return 1.0 / square if square else math.inf

    @property
    def formula(self) -> str:
        """The kernel in symbols."""
        return f"exp(-‖x - y‖²/(2·{self.sigma:g}²))"


@dataclass(frozen=True)
class Sigmoid(Kernel):
    """``tanh(eta*x·y + theta)``: no inner product in general, so no theorem covers it."""

    eta: float = 1.0
    theta: float = 0.0

    name = "sigmoid"

    def __post_init__(self) -> None:
        _keep_floats(self, eta=number("eta", self.eta), theta=number("theta", self.theta))

    @property
    def formula(self) -> str:
        """The kernel in symbols."""
        return f"tanh({_times(self.eta)}x·y{_plus(self.theta)})"

    def of_products(self, Z: Any, x2: Any, y2: Any, xp: Any = np) -> Any:
        """The hyperbolic tangent of a line."""
        Z *= self.eta
        Z += self.theta
        return np.tanh(Z, out=Z) if isinstance(Z, np.ndarray) else xp.tanh(Z)

    def rounding(self, products: Products) -> Rounding:
        """No more than that of the argument: the slope of tanh is at most 1."""
        u, (least, lost, largest, _) = products.unit, _float_range(products.unit)
        root, eta = _lengths(products), abs(self.eta)
        with np.errstate(over="ignore"):
            size = eta * root + abs(self.theta)
            small = (eta * (products.terms + 2) + 2) * lost
            absolute = 1.05 * ((products.terms + 6) * u * size + small + 8 * u)
        fits = (root < largest) & (size < largest) & (eta == 0 or least <= eta < largest)
        return Rounding(0.0 * products.x2, np.where(fits, absolute, np.inf))


def _power(Z: Any, degree: int) -> Any:
    """``Z**degree`` by squaring, in place where it can be."""
    result = None
    while True:
        if degree % 2:
            if result is None:
                result = Z if degree == 1 else Z * 1.0
            else:
                result *= Z
        degree //= 2
        if not degree:
            return result
        Z *= Z


def _lengths(products: Products) -> Any:
    """``‖x‖‖y‖`` at most: squares that are too small for floats are not forgotten."""
    return np.sqrt(products.x2 + 2.0**-1000) * math.sqrt(products.most + 2.0**-1000)


def _float_range(unit: float) -> tuple[float, float, float, float]:
    """The smallest float with all its digits, the smallest there is, a bound on the largest.

    And one for values: those below it may have lost their digits, or all of themselves.
    """
    if unit > 1e-10:
        return 2.0**-126, 2.0**-149, 2.0**127, 2.0**-120
    return 2.0**-1022, 2.0**-1074, 2.0**1023, 2.0**-1000


def squared_norms(X: Any) -> Floats:
    """``‖x‖²`` for every row x, dense or sparse."""
    squares = X.multiply(X) if hasattr(X, "multiply") else np.multiply(X, X)
    total: Floats = np.asarray(squares.sum(axis=1), dtype=np.float64).ravel()
    return total


def sample_matrix(X: Any, name: str = "X") -> Any:
    """Samples as a matrix of floats, dense or CSR."""
    wanted = "give a matrix with one sample in each row"
    return matrix(name, X, wanted).astype(np.float64, copy=False)


def sample_pair(X: Any, Y: Any) -> tuple[Any, Any]:
    """Two matrices of samples with as many features, the second one if it is given."""
    X, Y = sample_matrix(X), None if Y is None else sample_matrix(Y, "Y")
    if Y is not None and X.shape[1] != Y.shape[1]:
        msg = f"X has {X.shape[1]} features but Y has {Y.shape[1]}: give as many"
        raise ValueError(msg)
    return X, Y


def _keep_floats(kernel: Kernel, **found: float) -> None:
    """Keep parameters that are numbers of another kind, such as fractions, as floats."""
    for name, value in found.items():
        if not isinstance(getattr(kernel, name), int | float | np.number):
            object.__setattr__(kernel, name, value)


def _positive(name: str, value: Any) -> float:
    return number(name, value, lambda x: 0 < x <= 1e300, "give a positive number, up to 1e300")


def _times(factor: float) -> str:
    return "" if factor == 1 else f"{factor:g}·"


def _plus(term: float) -> str:
    return "" if term == 0 else f" {'+' if term > 0 else '-'} {abs(term):g}"
