"""Exact arithmetic on floats, which are rational numbers: signs, sums, linear systems.

The lowest layer: hyperplanes know their exact sides by it, certificates are checked with it.
"""

from rosenblatt.exact.enclosure import enclose
from rosenblatt.exact.lengths import largest_square
from rosenblatt.exact.lifting import Solution, solve
from rosenblatt.exact.modular import independent_rows
from rosenblatt.exact.nullspace import null_basis
from rosenblatt.exact.roots import root_down, root_up
from rosenblatt.exact.sides import least, margin_of, signs
from rosenblatt.exact.values import settled, values

__all__ = [
    "Solution",
    "enclose",
    "independent_rows",
    "largest_square",
    "least",
    "margin_of",
    "null_basis",
    "root_down",
    "root_up",
    "settled",
    "signs",
    "solve",
    "values",
]
