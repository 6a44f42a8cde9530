"""Models and certificates as files.

`models` writes and reads estimators without pickle, `certificates` proofs as JSON, `whole` writes
any file whole or not at all.
"""
