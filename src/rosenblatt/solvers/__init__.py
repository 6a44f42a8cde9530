"""Solvers: they drive the loops over a source, and know when to stop."""
