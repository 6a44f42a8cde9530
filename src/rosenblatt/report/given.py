"""What Python gives: a fitted model and its training data, as facts are taken from.

The command has a file, an encoder and a classifier. In Python there is a bare classifier, or a
pipeline with any steps before it, and an array, a sparse matrix or a table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from rosenblatt.arguments import label_vector, real_labels
from rosenblatt.contract.classifier import Classifier
from rosenblatt.contract.parameters import find_classes, sample_weights, shown
from rosenblatt.features import Nystroem, Polynomial, RandomFourier, Squares
from rosenblatt.report.fits import EncodedTable, numbered
from rosenblatt.tables.encoder import TableEncoder
from rosenblatt.tables.frames import Frame, is_named
from rosenblatt.tables.mapped_features import MappedEncoder, steps_of
from rosenblatt.tables.sparse_features import SparseEncoder
from rosenblatt.tables.texts import Texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

ELSEWHERE = (
    "rb.separability(X, y) tells whether any hyperplane separates the classes, and "
    "rb.Hyperplane(w, b).margin(X, y) by how much this one does"
)
OTHER_DATA = "X and y are not what the model was trained on: give that, and other samples as test"


class GivenModel(NamedTuple):
    """A classifier, and the fitted steps before it."""

    classifier: Any
    steps: list[Any]

    @classmethod
    def of(cls, model: Any) -> GivenModel:
        """From a classifier, a pipeline, or a search that found one of these."""
        model = getattr(model, "best_estimator_", model)
        steps: list[Any] = []
        while hasattr(model, "steps"):
            steps += [step for _, step in model.steps[:-1] if step not in (None, "passthrough")]
            model = model.steps[-1][1]
        if not isinstance(model, Classifier):
            kind = type(model).__name__
            msg = f"a report is about one of rosenblatt's classifiers, not a {kind}: {ELSEWHERE}"
            raise TypeError(msg)
        check_is_fitted(model)
        if getattr(model, "_pairwise", False):
            msg = "kernel='precomputed' leaves nothing to report on: fit with the kernel itself"
            raise ValueError(msg)
        return cls(model, steps)

    def features(self, X: Any) -> Any:
        """The very numbers that the classifier takes."""
        for step in self.steps:
            X = step.transform(X)
        return self.classifier._rows_of(X)

    def labels(self, y: Any) -> NDArray[Any]:
        """A class of the model for each sample."""
        classes = self.classifier.classes_
        labels = label_vector("y", np.asarray(real_labels("y", y)))
        return classes[find_classes(labels, classes)]  # type: ignore[no-any-return]


@dataclass(frozen=True)
class GivenFeatures:
    """Columns as they are, or standardised, or what some steps made of them.

    It has the face of an encoder that facts are taken from. `scaler` standardised the columns;
    `mixed`: the features are not the columns, one by one; `texts` are columns of words.
    """

    names: Sequence[str]
    features: Sequence[str]
    scaler: Any = None
    mixed: bool = False
    texts: frozenset[str] = frozenset()

    @property
    def standardize(self) -> bool:
        """Whether numbers were standardised."""
        return self.scaler is not None

    @property
    def columns_(self) -> list[dict[str, Any]]:
        """What the features are made of."""
        scales = [{"mean": 0.0, "deviation": 1.0}] * len(self.names)
        if self.scaler is not None:
            both = zip(self.scaler.mean_.tolist(), self.scaler.scale_.tolist(), strict=True)
            scales = [{"mean": mean, "deviation": deviation} for mean, deviation in both]
        each = zip(self.kinds_.items(), scales, strict=True)
        return [{"name": name, "kind": kind} | scale for (name, kind), scale in each]

    @property
    def kinds_(self) -> dict[str, str]:
        """The kind of every column."""
        return {name: "text" if name in self.texts else "number" for name in self.names}

    @property
    def spans_(self) -> dict[str, range]:
        """The features that every column became, where that can be told."""
        return {} if self.mixed else {name: range(j, j + 1) for j, name in enumerate(self.names)}

    @property
    def identifiers_(self) -> list[str]:
        """No column is left out."""
        return []

    @property
    def n_missing_(self) -> dict[str, int]:
        """No cell is missing."""
        return {}

    def unscaled(self) -> GivenFeatures:
        """The same columns as they were given."""
        return replace(self, scaler=None)

    def transform(self, columns: Mapping[str, Any]) -> Any:
        """The columns side by side; nothing where they are not the features."""
        if self.mixed:
            return np.zeros((len(next(iter(columns.values()))), 1))
        X = np.column_stack(list(columns.values()))
        return X if self.scaler is None else self.scaler.transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the features."""
        return np.array(self.features, dtype=object)


def training_table(
    given: GivenModel, X: Any, y: Any, sample_weight: Any = None, name: str = ""
) -> EncodedTable:
    """The training data of a model as a table of features; refused if they are other data."""
    classifier, labels = given.classifier, given.labels(y)
    features = given.features(X)
    if features.shape[0] != len(labels):
        msg = f"y has {len(labels)} samples but X has {features.shape[0]} rows"
        raise ValueError(msg)
    if len(np.unique(labels)) < len(classifier.classes_):
        msg = f"{OTHER_DATA} (there were samples of {shown(classifier.classes_)})"
        raise ValueError(msg)
    encoder, columns = _encoder(given, X, features.shape[1])
    if classifier.n_errors_ != int((classifier.predict(features) != labels).sum()):
        raise ValueError(OTHER_DATA)
    target = str(getattr(y, "name", None) or "")
    return EncodedTable(
        file=name,
        names=[*columns, target],
        target=target,
        columns=columns,
        **numbered(labels),
        weight=sample_weights(sample_weight, labels),
        ignores=getattr(encoder, "mixed", False),
        encoder=encoder,
        X=features,
    )


def as_pipeline(encoder: Any, classifier: Any) -> Pipeline:
    """The steps by themselves: columns as features, what is made of these, and the classifier."""
    steps = steps_of(encoder)
    if getattr(encoder, "mixed", False):
        columns = replace(encoder, mixed=False, features=encoder.names)
        steps = [("encode", columns), ("features", encoder)]
    return Pipeline([*steps, ("classify", classifier)])


def step_names(encoder: Any, given: GivenModel) -> tuple[str, ...]:
    """The steps that made the features, where nothing else is known of these."""
    mixed = getattr(encoder, "mixed", False)
    return tuple(type(step).__name__ for step in given.steps) if mixed else ()


def _encoder(given: GivenModel, X: Any, n_features: int) -> tuple[Any, dict[str, Any]]:
    """What made the features, with the face of an encoder, and the columns it was given."""
    steps = given.steps
    first, rest = (steps[0], steps[1:]) if steps else (None, [])
    if issparse(X):
        encoder: Any = SparseEncoder().fit({"x": X})
        columns = {"x": X.tocsr()}
        rest = steps
    elif isinstance(first, TableEncoder):
        encoder, columns = first, columns_of(X, [spec["name"] for spec in first.columns_])
    else:
        columns = columns_of(X, None)
        scaler = first if _standardises(first) else None
        rest = rest if scaler is not None else steps
        encoder = GivenFeatures(list(columns), list(columns), scaler)
    if not rest:
        return encoder, columns
    if len(rest) == 1 and _has_words(rest[0]):
        mapped = MappedEncoder(encoder, rest[0])
        mapped.n_features_ = len(encoder.get_feature_names_out())
        mapped.n_features_out_ = n_features
        return mapped, columns
    names = _names_out(rest, [str(name) for name in encoder.get_feature_names_out()], n_features)
    texts = frozenset(name for name, cells in columns.items() if _are_words(cells))
    return GivenFeatures(list(columns), names, mixed=True, texts=texts), columns


def _has_words(step: Any) -> bool:
    """Whether it is a feature map as the command has it, of which a report says what it makes."""
    return (
        isinstance(step, RandomFourier)
        or (isinstance(step, Squares) and step.keep)
        or (isinstance(step, Polynomial) and step.coef0 > 0)
        or (isinstance(step, Nystroem) and step.kernel in ("rbf", "gaussian"))
    )


def _standardises(step: Any) -> bool:
    """Whether a step takes off the mean and divides by the deviation, and does nothing else."""
    return type(step) is StandardScaler and bool(step.with_mean and step.with_std)


def columns_of(X: Any, names: Sequence[str] | None) -> dict[str, Any]:
    """The columns by name; those of an array are called by the `names`, or x1, x2 and so on."""
    if is_named(X):
        frame = Frame.of_columns(X)
        cells = ((name, frame[name]) for name in frame.names)
        return {name: c if isinstance(c, Texts) else np.asarray(c) for name, c in cells}
    array = np.asarray(X)
    names = [f"x{j + 1}" for j in range(array.shape[1])] if names is None else names
    return {name: array[:, j] for j, name in enumerate(names)}


def _are_words(cells: Any) -> bool:
    return isinstance(cells, Texts) or cells.dtype.kind in "OSU"


def _names_out(steps: Sequence[Any], names: list[str], n: int) -> list[str]:
    """What steps call the features that they make; x1, x2 and so on if they do not say."""
    try:
        for step in steps:
            names = [str(name) for name in step.get_feature_names_out(names)]
    except (AttributeError, ValueError, TypeError):
        names = []
    return names if len(names) == n else [f"x{j + 1}" for j in range(n)]
