"""Forged banknotes: the best hyperplane, what it costs, and the proof that none is better."""

import warnings
from pathlib import Path

import rosenblatt as rb

with rb.io.read_table(Path(__file__).with_name("banknotes.csv")) as table:
    columns = dict(table)
y = columns.pop("note").astype(str)
X = rb.TableEncoder().fit_transform(columns)

warnings.simplefilter("ignore", rb.NotSeparableWarning)  # what it says is printed below
widest = rb.MaxMarginClassifier().fit(X, y)
print(f"The maximum margin. Why it stopped: {widest.stop_reason_.value}.")
rows = ", ".join(str(row) for row in widest.certificate_.support)
print(f"Proof: the convex hulls of samples {rows} meet.\n")

print("      C   margin   slack  errors  support vectors")
path = rb.soft_margin_path(X, y, [1, 10, 100, 1000, 10_000])
for row in zip(path.Cs, path.margin, path.slack, path.errors, path.n_support, strict=True):
    print("{:7g} {:8.3f} {:7.1f} {:7} {:16}".format(*row))

model = rb.SoftMarginClassifier(C=1000).fit(X, y)
print(f"\nC = 1000. Why it stopped: {model.stop_reason_.value}.")
print(f"The check: {rb.certify.check(model.certificate_, X, y).why}.")
sides = model.sides(X, y)
print(f"Notes on the wrong side: {', '.join(str(row) for row in sides.wrong)}")
weights = ", ".join(f"{name} {w:+.2f}" for name, w in zip(columns, model.coef_[0], strict=True))
print(f"Weights: {weights}, bias {model.intercept_[0]:+.2f}")
