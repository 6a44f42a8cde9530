"""What each column of a table adds to a decision value of a linear model.

The contribution of a column to ``w·x + b`` is ``sum of w_j (x_j - m_j)`` over the features j that
the column became, where m_j is the mean of training for numbers (0 once they are standardised)
and 0 for the values of texts and for words. The base is ``b + sum of w_j m_j``, the value of a row
of means, so that base and contributions sum to the decision value. Of more than two classes it is
the lead of the class that won over the runner-up: the difference of their decision values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, issparse

from rosenblatt.contract.classifier import LinearClassifier, classifier_of
from rosenblatt.report.sentences import shortened
from rosenblatt.tables.date_parts import with_parts
from rosenblatt.tables.encoder import TableEncoder
from rosenblatt.tables.feature_values import scaling, width

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats
    from rosenblatt.tables.feature_values import Spec

CELLS = 1 << 20  # features and contributions that are at hand at a time


class Sides(NamedTuple):
    """For each row the hyperplane that speaks for, and the one against, its decision value.

    -1 is one that is 0 everywhere.
    """

    plus: NDArray[np.intp]
    minus: NDArray[np.intp]

    @classmethod
    def of(cls, values: Floats, chosen: NDArray[np.intp]) -> Sides:
        """From decision values and the classes that were chosen."""
        if values.shape[1] == 1:
            none = np.zeros(len(values), dtype=np.intp)
            return cls(none, none - 1)
        others = values.copy()
        others[np.arange(len(values)), chosen] = -np.inf
        return cls(chosen, others.argmax(axis=1))

    def apart(self, of_planes: Floats, rows: slice = slice(None)) -> Floats:
        """What the one has more of than the other."""
        difference: Floats = of_planes[self.plus[rows]] - of_planes[self.minus[rows]]
        return difference


@dataclass(frozen=True, eq=False)
class Contributions:
    """A linear model taken apart by the columns of its table.

    Attributes
    ----------
    names : list of str
        The columns; of a sparse table its features.
    starts : array
        The first feature of each column.
    weights : array of shape (planes + 1, features)
        Those of the model, and one hyperplane that is 0.
    means : array of shape (planes + 1, columns)
        For each column the sum of ``w_j m_j``.
    bases : array of shape (planes + 1,)
        The value of a row of means.
    """

    names: list[str]
    starts: NDArray[np.intp]
    weights: Floats
    means: Floats
    bases: Floats

    @classmethod
    def of(cls, model: Any, what: str) -> Contributions:
        """Of a linear classifier, or a pipeline of an encoder and one.

        Raises ValueError, saying what `what` is instead, for every other model.
        """
        classifier = classifier_of(model)
        steps = [step for _, step in model.steps[:-1]] if hasattr(model, "steps") else []
        if not isinstance(classifier, LinearClassifier) or len(steps) > 1:
            kind = type(classifier if len(steps) < 2 else steps[1]).__name__
            msg = (
                f"{what} holds a {kind}, which has no weights for columns to explain answers by: "
                "give a linear model (fit --model perceptron, adaline, max-margin, soft-margin)"
            )
            raise ValueError(msg)
        weights = np.vstack([classifier.coef_, np.zeros(classifier.coef_.shape[1])])
        biases = np.append(np.broadcast_to(classifier.intercept_, len(classifier.coef_)), 0.0)
        if steps and isinstance(steps[0], TableEncoder):
            spans, reference = steps[0].spans_, _reference(steps[0])
            names, starts = list(spans), np.array([span.start for span in spans.values()])
        else:
            from rosenblatt.report.terminal import feature_names  # late: it loads Rich

            names, reference = feature_names(model), np.zeros(weights.shape[1])
            starts = np.arange(weights.shape[1])
        means = np.add.reduceat(weights * reference, starts, axis=1)
        return cls(names, starts, weights, means, biases + means.sum(axis=1))

    def base(self, sides: Sides) -> Floats:
        """For each row what its contributions start from."""
        return sides.apart(self.bases)

    def of_rows(self, X: Any, sides: Sides) -> Iterator[Floats]:
        """The contributions of all columns, some rows at a time."""
        wide = len(self.names) if issparse(X) else X.shape[1]
        step = max(1, CELLS // wide)
        for start in range(0, X.shape[0], step):
            rows = slice(start, start + step)
            found = (self._sparse if issparse(X) else self._dense)(X[rows], sides, rows)
            yield found - sides.apart(self.means, rows)

    def _dense(self, X: Floats, sides: Sides, rows: slice) -> Floats:
        found: Floats = np.add.reduceat(X * sides.apart(self.weights, rows), self.starts, axis=1)
        return found

    def _sparse(self, X: csr_matrix, sides: Sides, rows: slice) -> Floats:
        row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        plus, minus = (self.weights[side[rows][row], X.indices] for side in sides)
        columns = np.searchsorted(self.starts, X.indices, side="right") - 1
        shape = X.shape[0], len(self.names)
        places = np.ravel_multi_index((row, columns), shape)
        sums = np.bincount(places, X.data * (plus - minus), shape[0] * shape[1])
        return sums.astype(np.float64).reshape(shape)  # of no entries, bincount makes integers

    def texts(self, X: Any, sides: Sides, top: int) -> NDArray[np.object_]:
        """For each row its largest contributions: ``skewness +12.3; variance -3.1``."""
        names = [shortened(name) for name in self.names]
        told: list[str] = []
        for block in self.of_rows(X, sides):
            for places, values in zip(*_largest(block, top), strict=True):
                pairs = zip(places, values, strict=True)
                told.append("; ".join(f"{names[j]} {value:+.4g}" for j, value in pairs if value))
        texts = np.empty(len(told), dtype=object)
        texts[:] = told
        return texts


def _reference(encoder: TableEncoder) -> Floats:
    """The means of the features that are numbers, 0 for the others."""
    specs: list[Spec] = [spec for spec in encoder.columns_ if "dropped" not in spec]
    found: list[float] = []
    for spec in with_parts(specs):
        if spec["kind"] == "text":
            found += [0.0] * width(spec)
        else:
            shrink, mean, deviation = scaling(spec)
            found.append((spec["fill"] / shrink - mean) / deviation)
    return np.array(found)


def _largest(block: Floats, top: int) -> tuple[Sequence[Any], Sequence[Any]]:
    """The places of the largest values of each row, largest first, and these values."""
    sizes, top = -np.abs(block), min(top, block.shape[1])
    places = np.sort(np.argpartition(sizes, top - 1, axis=1)[:, :top], axis=1)
    order = np.argsort(np.take_along_axis(sizes, places, axis=1), axis=1, kind="stable")
    places = np.take_along_axis(places, order, axis=1)
    return places.tolist(), np.take_along_axis(block, places, axis=1).tolist()
