"""Data and settings -> a recorded run: everything that the page shows of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rosenblatt.playground import answers, entries
from rosenblatt.playground.estimators import most_epochs, recipe
from rosenblatt.playground.kernel_runs import kernel_courses, kernel_used
from rosenblatt.playground.linear_runs import linear_courses
from rosenblatt.playground.other_runs import delta_courses, margin_courses
from rosenblatt.playground.views import seen
from rosenblatt.playground.working import without_warnings
from rosenblatt.visible import count, grouped

if TYPE_CHECKING:
    from rosenblatt.playground.samples import Samples
    from rosenblatt.playground.schemas import Settings

SECONDS = 5.0  # for training; a run that takes longer says so as its stop reason
UNITS = {"Adaline": "epoch", "MaxMarginClassifier": "scan", "SoftMarginClassifier": "scan"}


def fitted(samples: Samples, settings: Settings, seconds: float) -> tuple[Any, list[Any]]:
    """The estimator after its fit, and what it told on the way."""
    chosen, heard = recipe(settings, samples), [None][:0]
    kernel = chosen.name == "KernelPerceptron"
    if kernel and samples.along:
        msg = "a kernel perceptron has no w to look along: choose two features of the table"
        raise ValueError(msg)
    more: dict[str, Any] = {"max_time": seconds, "n_jobs": 1}
    more |= {"record": True} if chosen.name.endswith("Perceptron") else {"callback": heard.append}
    model = chosen.make(**more)
    with without_warnings():  # the run says why it stopped
        model.fit(samples.X, samples.y)
    return model, heard


def run(
    samples: Samples,
    settings: Settings,
    extent: entries.Extent = entries.Extent(),  # noqa: B008, as it cannot change
    seconds: float = SECONDS,
) -> answers.Run:
    """Train, and tell all of it."""
    model, heard = fitted(samples, settings, seconds)
    name = type(model).__name__
    sight, view = seen(samples, model)
    if name == "KernelPerceptron":
        courses, notes, (shown, total) = kernel_courses(model, samples, extent)
    elif name == "Perceptron":
        courses, notes, (shown, total) = linear_courses(model, samples, sight, extent)
    elif name == "Adaline":
        courses, notes, (shown, total) = delta_courses(model, samples, sight, heard)
    else:
        courses, notes, (shown, total) = margin_courses(model, samples, sight, heard)
    unit: Any = UNITS.get(name, "update")
    return answers.Run(
        algorithm=settings.algorithm,
        unit=unit,
        joint=name == "Perceptron" and hasattr(model.fits_[0], "hyperplanes"),
        classes=samples.classes,
        courses=courses,
        errors=int(model.n_errors_),
        eta=float(getattr(model, "eta_", None) or getattr(model, "eta0", 0) or 0) or None,
        kernel=kernel_used(model) if name == "KernelPerceptron" else None,
        thinned=entries.told(shown, total, extent.around, unit),
        view=view,
        notes=notes + _cut_short(samples, settings),
    )


def _cut_short(samples: Samples, settings: Settings) -> list[str]:
    """What to say where fewer epochs are run than were asked for."""
    most = most_epochs(samples)
    if getattr(settings, "max_epochs", 0) <= most:
        return []
    rows, epochs = count(samples.n, "point"), grouped(most)
    return [f"Of {rows} {epochs} epochs at most are run, so that every update can be kept."]
