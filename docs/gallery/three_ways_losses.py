"""Three ways around the zero-one loss: perceptron, logistic, hinge."""

import sys
from pathlib import Path

import rosenblatt as rb

ax = rb.plot.losses(names=("zero_one", "perceptron", "logistic", "hinge"))

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(ax, folder / "three_ways_losses.png", dpi=110)
