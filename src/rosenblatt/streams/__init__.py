"""Data of any size, as numbers on disk that every estimator takes in place of ``X, y``.

Begin with `opening`: it finds the columns of whatever is given, has an encoder describe them in one
scan, and writes their features, block by block, into a file (`cache`) that is then mapped into
memory. Uses `tables` and `data`; no solver knows of it.
"""
