"""Certificates tested again from the data alone: `check`. It trusts nobody.

How nearly a best hyperplane is the best, in plain floating point: `conditions`.

Imports nothing but NumPy and the certificates themselves; no solver is involved. Exact
arithmetic on floats is in `rosenblatt.exact`.
"""

from rosenblatt.certify.checking import check, exact_weights
from rosenblatt.certify.optimum import conditions
from rosenblatt.results import CheckResult, Conditions

__all__ = ["CheckResult", "Conditions", "check", "conditions", "exact_weights"]
