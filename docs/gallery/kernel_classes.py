"""Three kinds of penguins by their bills: curved regions."""

import csv
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np

import rosenblatt as rb

lines = (files("rosenblatt") / "cli" / "data" / "penguins.csv").read_text().splitlines()
birds = [bird for bird in csv.DictReader(lines) if bird["bill_length_mm"] not in ("", "NA")]
X = np.array([[float(bird[f"bill_{side}_mm"]) for side in ("length", "depth")] for bird in birds])
y = np.array([bird["species"] for bird in birds])
model = rb.KernelPerceptron(kernel="gaussian", sigma=4, keep="pocket", drop_after=20)
model.fit(X, y)
ax = rb.plot.decision(model, X, y, feature_names=["bill length (mm)", "bill depth (mm)"])

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(ax, folder / "kernel_classes.png", dpi=110)
