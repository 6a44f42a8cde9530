"""Exact arithmetic on floats, which are rational numbers: the tools of certificates."""

from rosenblatt.certify.enclosure import enclose
from rosenblatt.certify.lifting import Solution, solve
from rosenblatt.certify.modular import independent_rows
from rosenblatt.certify.nullspace import null_basis
from rosenblatt.certify.signs import margin_of, signs

__all__ = [
    "Solution",
    "enclose",
    "independent_rows",
    "margin_of",
    "null_basis",
    "signs",
    "solve",
]
