"""The boolean laboratory: threshold units, which functions they compute, and networks of them.

A boolean function is given as an expression such as ``"x1 & (x2 | ~x3)"``, as a text of 0 and 1
such as ``"0110"``, as an array of its 2ⁿ values, or as a `TruthTable`. Begin with `units`.
"""

from __future__ import annotations

from rosenblatt.boolean.dichotomies import count_dichotomies, count_threshold_functions, shatters
from rosenblatt.boolean.networks import Network, two_level_network
from rosenblatt.boolean.truth_tables import TruthTable, parse, truth_table
from rosenblatt.boolean.units import Unit, and_unit, is_threshold, not_unit, or_unit, threshold_unit

__all__ = [
    "Network",
    "TruthTable",
    "Unit",
    "and_unit",
    "count_dichotomies",
    "count_threshold_functions",
    "is_threshold",
    "not_unit",
    "or_unit",
    "parse",
    "shatters",
    "threshold_unit",
    "truth_table",
    "two_level_network",
]
