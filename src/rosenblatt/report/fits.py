"""The table that is learned from, and the facts about a classifier that was fitted to it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import cached_property
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import __version__
from rosenblatt.contract.classifier import choose, positives_of
from rosenblatt.contract.parameters import class_weights
from rosenblatt.data.opened import OpenedSource
from rosenblatt.exact import margin_of
from rosenblatt.report.facts import (
    ExpansionFacts,
    FitFacts,
    KernelFacts,
    MapFacts,
    MistakenRow,
    OptimumFacts,
    ProofFacts,
    RunFacts,
    SideFacts,
    SupportFacts,
    TableFacts,
)
from rosenblatt.results import (
    Hyperplane,
    Inseparable,
    JointFit,
    MarginFit,
    QuasiSeparable,
    Sides,
)
from rosenblatt.running.problems import WITHOUT_MISTAKES
from rosenblatt.streams.cache import Cache
from rosenblatt.streams.writing import FeatureWriter
from rosenblatt.tables.date_parts import with_parts
from rosenblatt.tables.encoder import TableEncoder
from rosenblatt.tables.feature_values import width
from rosenblatt.tables.mapped_features import MappedEncoder
from rosenblatt.tables.sparse_features import SparseEncoder

Ints = NDArray[np.int64]

BLOCK = 1 << 16  # samples at a time
FEW = 20  # support vectors that are named


def numbered(y: Any) -> dict[str, Any]:
    """The classes in order, and the number of each row's, as a `LabelledTable` takes them."""
    classes, label = np.unique(y, return_inverse=True)
    return {"classes": classes, "label": label.astype(np.int32)}


@dataclass(frozen=True, kw_only=True)
class LabelledTable:
    """A table as it was read: what to learn from which columns."""

    file: str
    names: Sequence[str]
    target: str
    columns: dict[str, Any]  # arrays, Texts, or a sparse matrix
    classes: NDArray[Any]  # in order
    label: NDArray[np.int32]  # the number of each row's class, of those that have one
    notes: list[str] = field(default_factory=list)
    has_header: bool | None = None  # None: it was made, not read
    known: NDArray[np.bool_] | None = None  # the rows of the file that have a class, if not all
    part: NDArray[np.intp] | None = None  # which of these are here, if not all
    ignores: bool = False  # whether columns were left out as told
    missing: tuple[str, ...] = ()  # what else stood for missing cells
    dates: Mapping[str, str] = field(default_factory=dict)  # orders of those not written as ISO
    decimals: Mapping[str, str] = field(default_factory=dict)  # marks of numbers that are not plain
    units: Mapping[str, str] = field(default_factory=dict)  # that stand behind numbers
    as_they_stand: tuple[str, ...] = ()  # columns in which YES is not yes
    grouped_by: str = ""  # the column that says which rows belong together
    group_of: NDArray[np.intp] | None = None  # and the number of each row's group
    weight: NDArray[np.float64] | None = None  # of each sample; None: all the same
    cache: Cache | None = None  # where its features go, if not into memory

    @property
    def y(self) -> NDArray[Any]:
        """The class of each row; the numbers of classes, `label`, take less memory."""
        return self.classes[self.label]

    @property
    def labels(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The classes in order, and the number of each sample's class."""
        return self.classes, self.label

    def named(self, samples: Any) -> list[str]:
        """What the classes of some samples are called."""
        return [str(label) for label in self.classes[self.label[samples]]]

    @property
    def counts(self) -> dict[str, int]:
        """The samples of each class."""
        counts = np.bincount(self.label, minlength=len(self.classes))
        return dict(zip(map(str, self.classes), counts.tolist(), strict=True))

    @property
    def rows(self) -> Ints:
        """The row of the file that each sample is, counted from 1."""
        if self.known is not None:
            known = np.flatnonzero(self.known) + 1
            return known if self.part is None else known[self.part]
        return (np.arange(len(self.label)) if self.part is None else self.part) + 1

    def taken(self, samples: NDArray[np.intp]) -> LabelledTable:
        """Some of its samples, in order; they know what rows of the file they are."""
        columns = {name: column[samples] for name, column in self.columns.items()}
        part = samples if self.part is None else self.part[samples]
        of = None if self.group_of is None else self.group_of[samples]
        label = self.label[samples]
        there = np.unique(label)  # of some classes there may be none
        return replace(
            self,
            columns=columns,
            classes=self.classes[there],
            label=np.searchsorted(there, label).astype(np.int32),
            part=part,
            group_of=of,
        )

    @property
    def rows_left_out(self) -> list[int]:
        """Those without a class."""
        return [] if self.known is None else (np.flatnonzero(~self.known) + 1).tolist()


@dataclass(frozen=True, kw_only=True)
class EncodedTable(LabelledTable):
    """The same in numbers, as a classifier takes it."""

    encoder: TableEncoder | SparseEncoder | MappedEncoder
    X: Any

    @property
    def source(self) -> OpenedSource:
        """The features and classes, as estimators take them, which do not copy any."""
        return OpenedSource(self.X, label=self.label, classes=self.classes, name=self.file)

    def found_by(self, classifier: Any) -> NDArray[np.bool_]:
        """The classes of which a linear model gets some row right."""
        found = np.zeros(len(self.classes), np.bool_)
        for part in self.parts():
            values = classifier.decision_function(self.X[part])
            chosen = choose(values.reshape(len(values), -1), classifier.at_zero)
            found[chosen[chosen == self.label[part]]] = True
        return found

    def margin(self, plane: Hyperplane, positive: Any) -> float | None:
        """How far the closest sample is, None unless all are strictly on their sides."""
        return separating_margin(plane, self.X, self.signs(positive))

    def parts(self) -> Iterator[slice]:
        """Its samples, some at a time."""
        n = len(self.label)
        return (slice(a, min(a + BLOCK, n)) for a in range(0, n, BLOCK))

    def taken_features(self, samples: NDArray[np.bool_]) -> Any:
        """The features of some samples: a copy, on disk if all of them are there."""
        if self.cache is None:
            return self.X[samples]
        with Cache(self.cache.folder, self.cache.size) as cache:
            writer = FeatureWriter(cache)
            for part in self.parts():
                writer.add(self.X[part][samples[part]])
            return writer.finished()

    @cached_property
    def features(self) -> list[str]:
        """Their names."""
        return [str(name) for name in self.encoder.get_feature_names_out()]

    @property
    def groups(self) -> list[list[int]]:
        """The features of each column of categories, by number: one is 1, the others are 0."""
        groups, start = list[list[int]](), 0
        if isinstance(self.encoder, MappedEncoder):
            return groups
        for spec in with_parts([s for s in self.encoder.columns_ if "dropped" not in s]):
            end = start + width(spec)
            groups += [list(range(start, end))] * ("values" in spec)
            start = end
        return groups

    @property
    def standardized(self) -> bool:
        """Whether there were numbers that were standardised."""
        return bool(self.encoder.standardize) and set(self.encoder.kinds_.values()) != {"text"}

    @property
    def some_columns(self) -> bool:
        """Whether there are columns or words, not used, in which rows may differ."""
        words = any(spec.get("left_out") for spec in self.encoder.columns_)
        return self.ignores or words or bool(self.encoder.identifiers_)

    def differ(self, i: int, j: int) -> bool:
        """Whether two samples are different in the table, and only rounding made them the same."""
        pair = {name: cells[[i, j]] for name, cells in self.columns.items()}
        X = self.encoder.unscaled().transform(pair)
        X = X.toarray() if hasattr(X, "toarray") else X
        return not np.array_equal(*X)

    def signs(self, positive: Any) -> Ints:
        """The classes of a two-class problem, -1 and +1."""
        is_it = np.array([label == positive for label in self.classes.tolist()])
        return np.where(is_it[self.label], 1, -1)


def table_facts(table: EncodedTable, scores: tuple[float, ...] = (), folds: int = 0) -> TableFacts:
    """What there is to say about a table that was learned from, in so many folds."""
    counts = table.counts.values()
    return TableFacts(
        file=table.file,
        has_header=table.has_header,
        missing=table.missing,
        days_first=tuple(name for name, order in table.dates.items() if order == "dmy"),
        months_first=tuple(name for name, order in table.dates.items() if order == "mdy"),
        years_first=tuple(name for name, order in table.dates.items() if order == "ymd"),
        decimal_points=tuple(name for name, mark in table.decimals.items() if mark == "."),
        decimal_commas=tuple(name for name, mark in table.decimals.items() if mark == ","),
        units=dict(table.units) or None,
        as_they_stand=table.as_they_stand,
        names=tuple(table.names),
        trained=datetime.now(UTC).isoformat(timespec="seconds"),
        target=table.target,
        rows=len(table.label),
        rows_without_class=len(table.rows_left_out),
        columns=len(table.columns),
        standardized=table.standardized,
        scores=scores,
        majority=max(counts) / sum(counts),
        folds=folds if 0 < len(scores) < folds else None,
    )


# Fits -------------------------------------------------------------------------------------------


def positive_classes(classifier: Any) -> list[Any]:
    """The class +1 of each two-class problem."""
    return [classifier.classes_[k] for k in positives_of(classifier.classes_)]


def _missed(classifier: Any, training: EncodedTable | None) -> tuple[str, ...]:
    """The classes none of whose rows a linear model gets right."""
    if training is None or not hasattr(classifier, "coef_"):
        return ()
    if classifier.n_errors_ < min(training.counts.values()):
        return ()
    return tuple(map(str, training.classes[~training.found_by(classifier)]))


def fit_facts(classifier: Any, training: EncodedTable | None = None) -> FitFacts:
    """What a fitted classifier itself can tell; more, if there is the table of its training.

    Without it samples are counted from 1, and nothing is said of their classes and slack.
    """
    unknown = dict.fromkeys(map(str, classifier.classes_))
    is_best = hasattr(classifier, "gap_")
    has_kernel = hasattr(classifier, "kernel_")
    return FitFacts(
        version=__version__,
        model=type(classifier).__name__,
        parameters=_parameters(classifier),
        counts=unknown if training is None else training.counts,
        features=int(classifier.n_features_in_),
        stop_reasons=tuple(fit.stop_reason for fit in classifier.fits_),
        training_errors=int(classifier.n_errors_),
        missed=_missed(classifier, training),
        feature_map=None if training is None else _feature_map(training.encoder),
        run=None if is_best else _run(classifier),
        optima=_optima(classifier, training) if is_best else (),
        expansion=_expansion(classifier, training) if has_kernel else None,
    )


def _feature_map(encoder: Any) -> MapFacts | None:
    """What stands between the encoder and the classifier, if anything does."""
    if not isinstance(encoder, MappedEncoder):
        return None
    mapping, gamma = encoder.mapping, None
    if hasattr(mapping, "sampler_"):
        gamma = float(getattr(mapping, "gamma_", 0.0) or mapping.kernel_.rate)
    size = getattr(mapping, "n_components", None) or getattr(mapping, "degree", None)
    return MapFacts(type(mapping).__name__, encoder.n_features_, size, gamma)


def _parameters(classifier: Any) -> Mapping[str, Any]:
    """Those that were changed, as JSON has them; what it has not, such as a generator, as shown."""
    defaults, given = type(classifier)().get_params(), classifier.get_params().items()
    changed = {name: value for name, value in given if not np.array_equal(value, defaults[name])}
    return json.loads(json.dumps(changed, default=_shown))  # type: ignore[no-any-return]


def _shown(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else repr(value)


def _run(classifier: Any) -> RunFacts:
    fits, has_choice = classifier.fits_, hasattr(classifier, "keep")
    return RunFacts(
        tuple(c and (c.entry, c.period) for c in (fit.certificate for fit in fits)),
        epochs=int(classifier.n_iter_),
        mistakes=tuple(int(fit.n_mistakes) for fit in fits),
        updates=tuple(int(fit.n_updates) for fit in fits),
        kept=tuple(_kept(classifier.keep, fit) for fit in fits) if has_choice else (),
    )


def _kept(keep: str, fit: Any) -> str:
    """Which vector of a run the model is."""
    if keep != "auto":
        return keep
    return "last" if fit.stop_reason in WITHOUT_MISTAKES else "average"


def _numbers(samples: Ints, training: EncodedTable | None) -> tuple[int, ...]:
    """Rows of the file, counted from 1."""
    return tuple((samples + 1 if training is None else training.rows[samples]).tolist())


# Hyperplanes ------------------------------------------------------------------------------------


def margins_of(classifier: Any, training: EncodedTable) -> tuple[float | None, ...] | None:
    """The margin of each two-class problem, None where the hyperplane does not separate.

    None for a kernel perceptron, whose hyperplane is elsewhere.
    """
    if hasattr(classifier, "kernel_"):
        return None
    if isinstance(classifier.fits_[0], JointFit):
        return (joint_margin(classifier.fits_[0].hyperplanes, training),)
    planes = [fit.hyperplane for fit in classifier.fits_]
    both = zip(planes, positive_classes(classifier), strict=True)
    return tuple(training.margin(plane, positive) for plane, positive in both)


def separating_margin(plane: Hyperplane, X: Any, y: Ints) -> float | None:
    """How far the closest sample is, None unless all are strictly on their sides."""
    margin = margin_of(X, y, [*plane.w, plane.b]) if plane.w.any() else 0.0
    return margin if margin > 0 else None


def joint_margin(planes: Sequence[Hyperplane], training: EncodedTable) -> float | None:
    """How far the closest sample is from where another class's value is as high.

    None unless each sample's own class has the highest value.
    """
    thetas = [[Fraction(number) for number in (*plane.w, plane.b)] for plane in planes]
    margin = math.inf
    for own, rival in permutations(range(len(thetas)), 2):
        apart = [a - b for a, b in zip(thetas[own], thetas[rival], strict=True)]
        if not any(apart[:-1]):
            return None
        for part in training.parts():
            X = training.X[part][training.label[part] == own]
            margin = min(margin, margin_of(X, np.ones(X.shape[0]), apart) if X.shape[0] else margin)
            if not margin > 0:
                return None
    return margin


def _optima(classifier: Any, training: EncodedTable | None) -> tuple[OptimumFacts, ...]:
    """What each two-class problem of a fitted margin classifier came to."""
    sides: list[SideFacts | None] = [None] * len(classifier.fits_)
    if training is not None:
        found = classifier.sides(training.source)
        found = found if isinstance(found, tuple) else (found,)
        weights = _weights(classifier, training.label, training.weight)
        sides = [_sides(side, weight) for side, weight in zip(found, weights, strict=True)]
    every = zip(classifier.fits_, positive_classes(classifier), sides, strict=True)
    return tuple(_optimum(fit, str(name), side, training) for fit, name, side in every)


def _optimum(
    fit: MarginFit, positive: str, sides: SideFacts | None, training: EncodedTable | None
) -> OptimumFacts:
    optimum = fit.optimum
    found = optimum.C is not None or optimum.margin > 0  # or nothing that separates
    return OptimumFacts(
        positive=positive,
        C=optimum.C,
        margin=_finite(optimum.margin) if found else None,
        primal=_finite(optimum.primal),
        dual=_finite(optimum.dual),
        gap=optimum.gap if found else None,
        scans=len(fit.trace),
        support=_numbers(optimum.support, training),
        conditions={name: _finite(x) for name, x in asdict(fit.conditions).items()},
        proof=proof_facts(fit.certificate, training),
        sides=sides,
    )


def _finite(x: float) -> float | None:
    """A number, or what JSON has instead of infinity."""
    return float(x) if math.isfinite(x) else None


def proof_facts(certificate: Any, training: EncodedTable | None) -> ProofFacts | None:
    """The rows whose convex hulls meet, where no hyperplane separates the classes."""
    if not isinstance(certificate, Inseparable | QuasiSeparable):
        return None
    rows = certificate.support
    classes = None if training is None else tuple(training.named(rows))
    return ProofFacts(_numbers(rows, training), tuple(certificate.weights.tolist()), classes)


def _sides(side: Sides, weight: NDArray[np.float64]) -> SideFacts:
    places = {name: len(getattr(side, name)) for name in ("outside", "on", "inside", "wrong")}
    return SideFacts(N=float(weight.sum()), slack=float(weight @ side.slack), **places)


def _weights(
    classifier: Any, label: NDArray[np.int32], own: NDArray[np.float64] | None
) -> Iterator[NDArray[np.float64]]:
    """The weight of every sample in each two-class problem, given its `own`, if it has one."""
    classes, given = classifier.classes_, classifier.class_weight
    factors = (
        np.ones(len(classes))
        if given is None
        else class_weights(given, classes, np.bincount(label, minlength=len(classes)))
    )
    for positive in positives_of(classes):
        counts = label == positive if len(classes) > 2 else True  # the rest counts as it is
        yield np.where(counts, factors[label], 1.0) * (1.0 if own is None else own)


# Kernels ----------------------------------------------------------------------------------------


def kernel_facts(classifier: Any) -> KernelFacts:
    """The kernel of a fitted kernel perceptron."""
    kernel = classifier.kernel_
    numbers = asdict(kernel) if kernel.needs_features else {}
    formula = f"{kernel.formula}{' + 1' * bool(classifier.fit_intercept)}"
    return KernelFacts(kernel.name, formula, numbers)


def _expansion(classifier: Any, training: EncodedTable | None) -> ExpansionFacts:
    """What it consists of, in so few words that a model file can hold them."""
    total, sample = classifier.alpha_.sum(axis=0), classifier.support_
    first = [k for k in np.argsort(-total, kind="stable") if sample[k] >= 0 and total[k]][:FEW]
    counts = None
    if training is not None:
        found = np.bincount(training.label[sample], minlength=len(training.classes))
        counts = dict(zip(map(str, training.classes), found.tolist(), strict=True))
    hardest = _mistaken(training, sample[first], total[first])
    dropped: list[MistakenRow] = []
    for fit, positive in zip(classifier.fits_, positive_classes(classifier), strict=True):
        gone = fit.dropped
        dropped += _mistaken(training, gone.sample, gone.count, gone.epoch.tolist(), str(positive))
    support = SupportFacts(len(sample), tuple(hardest), counts)
    return ExpansionFacts(kernel_facts(classifier), support, tuple(dropped))


def _mistaken(
    training: EncodedTable | None,
    sample: Ints,
    counts: Ints,
    epochs: list[int] | None = None,
    positive: str | None = None,
) -> list[MistakenRow]:
    """Samples with the number of their mistakes, and when they were dropped if they were."""
    none = [None] * len(sample)
    labels = none if training is None else training.named(sample)
    each = zip(_numbers(sample, training), counts.tolist(), epochs or none, labels, strict=True)
    return [MistakenRow(*one, positive) for one in each]


def expansion_document(classifier: Any, rows: Ints | range | None) -> dict[str, Any]:
    """The whole sum, as JSON has it; `rows`, if known: the row of the file that each sample is."""
    sample = classifier.support_
    found = {"mistakes": classifier.alpha_.tolist(), "coef": classifier.dual_coef_.tolist()}
    if rows is not None:
        found = {"rows": [int(rows[i]) if i >= 0 else None for i in sample]} | found
    return {"expansion": found}
