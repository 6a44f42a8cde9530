"""Two runs that never end: a sample between two others, and exclusive or."""

import sys
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import rosenblatt as rb

warnings.simplefilter("ignore")  # these runs end with errors left
between = np.array([[-1.0], [0.0], [1.0]]), np.array([-1, 1, -1])
figure, axes = plt.subplots(1, 2, figsize=(11, 5.4), layout="constrained")
for ax, (X, y) in zip(axes, (between, rb.datasets.xor()), strict=True):
    rb.plot.cycle(rb.Perceptron(record=True).fit(X, y), X, y, ax=ax)

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(figure, folder / "cycle.png", dpi=110)
