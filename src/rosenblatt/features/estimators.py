"""Feature maps as steps of a pipeline: a hyperplane in the features is a curve in the data.

A kernel perceptron on ``x`` is a perceptron on ``φ(x)``. These transformers give ``φ(x)`` itself,
or random features whose inner products are close to a kernel:

>>> import rosenblatt as rb
>>> from sklearn.pipeline import make_pipeline
>>> X, y = rb.datasets.xor()
>>> make_pipeline(Polynomial(degree=2), rb.Perceptron(fit_intercept=False)).fit(X, y).score(X, y)
1.0

(One long file, almost half of it explanation and examples: the maps are read side by side.)
"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import hstack, issparse
from sklearn import kernel_approximation
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from rosenblatt import kernels
from rosenblatt.arguments import (
    brief,
    canonical,
    names_of,
    number,
    positive_int,
    positive_number,
    yes_or_no,
)
from rosenblatt.kernel.choice import find_gamma, find_kernel
from rosenblatt.kernels import maps
from rosenblatt.kernels.functions import Radial
from rosenblatt.matrices import table, told_in_one_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats


PROBES = (2, 3)  # rows to try a function with


class FeatureMap(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the feature maps: reads data, refuses features that are not finite."""

    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn what the map depends on.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, d)
        y : ignored

        Returns
        -------
        self
        """
        self._learn(self._read(X, reset=True))
        return self

    def transform(self, X: Any) -> Any:
        """The features of each row of X, of shape (n, number of features)."""
        check_is_fitted(self)
        made = self._apply(self._read(X, reset=False))
        if not np.isfinite(made.data if issparse(made) else made).all():
            msg = f"{type(self).__name__} gave numbers that are not finite: scale the features of X"
            raise ValueError(msg)
        return made

    def _read(self, X: Any, *, reset: bool) -> Any:
        X = table("X", X)
        with told_in_one_line("X", X):
            X = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=np.float64)
        return canonical(X)

    def _learn(self, X: Any) -> None:
        raise NotImplementedError

    def _apply(self, X: Any) -> Any:
        return self.sampler_.transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the features."""
        check_is_fitted(self)
        if input_features is not None:
            input_features = names_of("input_features", input_features)
        given = _check_feature_names_in(self, input_features).tolist()
        return np.array(self._names(given), dtype=object)

    def _names(self, given: list[str]) -> list[str]:
        return [f"{type(self).__name__.lower()}{i}" for i in range(self._n_features_out)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class Polynomial(FeatureMap):
    """The features of the polynomial kernel: ``φ(u)·φ(v) = (gamma*u·v + coef0)^degree``.

    They are all monomials up to `degree`, each times a constant; for two features and degree 2::

        φ(u) = (1, √2 u1, √2 u2, √2 u1u2, u1², u2²),    φ(u)·φ(v) = (u·v + 1)²

    d features make C(d + degree, degree) of them. Rows of a CSR matrix only those of their
    entries that are not zero.

    Parameters
    ----------
    degree : int
        The largest number of factors.
    gamma : float
        A positive factor of the inner product.
    coef0 : float
        Zero or positive. With zero, only monomials of exactly `degree` are there.

    Examples
    --------
    >>> import numpy as np
    >>> phi = Polynomial(degree=2).fit_transform(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> round(float(phi[0] @ phi[1]), 9), (1 * 3 + 2 * 4 + 1) ** 2
    (144.0, 144)
    """

    def __init__(self, degree: int = 2, *, gamma: float = 1.0, coef0: float = 1.0) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    def _learn(self, X: Any) -> None:
        positive_int("degree", self.degree)
        positive_number("gamma", self.gamma)
        hint = ", or 0; a kernel with a negative one has no real features"
        number("coef0", self.coef0, lambda x: 0 <= x < np.inf, f"give a positive number{hint}")
        self._n_features_out = maps.n_monomials(X.shape[1], self.degree, self._lowest())

    def _lowest(self) -> int:
        return 0 if self.coef0 else self.degree

    def _apply(self, X: Any) -> Any:
        with np.errstate(over="ignore", invalid="ignore"):  # told by what becomes of it
            return maps.features(X, self.degree, self.gamma, self.coef0)

    def _names(self, given: list[str]) -> list[str]:
        exponents = maps.exponents(len(given), self.degree, self._lowest())
        return [_monomial(given, row) for row in exponents.tolist()]


def _monomial(names: list[str], exponents: list[int]) -> str:
    powers = [
        name if e == 1 else f"{name}^{e}" for name, e in zip(names, exponents, strict=True) if e
    ]
    return " ".join(powers) or "1"


class Squares(FeatureMap):
    """The square of each feature: ``φ(x) = (x1², …, xd²)``.

    Whether a point lies outside a circle around the origin, ``x1² + x2² >= 1``, is a question of
    a hyperplane in these features. With ``keep=True`` the features themselves come first, and the
    circle may have any centre.

    Parameters
    ----------
    keep : bool
        Whether the features themselves stay.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y = rb.datasets.circles(100, random_state=0)
    >>> rb.separability(X, y).verdict, rb.separability(Squares().fit_transform(X), y).verdict
    (Verdict.INSEPARABLE, Verdict.SEPARABLE)
    """

    def __init__(self, *, keep: bool = False) -> None:
        self.keep = keep

    def _learn(self, X: Any) -> None:
        self._n_features_out = X.shape[1] * (1 + yes_or_no("keep", self.keep))

    def _apply(self, X: Any) -> Any:
        with np.errstate(over="ignore"):
            squares = X.multiply(X).tocsr() if issparse(X) else X * X
        if not self.keep:
            return squares
        return hstack([X, squares], format="csr") if issparse(X) else np.hstack([X, squares])

    def _names(self, given: list[str]) -> list[str]:
        squares = [f"{name}^2" for name in given]
        return [*given, *squares] if self.keep else squares


class Map(FeatureMap):
    """Any function Φ as a feature map.

    It may take a matrix and give one, row for row, or take a single row and give a number or the
    list of its features. Which of the two it is, is found with a few rows when fitting: a
    function of matrices gives each row the same features, whatever other rows there are.

    Parameters
    ----------
    function : callable
        Φ.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[3.0, 4.0], [5.0, 12.0]])
    >>> Map(lambda x: [x[0] * x[1], np.hypot(x[0], x[1])]).fit_transform(X)
    array([[12.,  5.],
           [60., 13.]])
    >>> Map(np.sqrt).fit_transform(X).round(3).tolist()
    [[1.732, 2.0], [2.236, 3.464]]
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function: Any = function

    def _learn(self, X: Any) -> None:
        if not callable(self.function):
            given = f"function={brief(self.function)}"
            msg = f"{given} cannot be called: give a function of a matrix or row"
            raise ValueError(msg)
        self.takes_rows_ = not self._takes_matrices(X)
        self._n_features_out = int(self._values(X[:1]).shape[1])

    def _takes_matrices(self, X: Any) -> bool:
        """Whether a few rows give as many, each the same as alone."""
        for few in PROBES:
            part = X[np.arange(few) % X.shape[0]]
            try:
                together = _columns(self.function(part), few)
                alone = [_columns(self.function(part[i : i + 1]), 1) for i in range(few)]
                if not np.allclose(together, np.vstack(alone), rtol=1e-6, equal_nan=True):
                    return False
            except Exception:  # whatever a function of rows says to matrices
                return False
        return True

    def _values(self, X: Any) -> Any:
        if not self.takes_rows_:
            made = self.function(X)
            return made if issparse(made) else _columns(made, X.shape[0])
        rows = X.toarray() if issparse(X) else X
        made = [np.asarray(self.function(row), dtype=np.float64).ravel() for row in rows]
        counts = sorted({len(features) for features in made})
        if len(counts) != 1 or not counts[0]:
            msg = (
                f"the function gave rows of {', '.join(map(str, counts))} features: "
                "give as many for every row, and at least one"
            )
            raise ValueError(msg)
        return np.vstack(made)

    def _apply(self, X: Any) -> Any:
        made = self._values(X)
        if made.shape != (X.shape[0], self._n_features_out):
            msg = (
                f"the function gave features of shape {made.shape} for {X.shape[0]} rows: "
                f"give {self._n_features_out} for each row, as in training"
            )
            raise ValueError(msg)
        if not np.isfinite(made.data if issparse(made) else made).all():
            msg = "the function gave numbers that are not finite: give finite features"
            raise ValueError(msg)
        return made


def _columns(made: Any, n: int) -> Floats:
    """What a function of n rows gave, as a matrix; a list of n numbers is one feature."""
    values = np.asarray(made.toarray() if issparse(made) else made, dtype=np.float64)
    if values.ndim == 1:
        values = values[:, np.newaxis]
    if values.ndim != 2 or values.shape[0] != n or not values.shape[1]:
        what = f"the function gave features of shape {values.shape} for {n} rows"
        msg = f"{what}: give a row for each"
        raise ValueError(msg)
    return values


class RandomFourier(FeatureMap):
    """Random features whose inner products are close to the Gaussian kernel [1]_.

    ``φ(x)_k = √(2/m) cos(w_k·x + c_k)`` for m components, with ``w_k`` from a normal distribution
    of variance ``2*gamma`` and ``c_k`` uniform in [0, 2π], so that ``φ(x)·φ(y)`` has the mean
    ``exp(-gamma*‖x - y‖²)`` and a deviation of at most about ``1/√m``.

    Parameters
    ----------
    n_components : int
        How many features.
    gamma : float, "scale" or "auto"
        "scale": one over the number of features times the variance of X; "auto": without the
        variance.
    sigma : float, optional
        The kernel's width, instead of `gamma`, which is then ``1/(2*sigma²)``.
    random_state : int, RandomState or None

    References
    ----------
    .. [1] A. Rahimi and B. Recht, "Random features for large-scale kernel machines", NIPS 2007.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0]])
    >>> phi = RandomFourier(20_000, gamma=0.5, random_state=0).fit_transform(X)
    >>> bool(abs(phi[0] @ phi[1] - np.exp(-0.5)) < 0.02)
    True
    """

    def __init__(
        self,
        n_components: int = 100,
        *,
        gamma: float | str = 1.0,
        sigma: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.gamma = gamma
        self.sigma = sigma
        self.random_state = random_state

    def _learn(self, X: Any) -> None:
        positive_int("n_components", self.n_components)
        self.gamma_ = find_gamma(self.gamma, X)
        if self.sigma is not None:
            self.gamma_ = kernels.Gaussian(self.sigma).rate
        self.sampler_ = kernel_approximation.RBFSampler(
            gamma=self.gamma_, n_components=self.n_components, random_state=self.random_state
        ).fit(X)
        self._n_features_out = self.n_components


class Nystroem(FeatureMap):
    """Features of any kernel, from its values with a few samples drawn at random [1]_.

    With the drawn samples ``b_1, …, b_m``: ``φ(x) = (K(b_i, b_j))^(-1/2) (K(b_i, x))``. Between
    drawn samples ``φ(x)·φ(y) = K(x, y)``, elsewhere close to it.

    Parameters
    ----------
    kernel : {"rbf", "gaussian", "poly", "linear", "sigmoid"}, rb.kernels object or callable
        A callable has two rows as its arguments.
    n_components : int
        How many samples to draw; no more than there are.
    gamma : float, "scale" or "auto"
        Of "rbf", "gaussian", "poly" and "sigmoid"; "scale": one over the number of features times
        the variance of X; "auto": without the variance.
    degree : int
        Of "poly".
    coef0 : float
        Of "poly" and "sigmoid".
    sigma : float, optional
        The width of "gaussian", instead of `gamma`.
    random_state : int, RandomState or None

    References
    ----------
    .. [1] C. Williams and M. Seeger, "Using the Nyström method to speed up kernel machines",
       NIPS 2000.

    Examples
    --------
    >>> import numpy as np
    >>> import rosenblatt as rb
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> phi = Nystroem(rb.kernels.RBF(0.5), n_components=3, random_state=0).fit_transform(X)
    >>> np.allclose(phi @ phi.T, rb.kernels.RBF(0.5)(X))
    True
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        n_components: int = 100,
        *,
        gamma: float | str = 1.0,
        degree: int = 3,
        coef0: float = 1.0,
        sigma: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.sigma = sigma
        self.random_state = random_state

    def _learn(self, X: Any) -> None:
        components = min(positive_int("n_components", self.n_components), X.shape[0])
        self.kernel_ = find_kernel(self, X)
        if isinstance(self.kernel_, kernels.Precomputed):
            msg = "kernel='precomputed' has no samples to draw: give a kernel of two samples"
            raise ValueError(msg)
        self.sampler_ = kernel_approximation.Nystroem(
            **_theirs(self.kernel_), n_components=components, random_state=self.random_state
        ).fit(X)
        self._n_features_out = components


def _theirs(kernel: kernels.Kernel) -> dict[str, Any]:
    """The kernel in scikit-learn's words."""
    if isinstance(kernel, kernels.Linear):
        return {"kernel": "linear"}
    if isinstance(kernel, kernels.Polynomial):
        return {"kernel": "poly"} | asdict(kernel)
    if isinstance(kernel, Radial):
        return {"kernel": "rbf", "gamma": kernel.rate}
    if isinstance(kernel, kernels.Sigmoid):
        return {"kernel": "sigmoid", "gamma": kernel.eta, "coef0": kernel.theta}
    return {"kernel": partial(_of_pair, kernel)}


def _of_pair(kernel: kernels.Kernel, x: Any, y: Any) -> float:
    """A kernel as a function of two rows."""
    if issparse(x):
        x, y = x.toarray()[0], y.toarray()[0]
    return float(kernel(x[np.newaxis], y[np.newaxis])[0, 0])
