"""Certificates tested again from the data alone: `check`. It trusts nobody.

Imports nothing but NumPy and the certificates themselves; no solver is involved. Exact
arithmetic on floats, for whoever needs it, is in `rosenblatt.certify.exact`.
"""

from rosenblatt.certificates import CheckResult
from rosenblatt.certify.checking import check, exact_weights

__all__ = ["CheckResult", "check", "exact_weights"]
