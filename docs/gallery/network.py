"""XOR: no line does it, two hidden units do."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import rosenblatt as rb
from rosenblatt import boolean

network = boolean.two_level_network("x1 ^ x2")
table = boolean.parse("x1 ^ x2")

figure, (plane, diagram) = plt.subplots(
    1, 2, figsize=(11, 3.6), layout="constrained", width_ratios=(1, 2.3)
)
reach = np.array([-0.5, 1.5])
colours = ("#0072B2", "#E69F00")
for unit, name, at in zip(network.hidden, ("h1", "h2"), ((1, -0.27), (0, 1.27)), strict=True):
    # Halfway between the inputs where it fires and where not: w·x = k - 1/2.
    line = (unit.k - 0.5 - unit.w[0] * reach) / unit.w[1]
    end = 1.5 if unit.w[1] > 0 else -0.5
    plane.fill_between(reach, line, end, color=colours[1], alpha=0.16, linewidth=0)
    plane.plot(reach, line, color="#222222", linewidth=1.6)
    plane.text(*at, f"{name} fires", ha="center", va="center", fontsize=11, color="#222222")
for value, marker in enumerate("os"):
    points = table.inputs[table.values == value]
    plane.scatter(
        *points.T, s=110, marker=marker, color=colours[value], zorder=3, label=f"x1 ^ x2 = {value}"
    )
plane.set(xlim=(-0.5, 1.5), ylim=(-0.5, 1.5), xticks=(0, 1), yticks=(0, 1), aspect="equal")
plane.set_xlabel("x1")
plane.set_ylabel("x2", rotation=0)
plane.spines[["top", "right"]].set_visible(False)
plane.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, handletextpad=0.2)
rb.plot.network(network, ax=diagram)

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(figure, folder / "network.png", dpi=110)
