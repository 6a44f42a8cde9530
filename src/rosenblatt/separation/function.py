"""The verdict on two classes, or on all as one problem, with evidence that has been checked."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from sklearn.utils import check_X_y

from rosenblatt.arguments import one_of, yes_or_no
from rosenblatt.contract.classifier import labels_of
from rosenblatt.contract.parameters import count_threads, shown, time_limit
from rosenblatt.contract.resuming import keeper_at
from rosenblatt.contract.samples import class_numbers, read_labelled_samples
from rosenblatt.data.fingerprint import fingerprint
from rosenblatt.data.kesler import KeslerSource
from rosenblatt.data.opened import OpenedSource
from rosenblatt.data.rows import as_rows
from rosenblatt.data.sources import MemorySource, labelled
from rosenblatt.exact.kesler import pairs_of
from rosenblatt.proofs import check
from rosenblatt.results import JointCertificate, QuasiSeparable, Separable, Undecided
from rosenblatt.running.checkpoints import CheckpointError
from rosenblatt.running.clock import Clock, Halt, Kind
from rosenblatt.running.notes import Notes, written_at_the_end
from rosenblatt.running.threads import Team, blas_threads_for
from rosenblatt.separation.solver import Care, find_certificate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from rosenblatt.data.sources import Source
    from rosenblatt.results import Certificate, CheckResult, Inseparable
    from rosenblatt.running.checkpoints import Keeper
    from rosenblatt.separation.feature_space import FeatureVerdict

PASSES = 6  # over the data, when evidence is checked
ENCLOSURES = 30  # times as many products as d³ for the systems in the evidence


@overload
def separability(
    X: Any,
    y: Any,
    *,
    kernel: None = None,
    fit_intercept: bool | None = None,
    max_time: float | None = None,
    checkpoint: Any = None,
) -> Certificate: ...


@overload
def separability(
    X: Any,
    y: Any,
    *,
    multiclass: str,
    kernel: None = None,
    fit_intercept: bool | None = None,
    max_time: float | None = None,
    checkpoint: Any = None,
) -> Certificate | JointCertificate: ...


@overload
def separability(
    X: Any, y: Any, *, kernel: Any, fit_intercept: bool | None = None, max_time: float | None = None
) -> FeatureVerdict: ...


def separability(
    X: Any,
    y: Any,
    *,
    kernel: Any = None,
    fit_intercept: bool | None = None,
    multiclass: str | None = None,
    max_time: float | None = None,
    checkpoint: Any = None,
) -> Certificate | FeatureVerdict | JointCertificate:
    """Whether a hyperplane separates two classes, proved: as `rosenblatt.separability`.

    It takes no tables, and more than two classes only with ``multiclass="joint"``. Its
    `checkpoint` may be the notes of one of several such questions, too.
    """
    if multiclass is not None:
        one_of("multiclass", multiclass, ("joint",))
        if kernel is not None:
            msg = "multiclass='joint' goes with no kernel yet: leave one of them out"
            raise ValueError(msg)
    if fit_intercept is not None:
        yes_or_no("fit_intercept", fit_intercept)
    if kernel is not None:
        if checkpoint is not None:
            msg = "checkpoint goes with no kernel yet: leave one of them out"
            raise ValueError(msg)
        from rosenblatt.separation import feature_space  # it builds on this module

        ask = feature_space.separability_in_features
        return ask(X, y, kernel, bool(fit_intercept), max_time)
    if fit_intercept is False:
        msg = "fit_intercept=False is for a kernel: give kernel=rb.kernels.Linear() too"
        raise ValueError(msg)
    clock = Clock(time_limit(max_time))
    keeper = None if isinstance(checkpoint, Notes) else keeper_at(checkpoint)
    if multiclass is None:
        X, labels = read_two_classes(X, y)
        n_classes = 2
    else:
        X, labels, n_classes = read_classes(X, y)
    source = MemorySource(as_rows(X), labels, X.shape[1])
    with Team(count_threads(None)) as team:
        if isinstance(checkpoint, Notes):
            return proved(source, team, 1, clock, notes=checkpoint)
        with noting(keeper, source, team, multiclass if n_classes > 2 else None) as notes:
            if n_classes == 2:
                return proved(source, team, 1, clock, notes=notes)
            return proved_jointly(source, labels, n_classes, team, clock, notes)


@contextmanager
def noting(
    keeper: Keeper | None, source: Source, team: Team, multiclass: str | None = None
) -> Iterator[Notes]:
    """The notes of a question about these data, which are written at the end however it comes."""
    if keeper is not None:
        settings = {"multiclass": multiclass}
        keeper.identify("separability", settings, 0, fingerprint(source, team))
    with written_at_the_end(Notes(keeper)) as notes:
        yield notes


def proved_jointly(
    source: Source,
    labels: NDArray[np.int32],
    n_classes: int,
    team: Team,
    clock: Clock,
    notes: Notes | None = None,
) -> JointCertificate:
    """The verdict on several classes as one problem, and checked evidence for it."""
    vectors = KeslerSource(source, n_classes, bias=True, first=1, origin=True)
    found = proved(vectors, team, 1, clock, notes=notes)
    rows = getattr(found, "support", np.empty(1, np.int64))[:-1]  # the origin is last
    return JointCertificate(found, n_classes, pairs_of(rows, labels, n_classes))


def proved(
    source: Source,
    team: Team,
    positive: int,
    clock: Clock,
    quick: bool = True,
    notes: Notes | None = None,
) -> Certificate:
    """The verdict on class `positive` against the rest, and checked evidence for it.

    Parameters as for `find_certificate`.
    """
    notes = notes or Notes()
    known = notes.restored("found", partial(_checked_again, source, team, positive))
    if known is not None:
        return known
    nothing, trouble = (-np.inf, np.inf), ""
    careless = notes.restored("careless", partial(_careless, clock)) or 0  # searches in vain
    for care in list(Care)[careless:]:
        try:
            certificate = find_certificate(source, team, positive, clock, care, quick, notes)
            if isinstance(certificate, Undecided):
                if certificate.why != Undecided.TIME:
                    notes.done("found", certificate)
                return certificate
            clock.afford(_checking_time(certificate, source, clock))
            task = partial(_checked, source, team, positive, certificate, clock)
            result = clock.waiting_for(task, ENCLOSURES * (source.n_features + 1) ** 3)
        except Halt:
            return Undecided(nothing, Undecided.TIME)
        except CheckpointError:
            raise
        except (ArithmeticError, AssertionError, ValueError) as error:
            trouble = f"{type(error).__name__}: {error}"
        else:
            if result.valid:
                notes.done("found", certificate)
                return certificate
            trouble = result.why
        # Again, with less reliance on floats.
        notes.done("careless", (int(care) + 1, clock.work, clock.systems))
    return Undecided(nothing, f"a fault of this program stood in the way ({trouble})")


def _checked(
    source: Source, team: Team, positive: int, certificate: Any, clock: Clock
) -> CheckResult:
    """The check of a certificate, by all threads."""

    def each(task: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        clock.look_up()
        return team.each_product(task, items)

    with blas_threads_for(source.n_features**3):
        return check(certificate, labelled(source, positive), each=each)


def _checked_again(source: Source, team: Team, positive: int, certificate: Any) -> Certificate:
    """What was found before, and written to a file that anyone can write."""
    undecided = isinstance(certificate, Undecided)
    if undecided or _checked(source, team, positive, certificate, Clock()).valid:
        found: Certificate = certificate
        return found
    raise ValueError(certificate)


def _careless(clock: Clock, noted: tuple[int, float, float]) -> int:
    """How many searches were in vain; the clock has counted their work."""
    careless, clock.work, clock.systems = noted
    return careless


def _checking_time(
    certificate: Separable | QuasiSeparable | Inseparable, source: Source, clock: Clock
) -> float:
    """Seconds that a check takes, roughly: it solves again what the search has solved."""
    seconds = clock.seconds(Kind.READING, PASSES * source.n_entries)
    if isinstance(certificate, Separable):
        return seconds
    d, spanning = source.n_features, len(certificate.spanning_support)
    seconds += clock.seconds(Kind.PRODUCTS, ENCLOSURES * (d + 1) ** 3)
    seconds += clock.seconds(Kind.EXACT, clock.systems)
    spanned = len(certificate.on) if isinstance(certificate, QuasiSeparable) else source.n_rows
    null = max(0, d + 2 - spanning)  # vectors that all of these samples are to be zero along
    if spanned - spanning <= null:
        return seconds
    numbers = source.n_entries * spanned / source.n_rows
    return seconds + clock.seconds(Kind.SIDES, null * numbers)


def read_labelled(X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
    """Samples as a C-ordered array or canonical CSR matrix, and their labels as given.

    Those of an opened source were validated as they were written; their classes are numbers.
    """
    if isinstance(X, OpenedSource):
        return X.X, labels_of(X, y)[0]
    return read_labelled_samples(X, y, check_X_y)


def read_classes(X: Any, y: Any) -> tuple[Any, NDArray[np.int32], int]:
    """Samples, their classes by number, and how many of these there are, validated."""
    X, y = read_labelled(X, y)
    classes, labels = class_numbers(y)
    return X, labels, len(classes)


def read_two_classes(
    X: Any, y: Any, about: str = "a verdict is on two"
) -> tuple[Any, NDArray[np.int32]]:
    """Samples as a C-ordered array or canonical CSR matrix, and labels 0 and 1, validated."""
    X, y = read_labelled(X, y)
    classes, labels = class_numbers(y)
    if len(classes) > 2:
        msg = (
            f"y holds {len(classes)} classes, {shown(classes)}: {about}; "
            f"give y == {classes.tolist()[0]!r} for one class against the rest, "
            "or multiclass='joint'"
        )
        raise ValueError(msg)
    return X, labels
