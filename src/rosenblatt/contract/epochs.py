"""What the classifiers that are trained in epochs share: settings, reading, reports, warnings."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from rosenblatt.arguments import label_vector
from rosenblatt.contract.parameters import (
    check_callback,
    count_threads,
    positive_int,
    positive_number,
    seed_from,
    shown,
    time_limit,
    yes_or_no,
)
from rosenblatt.results import Cycle, Epoch, Trace
from rosenblatt.running.run import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from rosenblatt.contract.classifier import Data
    from rosenblatt.contract.progress import ProgressBar
    from rosenblatt.results import Hyperplane

STORED = (Trace, Cycle)  # what their model files hold, beside what all hold
NO_TOL = ", or None to run until no mistakes"


def settings_of(model: Any, no_tol: str = NO_TOL) -> Settings:
    """The parameters that all have, checked, as settings."""
    check_callback(model.callback)
    for name in ("progress", "warm_start"):
        yes_or_no(name, getattr(model, name))
    count_threads(model.n_jobs)
    tol = model.tol
    return Settings(
        fit_intercept=yes_or_no("fit_intercept", model.fit_intercept),
        max_epochs=positive_int("max_epochs", model.max_epochs),
        max_time=time_limit(model.max_time),
        tol=None if tol is None else positive_number("tol", tol, hint=no_tol),
        seed=seed_from(model.random_state),
    )


def read_all(model: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Data, Settings, bool]:
    """What `fit` needs: the data, the settings, and whether it starts where the last fit ended."""
    settings = model._settings()
    again = model.warm_start and hasattr(model, "fits_")
    classes = model.classes_ if again else None
    return model._read(X, y, sample_weight, classes, reset=not again), settings, again


def read_more(
    model: Any, X: Any, y: Any, classes: ArrayLike | None, sample_weight: Any
) -> tuple[Data, Settings, bool]:
    """What `partial_fit` needs: the data, the settings, and whether it is the first call."""
    settings = model._settings().with_changes(max_epochs=1)
    if model.class_weight == "balanced":
        msg = (
            "class_weight='balanced' needs all the labels at once: "
            "give partial_fit the weights themselves, as a dict"
        )
        raise ValueError(msg)
    first = not hasattr(model, "fits_")
    known = _all_classes(model, classes, first)
    return model._read(X, y, sample_weight, known, reset=first), settings, first


def _all_classes(model: Any, classes: ArrayLike | None, first: bool) -> NDArray[Any]:
    if classes is None:
        if first:
            msg = "the first call of partial_fit needs classes: all labels that will ever come"
            raise ValueError(msg)
        return model.classes_  # type: ignore[no-any-return]
    given = np.unique(label_vector("classes", classes))
    if len(given) < 2:
        msg = f"classes holds only {shown(given)}: give at least two classes"
        raise ValueError(msg)
    if not first and not np.array_equal(given, model.classes_):
        msg = f"classes are now {shown(given)}, but were {shown(model.classes_)} before"
        raise ValueError(msg)
    return given


def can_go_on(model: Any) -> bool:
    """Whether there is a `partial_fit`; the reason, if not."""
    if getattr(model, "keep", "last") == "pocket":
        msg = (
            "keep='pocket' needs all the data at once, to count training errors: "
            "use fit, or another keep"
        )
        raise AttributeError(msg)
    return True


def counted(name: str, what: str) -> property:
    """A count of each fit as an attribute: one number, or an array for more than two classes."""

    def counts(model: Any) -> Any:
        values = model._view(name)
        return np.array(values) if isinstance(values, tuple) else values

    return property(counts, doc=f"{what} in training (an array for more than two classes).")


def reporter(
    callback: Callable[[Epoch], None] | None,
    bar: ProgressBar,
    planes: Callable[[Sequence[Any]], tuple[Hyperplane, ...]] = lambda problems: (),
) -> Callable[[int, Sequence[Any]], None] | None:
    """After each epoch: move the progress bar, tell the callback, with the hyperplanes if any."""
    if callback is None and not bar.shown:
        return None

    def report(number: int, problems: Sequence[Any]) -> None:
        bar.show(number, sum(p.mistakes[-1] for p in problems if p.stop is None))
        if callback is not None:
            mistakes = tuple(p.mistakes[-1] for p in problems)
            seconds = max(p.seconds[-1] for p in problems)
            callback(Epoch(number, mistakes, planes(problems), seconds))

    return report


def warn_of_errors(model: Any) -> None:
    """If `fit` stopped without having separated the data: how many errors, and what to do."""
    advice = [(fit, model._advice(fit)) for fit in model.fits_]
    unfinished = [(fit, text) for fit, text in advice if text is not None]
    if not model.n_errors_ or not unfinished:
        return
    longest, text = max(unfinished, key=lambda pair: pair[0].n_epochs)
    epochs = f"{model.n_iter_} epoch{'s' * (model.n_iter_ != 1)}"
    errors = f"{model.n_errors_} training error{'s' * (model.n_errors_ != 1)}"
    warnings.warn(
        f"{type(model).__name__} stopped after {epochs} with {errors} left: "
        f"{longest.stop_reason.value}. {text}",
        ConvergenceWarning,
        stacklevel=3,
    )
