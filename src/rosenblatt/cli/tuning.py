"""``fit --tune``: C, gamma or degree chosen by folds, in time, and what Ctrl-C leaves of it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sklearn.exceptions import ConvergenceWarning

from rosenblatt.cli.options import refuse
from rosenblatt.running.clock import Cancel, cancelled_by
from rosenblatt.validation.tuning import Tuned, chosen_parameter

if TYPE_CHECKING:
    from rosenblatt.cli.waiting import ProgressLine
    from rosenblatt.report.fits import EncodedTable

SHARE = 0.4  # of --max-time, for the choice


def tuned(classifier: Any, model: str, options: Mapping[str, Any]) -> Tuned:
    """The classifier as one that chooses when it is fitted."""
    parameter = chosen_parameter(classifier)
    kernel = options.get("kernel")
    what = f"--kernel {kernel}" if kernel else f"--model {model}"
    what += " with --sigma" if options.get("sigma") is not None else ""
    nothing = f"--tune has nothing to choose for {what}: it chooses --C of --model soft-margin"
    refuse(parameter is None, f"{nothing}, --gamma of --kernel rbf, --degree of --kernel poly")
    both = f"--tune chooses --{parameter}, which was given: leave one of them out"
    refuse(options.get(str(parameter)) is not None, both)
    return Tuned(classifier, options.get("seed") or 0)


def choose_by_all(
    asked: Tuned, training: EncodedTable, limit: float | None, progress: ProgressLine
) -> Any:
    """The classifier with the value that does best among all rows, not fitted yet.

    Of the `limit`, in seconds, a part is for this, and what is left is for its fit.
    """
    parameter = str(chosen_parameter(asked.classifier))
    progress.say(f"choosing {parameter}")
    began, cancel = time.perf_counter(), Cancel(None if limit is None else SHARE * limit)
    with cancelled_by(cancel), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = asked.choose(training.X, training.y, training.group_of, cancel)
    if limit is not None:
        model.set_params(max_time=max(limit - (time.perf_counter() - began), limit / 10))
    return model
