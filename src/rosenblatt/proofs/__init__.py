"""Certificates tested again from the data alone: `check`. It trusts nobody.

How nearly a best hyperplane is the best, in plain floating point: `conditions`. What people call is
`rosenblatt.certify`, which takes tables, too.

Imports nothing but NumPy and the certificates themselves; no solver is involved. Exact
arithmetic on floats is in `rosenblatt.exact`.
"""

from rosenblatt.proofs.checking import check, exact_weights
from rosenblatt.proofs.optimum import conditions

__all__ = ["check", "conditions", "exact_weights"]
