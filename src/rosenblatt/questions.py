"""Questions with a proof, as people ask them: of arrays and tables, of two classes and of more.

What answers them, of numbers and two classes, is in `separation` and `bounds`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from rosenblatt.arguments import brief, yes_or_no
from rosenblatt.bounds import function as bounds
from rosenblatt.cluster.engine import released
from rosenblatt.cluster.opened import ClusteredSamples, is_on_cluster
from rosenblatt.cluster.reading import column_names
from rosenblatt.contract.classifier import labels_of, positives_of
from rosenblatt.contract.clustered import read_clustered
from rosenblatt.contract.parameters import count_threads, time_limit
from rosenblatt.contract.resuming import keeper_at
from rosenblatt.contract.samples import number_labels
from rosenblatt.data.opened import OpenedSource
from rosenblatt.data.rows import as_rows
from rosenblatt.data.sources import MemorySource
from rosenblatt.results import Problem
from rosenblatt.results.verdicts import Evidence
from rosenblatt.running.checkpoints import CheckpointError
from rosenblatt.running.clock import Clock
from rosenblatt.running.threads import Team
from rosenblatt.separation import function as separation
from rosenblatt.separation.function import read_classes
from rosenblatt.tables.samples import Samples

LEAST_TIME = 1e-9  # seconds that are left when none are


class EachClass(tuple[Any, ...]):
    """Answers about each class against the rest; ``print`` shows them as sentences."""

    classes: list[Any]

    def __new__(cls, answers: Iterable[Any], classes: list[Any]) -> EachClass:
        """Answers in the order of the classes."""
        these = super().__new__(cls, answers)
        these.classes = classes
        return these

    def __getnewargs__(self) -> tuple[Any, ...]:
        """What copies and pickles are made of."""
        return tuple(self), self.classes

    def __str__(self) -> str:
        """A line for each class."""
        return "\n".join(
            str(one) if isinstance(one, Evidence) else f"{name} against the rest: {one}"
            for name, one in zip(self.classes, self, strict=True)
        )


def separability(
    X: Any,
    y: Any = None,
    *,
    kernel: Any = None,
    fit_intercept: bool | None = None,
    multiclass: str | None = None,
    max_time: float | None = None,
    checkpoint: Any = None,
) -> Any:
    """Whether a hyperplane separates the classes, proved.

    Floats are rational numbers, and the verdict is exact for them: every certificate has been
    checked as `rosenblatt.certify.check` does before it is returned.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d), a table, or what `rosenblatt.open` gives
        The samples. A C-ordered float array or a CSR matrix is not copied. A table is a data frame
        (pandas, polars), an Arrow table or a dict of columns: numbers, if no cell is missing, are
        taken as they are; otherwise columns are encoded as ``rosenblatt check`` does, with
        ``rosenblatt.TableEncoder(standardize=False, keep_constant=True)``.
    y : array of shape (n,)
        Labels; of two classes the second in sorted order is +1. Not with an opened source.
    kernel : rb.kernels object or callable, optional
        Ask for a hyperplane in its feature space. Linear and polynomial kernels are decided
        exactly where no product of the numbers in X is rounded, or where there is room to spare.
        Of many samples a hyperplane is looked for with the kernel's values of a few, and proved by
        bounds on their rounding; what this cannot prove is then asked of the matrix of all values,
        for up to 4000 samples, and beyond is `Undecided`. Two samples that are the same but for
        their classes prove that nothing separates: of many samples, these two are all of the
        certificate. It takes the memory of the working set's own values, and of those with 1000
        samples in each thread.
    fit_intercept : bool, optional
        With a kernel, whether the hyperplane may have a bias (the kernel is then ``K + 1``); None:
        it passes through the origin. Without a kernel it always has one.
    multiclass : "joint", optional
        Of several classes ask whether each can have the highest ``w_k·x + b_k`` on all its
        samples: whether what `rosenblatt.Perceptron` learns with this name exists. (It decides,
        too, whether a multinomial logistic regression has finite estimates [1]_: only where the
        answer is inseparable.) Of two classes this is the question without it.
    max_time : float, optional
        Seconds after which the answer is `Undecided`, for all classes together; by default no
        limit. Exact arithmetic, where rounding hides the answer, has a limit of work, the same on
        every machine.
    checkpoint : path or rosenblatt.Checkpoint, optional
        Where to keep the state of the search, so that one which was killed, or was out of time,
        goes on where it was, and ends with the same certificate. Of several classes those that are
        decided are not decided again, only their certificates are checked. The file holds row
        numbers of a working set, and what has been found. Not with a kernel.

    Returns
    -------
    Separable, QuasiSeparable, Inseparable or Undecided
        ``print`` shows it as a sentence; its `problem` has the names of classes and features. Of
        more than two classes a tuple, each class against the rest, in the order of the classes.
        With a kernel a FeatureVerdict: one of these as its `certificate`, its `verdict`, whether
        it is `exact`, and otherwise the `tolerance`. With ``multiclass="joint"`` and more than two
        classes a `rosenblatt.results.JointCertificate`.

    References
    ----------
    .. [1] A. Albert and J. A. Anderson, "On the existence of maximum likelihood estimates in
       logistic regression models", Biometrika 71(1), 1984.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]
    >>> xor = rb.separability(X, [0, 0, 1, 1])
    >>> xor.verdict, xor.support, xor.point
    (Verdict.INSEPARABLE, array([0, 1, 2, 3]), array([0.5, 0.5]))
    >>> print(rb.separability(X, [0, 0, 1, 1], kernel=rb.kernels.Polynomial(2)))
    separable in the feature space of K(x, y) = (x·y + 1)^2: proved
    >>> line = {"x": [-2.0, 0.0, 2.0]}  # no threshold has the middle one to itself
    >>> for found in rb.separability(line, ["low", "middle", "top"]):
    ...     print(found.problem, found.verdict.name)
    low against the rest SEPARABLE
    middle against the rest INSEPARABLE
    top against the rest SEPARABLE
    >>> rb.separability(line, ["low", "middle", "top"], multiclass="joint").verdict
    Verdict.SEPARABLE
    """
    if is_on_cluster(X):
        _refuse_any(kernel=kernel, fit_intercept=fit_intercept, multiclass=multiclass)
        return _asked_of_cluster(X, y, time_limit(max_time), keeper_at(checkpoint))
    how = {"kernel": kernel, "fit_intercept": fit_intercept}
    if multiclass is not None:
        how["multiclass"] = multiclass
    if kernel is None:
        keeper_at(checkpoint)  # refuses what cannot be one before any work
    ask: Any = separation.separability
    how["checkpoint"] = checkpoint
    return _asked(ask, X, y, max_time, how, whole=multiclass is not None)


def mistake_bound(
    X: Any,
    y: Any = None,
    *,
    hyperplane: Any = None,
    init: Any = None,
    eta0: float = 1.0,
    fit_intercept: bool | None = None,
    update: str = "online",
    batch_size: int | None = None,
    shards: int | None = None,
    epochs: int | None = None,
    kernel: Any = None,
    multiclass: str | None = None,
    max_time: float | None = None,
) -> Any:
    """The most mistakes that a perceptron can make on these data.

    In any order of the samples, and for any number of epochs, it makes at most ``(R/γ)²``
    mistakes from zero [1]_; with a start guess, at most the larger root of the proof's quadratic;
    in batches of m samples, m times as many. (Mistakes are counted, not updates; an update of a
    batch has one mistake at least, so there are no more updates than that.) With a bias, R and γ
    are those of the vectors ``(x, 1)``.

    If no hyperplane separates the classes there is no such bound, and `epochs` must be given: in
    that many epochs there are at most ``(R‖v‖ + √epochs·‖(1 - y v·x̃)₊‖₂)²`` mistakes, whatever the
    vector v [2]_; the best one is looked for. This counts on every sample to come once in an
    epoch (`order` "cyclic" or "shuffled").

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d), a table, or what `rosenblatt.open` gives
        Tables are taken as `rosenblatt.separability` takes them.
    y : array of n labels
        Not with an opened source, which has its own. Of two classes the second in sorted order is
        +1. Of more the bound is that of each class against the rest, as `rosenblatt.Perceptron`
        learns them.
    hyperplane : Hyperplane, optional
        Use its margin; None: the widest there is, which gives the smallest bound from zero. (Of
        several classes as one problem a list with one for each; not for each against the rest.)
    init : array, optional
        The start guess: weights, then the bias, which ``fit_intercept=False`` may leave out.
        None: zeros.
    eta0 : float
        The learning rate. It matters only with a start guess.
    fit_intercept : bool, optional
        Whether a bias is learned; None: yes, but not with a kernel. With a kernel the bias makes
        it ``K + 1``.
    update : {"online", "batch", "minibatch", "mixed"}
    batch_size : int, optional
        Samples per update, for ``update="minibatch"``.
    shards : int, optional
        The shards for ``update="mixed"``; None: 16, or as many as there are samples. There are at
        most S times as many mistakes as online, and ``(R/γ)²`` if each counts ``1/S``, the weight
        that it has in the mixture.
    epochs : int, optional
        Bound the mistakes of so many epochs. If the classes are separable it is never above the
        bound for any number.
    kernel : rb.kernels object or callable, optional
        The bound for a kernel perceptron: R, γ and the hyperplane are those of its feature space.
    multiclass : "joint", optional
        The bound for ``Perceptron(multiclass="joint")``: that of the vectors that it adds, with
        ``(x, 1)`` in the place of a sample's class, ``-(x, 1)`` in that of a rival. Then R is
        ``√2·max‖(x, 1)‖``, and ``γ = min (θ_own - θ_rival)·(x, 1)`` with length 1 for all θ
        together [3]_. `init` has a row for each class. Of two classes it is the ordinary bound, as
        is the run.
    max_time : float, optional
        Seconds after which to stop looking for the best hyperplanes. With `epochs` the bound is
        then what is known by now, at worst that every visit is a mistake; `separable` is None
        unless it was settled.

    Returns
    -------
    MistakeBound
        Of more than two classes a tuple, each class against the rest, in the order of the classes.

    Raises
    ------
    ValueError
        If the hyperplane, or any hyperplane, does not separate the classes and `epochs` is None;
        or if `max_time` was over before a bound was found.

    References
    ----------
    .. [1] A. B. J. Novikoff, "On convergence proofs on perceptrons", Symposium on the
       Mathematical Theory of Automata, 1962.
    .. [2] Y. Freund and R. E. Schapire, "Large margin classification using the perceptron
       algorithm", Machine Learning 37, 1999.
    .. [3] K. Crammer and Y. Singer, "Ultraconservative online algorithms for multiclass
       problems", Journal of Machine Learning Research 3, 2003.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y = rb.datasets.eight_points()
    >>> print(rb.mistake_bound(X, y))
    at most 5 mistakes: (R/γ)² with R = 3.317, γ = 1.414
    >>> print(rb.mistake_bound(*rb.datasets.xor(), epochs=3))
    at most 12 mistakes in 3 epochs: nE, a mistake per visit with n = 4, E = 3
    >>> xor = rb.mistake_bound(*rb.datasets.xor(), kernel=rb.kernels.Polynomial(2))
    >>> xor.most, round(xor.R, 3), xor.kernel
    (105, 3.0, 'K(x, y) = (x·y + 1)^2')
    >>> print(rb.mistake_bound([[-2.0], [0.0], [2.0]], [0, 1, 2], multiclass="joint"))
    at most 26 mistakes: (R/γ)² with R = 3.162, γ = 0.6124, of 3 classes as one problem
    """
    if is_on_cluster(X):
        _refuse_any(kernel=kernel, multiclass=multiclass)
        asked = {"hyperplane": hyperplane, "init": init, "eta0": eta0, "update": update}
        asked |= {"batch_size": batch_size, "shards": shards, "epochs": epochs}
        bias = yes_or_no("fit_intercept", True if fit_intercept is None else fit_intercept)
        return _bound_on_cluster(X, y, time_limit(max_time), bias, asked)
    if multiclass is None and (hyperplane is not None or init is not None):
        given = "hyperplane" if hyperplane is not None else "init"
        _require_two(_classes(X, y), f"{given} is about one problem")
    how = {
        **{"hyperplane": hyperplane, "init": init, "eta0": eta0, "fit_intercept": fit_intercept},
        **{"update": update, "batch_size": batch_size, "shards": shards, "epochs": epochs},
        **{"kernel": kernel, "multiclass": multiclass},
    }
    return _asked(bounds.mistake_bound, X, y, max_time, how, whole=multiclass is not None)


def _refuse_any(**given: Any) -> None:
    """Refuse parameters that mean nothing for data on a cluster."""
    for name, value in given.items():
        if value is not None:
            remedy = "leave it out, or give X.compute()"
            msg = f"{name}={brief(value)} does not work on a cluster: {remedy}"
            raise ValueError(msg)


def _asked_of_cluster(X: Any, y: Any, limit: float | None, keeper: Any) -> Any:
    """The verdict on data on a cluster; one for each class against the rest of more than two."""
    with released():
        return _asked_of_source(*_clustered(X, y), X, limit, keeper)


def _clustered(X: Any, y: Any) -> tuple[Any, Any]:
    """Samples on the workers, all of them with the same weight, and the classes."""
    return read_clustered(X, y, None, None, lambda classes, counts: None)


def _asked_of_source(source: Any, classes: Any, X: Any, limit: float | None, keeper: Any) -> Any:
    samples = _samples_there(X)
    answers, positives = [], positives_of(classes)
    rest = classes.tolist()[0] if len(classes) == 2 else None
    with Team(count_threads(None)) as team, separation.noting(keeper, source, team) as notes:
        for k, clock in _in_turn(positives, limit):
            page = notes if len(positives) == 1 else notes.of(k)
            found = separation.proved(source, team, k, clock, notes=page)
            answers.append(_about(found, samples, classes.tolist()[k], rest))
    return answers[0] if len(positives) == 1 else EachClass(answers, classes.tolist())


def _bound_on_cluster(
    X: Any, y: Any, limit: float | None, bias: bool, given: dict[str, Any]
) -> Any:
    """The bound for data on a cluster; one for each class against the rest of more than two."""
    with released():
        return _bound_of_source(*_clustered(X, y), limit, bias, given)


def _bound_of_source(
    source: Any, classes: Any, limit: float | None, bias: bool, given: dict[str, Any]
) -> Any:
    if given["hyperplane"] is not None or given["init"] is not None:
        _require_two(classes.tolist(), "hyperplane or init is about one problem")
    answers = [
        bounds.bound_of_source(source, k, fit_intercept=bias, clock=clock, **given)
        for k, clock in _in_turn(positives_of(classes), limit)
    ]
    return answers[0] if len(answers) == 1 else EachClass(answers, classes.tolist())


def _in_turn(positives: list[int], limit: float | None) -> Iterator[tuple[int, Clock]]:
    """Each problem, with its share of the time that is left."""
    whole = Clock(limit)
    for number, k in enumerate(positives):
        share = max(LEAST_TIME, whole.left() / (len(positives) - number))
        yield k, Clock(None if limit is None else share)


def _asked(
    ask: Callable[..., Any], X: Any, y: Any, max_time: Any, how: dict[str, Any], whole: bool
) -> Any:
    """The answer; one for each class against the rest, unless all are one problem (`whole`)."""
    limit, began = time_limit(max_time), time.monotonic()

    def left(problems: int) -> float | None:
        """The seconds that the next of so many problems has."""
        if limit is None:
            return None
        return max(LEAST_TIME, (limit - (time.monotonic() - began)) / problems)

    samples, classes = _samples(X), _classes(X, y)
    if whole or len(classes) < 3:
        found = ask(samples.X, y, max_time=left(1), **how)
        return found if len(classes) != 2 else _about(found, samples, classes[1], classes[0])
    X, label, n = read_classes(samples.X, y)
    answers = []
    with _noting(how, X, label) as ways:
        for k, positive in enumerate(classes):
            try:
                found = ask(X, label == k, max_time=left(n - k), **ways(k))
            except CheckpointError:
                raise
            except ValueError as error:
                msg = f"of y == {positive!r} against the rest: {error}"
                raise ValueError(msg) from None
            answers.append(_about(found, samples, positive))
    return EachClass(answers, classes)


@contextmanager
def _noting(how: dict[str, Any], X: Any, label: Any) -> Iterator[Callable[[int], dict[str, Any]]]:
    """How to ask of each of several classes: all of them have notes in one checkpoint, if any."""
    keeper = keeper_at(how.get("checkpoint")) if how.get("kernel") is None else None
    if keeper is None:
        yield lambda k: how
        return
    source = MemorySource(as_rows(X), label, X.shape[1])
    with Team(count_threads(None)) as team, separation.noting(keeper, source, team) as notes:
        yield lambda k: {**how, "checkpoint": notes.of(k)}


def _about(found: Any, samples: Samples, positive: Any, negative: Any = None) -> Any:
    """The answer, which knows what it is about if it is a certificate."""
    if not isinstance(found, Evidence):
        return found
    return found.about(Problem(positive, negative, samples.features, samples.left_out))


def _samples(X: Any) -> Samples:
    """Samples as numbers, with the names of the features."""
    if not isinstance(X, OpenedSource | ClusteredSamples):
        return Samples.of(X)
    specs = getattr(X.encoder, "columns_", ())
    return Samples(X, X.features, tuple(s["name"] for s in specs if "dropped" in s))


def _samples_there(X: Any) -> Samples:
    """Samples on a cluster, with the names of the features."""
    if isinstance(X, ClusteredSamples):
        return _samples(X)
    names = column_names(X)
    return Samples(X, None if names is None else tuple(map(str, names)), ())


def _classes(X: Any, y: Any) -> list[Any]:
    """The labels that there are, in order; none where that cannot be told, which is told later."""
    if isinstance(X, OpenedSource):
        known: list[Any] = labels_of(X, y)[1].tolist()
        return known
    try:
        labels = np.asarray(y)
        classes = number_labels(labels)[0] if labels.ndim == 1 else np.unique(labels)
    except (TypeError, ValueError):
        return []
    found: list[Any] = classes.tolist()
    return found


def _require_two(classes: list[Any], why: str) -> None:
    if len(classes) > 2:
        msg = f"{why}, but y holds {len(classes)} classes: give y == {classes[0]!r}, one of them"
        raise ValueError(msg)
