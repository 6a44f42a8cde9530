"""What there is to say about a fit, a check or a bound: facts first, words last.

Begin with `facts`: frozen values that a terminal, ``--json`` and a page show alike. `fits` takes
them from a fitted classifier and its table, `judging` finds out whether anything could have
separated its rows, `saved` reads them from a model file; `checks` has those of a table that was
checked. The words are made from facts alone, in `fit_report` (with `margin_report`),
`check_report`, `bound_report` and `sentences`; `terminal` lays them out. `contributions` takes the
decision values of linear models apart by columns, `units` has weights per unit of the table.
`page` makes a page of facts, with pictures.
`comparison` has the facts about kinds of models on the same folds, `comparison_report` the words.
`evaluation`, `probabilities` and `cross_validation` have what answers are worth where the class is
known. `summary` is for Python: ``rosenblatt.report(model, X, y)``, with what `given` makes of
these.

Imports the rooms of the library, `tables` and `files`; the command is above it.

The room and the function have one name, so the room itself can be called.
"""

import sys
from types import ModuleType
from typing import Any


class _Room(ModuleType):
    """The room, which is also the function that it is about."""

    def __call__(self, *given: Any, **options: Any) -> Any:
        from rosenblatt.report.summary import report

        return report(*given, **options)


sys.modules[__name__].__class__ = _Room
