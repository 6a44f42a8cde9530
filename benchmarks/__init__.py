"""Benchmarks: one file per question, peers in the same run, ratios out.

Run one with ``python -m benchmarks.perceptron``. Real data sets are looked for in the folder that
the environment variable ROSENBLATT_DATA names; without it those cases are skipped with a note.
"""
