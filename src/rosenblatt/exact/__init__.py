"""Exact arithmetic on floats, which are rational numbers: signs, sums, linear systems.

The lowest layer: hyperplanes know their exact sides by it, certificates are checked with it.
Begin with `rationals` (floats as integers, and floats near rational numbers), `blocks` (rows, a
few at a time), `passes` (all of them, maybe side by side) and `sides` (signs that are right);
`systems` solves in rational numbers, `enclosure` and `dot_products` prove in floats.
"""

from rosenblatt.exact.dot_products import largest_square
from rosenblatt.exact.enclosure import enclose
from rosenblatt.exact.rationals import root_down, root_near, root_up
from rosenblatt.exact.sides import margin_of, settled, signs, smallest, values
from rosenblatt.exact.systems import Solution, independent_rows, null_basis, solve, spanning_rows

__all__ = [
    "Solution",
    "enclose",
    "independent_rows",
    "largest_square",
    "margin_of",
    "null_basis",
    "root_down",
    "root_near",
    "root_up",
    "settled",
    "signs",
    "smallest",
    "solve",
    "spanning_rows",
    "values",
]
