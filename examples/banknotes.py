"""Forged banknotes: what a perceptron finds, and why it stopped."""

import warnings
from pathlib import Path

from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

import rosenblatt as rb

with rb.io.read_table(Path(__file__).with_name("banknotes.csv")) as table:
    columns = dict(table)
y = columns.pop("note").astype(str)

warnings.simplefilter("ignore", ConvergenceWarning)  # the stop reason is printed below
print(f"{len(y)} banknotes, {len(columns)} features\n")
for keep in ("last", "pocket", "average"):
    pipeline = make_pipeline(rb.TableEncoder(), rb.Perceptron(keep=keep, max_epochs=200))
    model = pipeline.fit(columns, y)[-1]
    print(f"keep={keep!r}: {model.n_errors_} errors left, {model.n_mistakes_} mistakes on the way")
print(f"\nWhy it stopped: {model.stop_reason_.value}.")

weights = ", ".join(f"{w:.2f}" for w in model.coef_[0])
print(f"Average hyperplane: w = ({weights}), b = {model.intercept_[0]:.2f}")
