"""Kinds of models on the same folds of a third of the banknotes, and which of them to take."""

import sys
from pathlib import Path

import numpy as np

import rosenblatt as rb

notes = Path(__file__).parents[2] / "examples" / "banknotes.csv"
table = np.genfromtxt(notes, delimiter=",", skip_header=1, dtype=str)[1::3]
found = rb.compare(table[:, :-1].astype(float), table[:, -1], cv=5, repeats=1)
ax = rb.plot.scores(
    {kind.name: kind.scores for kind in found.kinds if kind.name != "majority"},
    baseline=found.by_name["majority"].accuracy,
    baseline_name=f"always {found.majority_class}",
    alike=found.alike,
    chosen=found.preferred,
)

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(ax, folder / "scores.png", dpi=90)
