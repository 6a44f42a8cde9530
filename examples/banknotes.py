"""Forged banknotes: what a perceptron finds, and why it stopped."""

import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb

table = np.loadtxt(Path(__file__).with_name("banknotes.csv"), delimiter=",")
X, y = table[:, :-1], np.where(table[:, -1] == 1, "forged", "genuine")

warnings.simplefilter("ignore", ConvergenceWarning)  # the stop reason is printed below
print(f"{len(X)} banknotes, {X.shape[1]} features\n")
for keep in ("last", "pocket", "average"):
    model = rb.Perceptron(keep=keep, max_epochs=200).fit(X, y)
    print(f"keep={keep!r}: {model.n_errors_} errors left, {model.n_mistakes_} mistakes on the way")
print(f"\nWhy it stopped: {model.stop_reason_.value}.")

weights = ", ".join(f"{w:.2f}" for w in model.coef_[0])
print(f"Average hyperplane: w = ({weights}), b = {model.intercept_[0]:.2f}")
